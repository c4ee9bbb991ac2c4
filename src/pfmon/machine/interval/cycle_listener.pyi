class CycleListener:
    """Listener for every cycle of an out-of-order machine."""

    following: CycleListener | None
