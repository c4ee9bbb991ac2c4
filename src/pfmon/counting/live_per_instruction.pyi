from pfmon.counting.live_counting import LiveCounting

class LivePerInstruction(LiveCounting):
    """A countdown that counts each instruction with its events."""
