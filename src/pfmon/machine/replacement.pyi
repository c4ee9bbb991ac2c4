class ReplacementPolicy:
    """Chooses the victim of a full set of ``ways`` lines."""

    def __init__(self, sets: int, ways: int) -> None: ...
