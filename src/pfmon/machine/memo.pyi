class Memo:
    """What blocks did before."""

    flushes: int
    def sizes(self) -> tuple[int, int]: ...
