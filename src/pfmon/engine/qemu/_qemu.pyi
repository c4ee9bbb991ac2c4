"""Types of pfmon.engine.qemu._qemu, by file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Self, final

from typing_extensions import disjoint_base

from pfmon.program.guest_functions import GuestFunction
from pfmon.program.mapped_files import MappedFile
from pfmon.stream._stream import BlockTable, Consumer

# ../../isa/ppc/ppc_operands.pxd

class Use(IntEnum):
    """Used fields of an instruction."""

    WRITE_RT = 1 << 0
    WRITE_RA = 1 << 1
    WRITE_FT = 1 << 2
    WRITE_RT_ON = 1 << 3
    WRITE_BF = 1 << 4
    WRITE_FXM = 1 << 5
    WRITE_SPR = 1 << 6
    WRITE_CA = 1 << 7
    WRITE_CR0 = 1 << 8
    WRITE_LR = 1 << 9
    RECORD = 1 << 10
    RECORD_1 = 1 << 11
    READ_RT = 1 << 12
    READ_RA = 1 << 13
    READ_RA0 = 1 << 14
    READ_RB = 1 << 15
    READ_FT = 1 << 16
    READ_FA = 1 << 17
    READ_FB = 1 << 18
    READ_FC = 1 << 19
    READ_RT_ON = 1 << 20
    READ_BC = 1 << 21
    READ_BITS = 1 << 22
    READ_CR = 1 << 23
    READ_SPR = 1 << 24
    READ_CA = 1 << 25
    READ_BO = 1 << 26
    READ_LR = 1 << 27
    READ_CTR = 1 << 28
    ADDRESS_RA0 = 1 << 29
    ADDRESS_RB = 1 << 30

# ../../isa/ppc/ppc_operands.pyx

def registers_used(word: int, uses: int) -> tuple[int, int, int]: ...

# describe/block_describer.pxd

class MnemonicRule(IntEnum):
    NO_RULE = 0
    NO_ACCESSES = 1
    EXCHANGES = 2
    JUMPS = 3
    CONDITIONAL = 4
    FETCHES = 5

# describe/block_describer.pyx

_InstructionFacts = tuple[int, int, int, int, int, int]

@disjoint_base
class Describer:
    """Enters announced blocks into a table."""

    table: BlockTable
    functions: list[GuestFunction]
    on_mapped: Callable[[], None] | None

    def __new__(
        cls,
        table: BlockTable,
        path: str,
        facts: Callable[[str], _InstructionFacts],
        registers: Callable[[str], int],
        architecture: int,
        mode: int,
    ) -> Self: ...
    def files(self) -> list[MappedFile]: ...
    def names(self, symbol: bytes, most: int) -> list[str]: ...
    def index_mnemonics(self, facts: Callable[[str], _InstructionFacts]) -> None: ...
    def index_registers(self, registers: Callable[[str], int]) -> None: ...
    def keep_file(self) -> None: ...
    def keep_function(self) -> None: ...
    def begin_as(self, parent: BlockTable) -> None: ...

# describe/ppc_describer.pxd

class PpcRule(IntEnum):
    MNEMONIC_SIZE = 0
    WORDS = 1
    BYTES = 2
    SOME = 3
    LINE = 4

# describe/ppc_describer.pyx

@final
class PpcDescriber(Describer):
    """Describes PowerPC instructions."""

    def set_undecoded(self, rows: Iterable[tuple[int, int, tuple[int, int, int, int, int, int]]]) -> None: ...
    def set_forms(self, extensions: Mapping[int, tuple[int, int]], rows: Iterable[tuple[int, int, int]]) -> None: ...

# describe/x86_describer.pxd

class X86Rule(IntEnum):
    READS_DESTINATION = 1
    WRITES_FIRST = 2
    CLEARS_MASK = 4
    KEEPS_VECTORS = 8
    SHIFTS = 16
    REPEATS = 32
    KEEPS_LENGTH = 64
    WRITES_NOTHING = 128

# describe/x86_describer.pyx

@final
class X86Describer(Describer):
    """Describes x86 instructions."""

    def set_registers(
        self,
        registers: Mapping[str, tuple[int, int, int]],
        forms: Callable[[str], int],
        stack: Sequence[int],
    ) -> None: ...
    def registers_of(self, code: bytes) -> tuple[int, int, int, int]: ...

# reader/announcements.pxd

class Announced(IntEnum):
    NOTHING_NEW = 0
    A_BLOCK = 1
    A_FILE = 2
    A_PATH = 3
    DAMAGED = 4
    NO_ROOM = 5
    A_FUNCTION = 6

# reader/announcements.pyx

@final
class Announcements:
    """The announcements of one area, in order."""

# reader/in_line_words.pyx

@final
class InLineWords:
    """The words of one guest whose translated code writes them in line."""

    def __new__(cls, describer: Describer, traced: bool) -> Self: ...

# reader/plugin_reader.pyx

def max_area_bytes(share: int) -> int: ...

_Answer = tuple[int, int, Sequence[tuple[int, int]], bool, bytes]
"""Result, the number of instructions at which to ask again, notices, whether there are more, data."""

@final
class PluginReader:
    """Reads one guest's stream."""

    on_request: Callable[[int, tuple[int, ...], int, bytes], _Answer] | None
    ring_file: int
    area_file: int
    area_bytes: int
    damaged: bool
    ip: int
    task: int
    forks: int

    def __new__(
        cls,
        describer: Describer,
        traced: bool = False,
        totals: bool = False,
        area_bytes: int = ...,
        in_line: bool = False,
    ) -> Self: ...
    @property
    def retired(self) -> int: ...
    @property
    def is_read(self) -> bool: ...
    @property
    def executing(self) -> int: ...
    @property
    def waits_for_reader(self) -> bool: ...
    @property
    def has_begun(self) -> bool: ...
    def hand_over(self, other: PluginReader, python: tuple[int, int, int]) -> None: ...
    @property
    def executed(self) -> bytes: ...
    @property
    def exit_status(self) -> int | None: ...
    @property
    def killed_by(self) -> int: ...
    @property
    def files(self) -> list[MappedFile]: ...
    @property
    def functions(self) -> list[GuestFunction]: ...
    def close_files(self) -> None: ...
    @property
    def killed_by(self) -> int: ...
    @property
    def trouble(self) -> int: ...
    @property
    def outside(self) -> bool: ...
    @property
    def processor_results(self) -> int: ...
    @property
    def message(self) -> bytes: ...
    def request_stop(self) -> None: ...
    def guest_died(self) -> None: ...
    def read(self, consumer: Consumer) -> None: ...
    def finish(self, consumer: Consumer, faulted: bool, signal: int, status: int | None) -> None: ...
