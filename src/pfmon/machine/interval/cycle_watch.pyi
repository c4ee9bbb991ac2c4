class CycleWatch:
    """Looks at every cycle of an out-of-order machine."""

    following: CycleWatch | None
