"""The Python side of failure.pxd."""
