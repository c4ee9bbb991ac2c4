"""The enumerations of words.pxd, for Python."""
