from collections.abc import Sequence

from pfmon.stream.consumer import Consumer

class Splitter(Consumer):
    """Ends parts of a stream exactly where triggers, times and switches want it."""

    @property
    def retired(self) -> int: ...
    def place(self, code: Sequence[int], data: Sequence[int]) -> None: ...
