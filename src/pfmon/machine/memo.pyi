class Memo:
    """Memoized effects of blocks."""

    flushes: int
    lost: bool
    max_states: int
    def sizes(self) -> tuple[int, int]: ...
