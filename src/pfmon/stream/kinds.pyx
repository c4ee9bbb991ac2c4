"""The enumeration of kinds.pxd, for Python."""
