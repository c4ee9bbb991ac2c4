from collections.abc import Callable
from enum import IntEnum

from pfmon.program.mapped import Mapped
from pfmon.stream.table import BlockTable

Facts = tuple[int, int, int, int, int, int]

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
    on_mapped: Callable[[], None] | None

    def __init__(
        self,
        table: BlockTable,
        path: str,
        facts: Callable[[str], Facts],
        registers: Callable[[str], int],
        architecture: int,
        mode: int,
    ) -> None: ...
    def files(self) -> list[Mapped]: ...
    def begin_as(self, parent: BlockTable) -> None: ...

class X86Describer(Describer):
    """Describes x86 instructions."""
