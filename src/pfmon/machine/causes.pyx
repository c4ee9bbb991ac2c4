"""The enumerations of causes.pxd, for Python."""
