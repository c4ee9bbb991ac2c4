"""The enumeration of ia64.pxd, for Python."""
