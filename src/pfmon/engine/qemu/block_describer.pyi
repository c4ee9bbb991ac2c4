from collections.abc import Callable
from enum import IntEnum

from pfmon.program.mapped_files import MappedFile
from pfmon.stream.block_table import BlockTable

InstructionFacts = tuple[int, int, int, int, int, int]

class MnemonicRule(IntEnum):
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
        facts: Callable[[str], InstructionFacts],
        registers: Callable[[str], int],
        architecture: int,
        mode: int,
    ) -> None: ...
    def files(self) -> list[MappedFile]: ...
    def begin_as(self, parent: BlockTable) -> None: ...

class X86Describer(Describer):
    """Describes x86 instructions."""
