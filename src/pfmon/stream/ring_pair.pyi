class RingPair:
    """Two rings that one writer fills in turn."""
