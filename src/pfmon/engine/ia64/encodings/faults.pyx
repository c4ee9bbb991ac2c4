"""The enumeration of faults.pxd, for Python."""
