"""The Python side of words.pxd."""
