"""The enumeration of ia64_kinds.pxd, for Python."""
