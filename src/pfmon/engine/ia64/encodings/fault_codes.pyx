"""The enumeration of fault_codes.pxd, for Python."""
