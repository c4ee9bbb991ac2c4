"""The enumerations of stream_words.pxd, for Python."""
