from collections.abc import Sequence

from pfmon.stream.block_table import BlockTable
from pfmon.stream.consumer import Consumer
from pfmon.stream.ring import Ring

class ThreadDemux(Consumer):
    """Distributes the threads of a program to two hardware threads."""

    retired: int
    def __init__(
        self, table: BlockTable, readers: Sequence[Consumer], rings: Sequence[Ring], *, traced: bool
    ) -> None: ...
    def turns_on(self, half: int) -> list[tuple[int, int]]: ...
    def retired_on(self, half: int) -> int: ...
