from collections.abc import Callable
from enum import IntEnum

from pfmon.stream.table import BlockTable

class Rule(IntEnum):
    NO_RULE = 0
    NO_ACCESSES = 1
    EXCHANGES = 2
    JUMPS = 3
    CONDITIONAL = 4
    FETCHES = 5

class Describer:
    """Enters announced blocks into a table."""

    table: BlockTable

    def __init__(
        self,
        table: BlockTable,
        path: str,
        facts: Callable[[str], tuple[int, int, int, int, int]],
        registers: Callable[[str], int],
        is_64: bool,
    ) -> None: ...
    def begin_as(self, parent: BlockTable) -> None: ...
