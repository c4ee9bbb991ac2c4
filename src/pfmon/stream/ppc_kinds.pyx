"""The enumeration of ppc_kinds.pxd, for Python."""
