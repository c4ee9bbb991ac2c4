"""The enumerations of choices.pxd, for Python."""
