from collections.abc import Sequence

from pfmon.stream.consumer import Consumer

class Splitter(Consumer):
    """Splits a stream exactly at triggers, times and switches."""

    @property
    def retired(self) -> int: ...
    def place(self, code: Sequence[int], data: Sequence[int]) -> None: ...
