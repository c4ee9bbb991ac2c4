class ThreadEvictions:
    """Evictions of a hardware thread's lines by the other."""

    lost: bool
    def misses(self, thread: int) -> int: ...
