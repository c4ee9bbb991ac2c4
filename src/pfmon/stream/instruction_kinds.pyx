"""The enumeration of instruction_kinds.pxd, for Python."""
