class Memo:
    """What blocks did before."""

    flushes: int
    lost: bool
    most_states: int
    def sizes(self) -> tuple[int, int]: ...
