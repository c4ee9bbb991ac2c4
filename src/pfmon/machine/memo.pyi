class Memo:
    """Memoized effects of blocks."""

    flushes: int
    lost: bool
    most_states: int
    def sizes(self) -> tuple[int, int]: ...
