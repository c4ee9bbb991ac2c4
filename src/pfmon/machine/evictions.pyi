class Evictions:
    """What two hardware threads replace of each other's."""

    lost: bool
    def misses(self, thread: int) -> int: ...
