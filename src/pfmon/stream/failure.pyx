"""The enumeration of failure.pxd, for Python."""
