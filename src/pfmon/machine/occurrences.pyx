"""The enumeration of occurrences.pxd, for Python."""
