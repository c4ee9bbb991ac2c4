class CycleWatch:
    """Listener for every cycle of an out-of-order machine."""

    following: CycleWatch | None
