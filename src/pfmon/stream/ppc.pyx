"""The enumeration of ppc.pxd, for Python."""
