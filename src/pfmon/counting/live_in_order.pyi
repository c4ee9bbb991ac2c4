from pfmon.counting.live import Live

class LiveInOrder(Live):
    """A countdown that counts each instruction with its events."""
