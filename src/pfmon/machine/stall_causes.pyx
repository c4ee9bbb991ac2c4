"""The enumerations of stall_causes.pxd, for Python."""
