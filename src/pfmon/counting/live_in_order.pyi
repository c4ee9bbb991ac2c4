from pfmon.counting.live import Live

class LiveInOrder(Live):
    """A countdown in which each instruction counts with what happened to it."""
