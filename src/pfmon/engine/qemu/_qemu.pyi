"""Types of pfmon.engine.qemu._qemu, by file."""

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum, IntFlag

from pfmon.program.mapped_files import MappedFile
from pfmon.stream._stream import BlockTable, Consumer

# block_describer.pyx

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

# plugin_reader.pyx

def area_bytes_that_fit(share: int) -> int: ...

class PluginReader:
    """Reads one guest's stream."""

    ring_file: int
    area_file: int
    area_bytes: int
    damaged: bool
    ip: int
    task: int
    forks: int

    def __init__(
        self, describer: Describer, traced: bool = False, totals: bool = False, area_bytes: int = ...
    ) -> None: ...
    @property
    def retired(self) -> int: ...
    @property
    def executing(self) -> int: ...
    @property
    def executed(self) -> bytes: ...
    @property
    def exit_status(self) -> int | None: ...
    @property
    def files(self) -> list[MappedFile]: ...
    def close_files(self) -> None: ...
    @property
    def trouble(self) -> int: ...
    @property
    def message(self) -> bytes: ...
    def request_stop(self) -> None: ...
    def guest_died(self) -> None: ...
    def read(self, consumer: Consumer) -> None: ...
    def finish(self, consumer: Consumer, faulted: bool, signal: int, status: int | None) -> None: ...

# ppc_describer.pyx

class PpcRule(IntEnum):
    MNEMONIC_SIZE = 0
    WORDS = 1
    BYTES = 2
    SOME = 3
    LINE = 4

class PpcDescriber(Describer):
    """Describes PowerPC instructions."""

    def take_undecoded(self, rows: Iterable[tuple[int, int, tuple[int, int, int, int, int, int]]]) -> None: ...
    def take_forms(self, extensions: Mapping[int, tuple[int, int]], rows: Iterable[tuple[int, int, int]]) -> None: ...

# ppc_operands.pyx

class Use(IntFlag):
    """Used fields of an instruction; members: ppc_operands.pxd."""

    RECORD = 1 << 10
    RECORD_1 = 1 << 11
    ADDRESS_RA0 = 1 << 29
    ADDRESS_RB = 1 << 30

def registers_used(word: int, uses: int) -> tuple[int, int, int]: ...
