"""The enumerations of attributes.pxd, for Python."""
