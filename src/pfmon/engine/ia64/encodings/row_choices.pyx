"""The enumerations of row_choices.pxd, for Python."""
