"""Types of pfmon.stream._stream, by file."""

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from types import TracebackType
from typing import Protocol, Self, final, type_check_only

from typing_extensions import disjoint_base

from pfmon.stream.recording.block_records import BlockRecord

# ../isa/common/instruction_kinds.pxd

class Kind(IntEnum):
    NOP = 1 << 0
    LOAD = 1 << 1
    STORE = 1 << 2
    ATOMIC = 1 << 3
    PREFETCH = 1 << 4
    FLOAT = 1 << 5
    FP_OPERATION = 1 << 6
    BRANCH = 1 << 7
    RELATIVE = 1 << 8
    RETURN = 1 << 9
    CALL = 1 << 10
    INDIRECT = 1 << 11
    SYSTEM = 1 << 12
    PRIVILEGED = 1 << 13
    SERIALIZE = 1 << 14

# ../isa/ia64/ia64_kinds.pxd

class Ia64Kind(IntEnum):
    LOOP = 1 << 0
    SPECULATIVE = 1 << 1
    ADVANCED = 1 << 2
    LOAD_CHECK = 1 << 3
    CHECK_ALAT = 1 << 4
    CHECK_NAT = 1 << 5
    CHECK_FLAGS = 1 << 6
    SPILL_FILL = 1 << 7
    ALLOC = 1 << 8
    EPC = 1 << 9
    PREFETCH_HINT = 1 << 10
    RSE_EVENT = 1 << 11
    SLOT_B = 1 << 12
    STOP = 1 << 16
    MULTIWAY = 1 << 17
    PREDICATED = 1 << 18
    FP_OPS_1 = 1 << 19
    FP_OPS_2 = 1 << 20
    FP_OPS_4 = 1 << 21
    SLOT_1 = 1 << 22
    SLOT_2 = 1 << 23

# ../isa/ppc/ppc_kinds.pxd

class PpcKind(IntEnum):
    RESERVES = 1 << 13
    FLUSHES = 1 << 14
    CACHE = 1 << 15
    INTEGER = 1 << 24
    SYNC = 1 << 25
    EIEIO = 1 << 26
    ICBI = 1 << 27
    MULTIPLE_CYCLE = 1 << 28
    MFSPR = 1 << 29
    MTSPR = 1 << 30

# ../isa/x86/x86_kinds.pxd

class X86Kind(IntEnum):
    FP_ADDS = 1 << 0
    FP_MULTIPLIES = 1 << 1
    DIVIDES = 1 << 2
    APART = 1 << 7
    FLUSHES_LINE = 1 << 8
    READS_CLOCK = 1 << 9
    VECTOR = 1 << 10
    MMX = 1 << 11
    CONDITIONAL = 1 << 13
    PAUSE = 1 << 14
    PREFETCH_FAR = 1 << 15
    PREFETCH_OTHER = 1 << 24
    FP_ARITH = 1 << 25
    FP_TWICE = 1 << 26
    FP_DOUBLE = 1 << 27
    FP_PACKED = 1 << 28
    WIDE_256 = 1 << 29
    WIDE_512 = 1 << 30
    BYPASSES_CACHES = 1 << 30

# ../isa/x86/x86_operands.pxd

class OperandForm(IntEnum):
    FORM_NONE = 0
    FORM_IMMEDIATE = 1
    FORM_R8 = 2
    FORM_R8_HIGH = 3
    FORM_R16 = 4
    FORM_R32 = 5
    FORM_R64 = 6
    FORM_XMM = 7
    FORM_YMM = 8
    FORM_ZMM = 9
    FORM_MM = 10
    FORM_ST = 11
    FORM_OPMASK = 12
    FORM_M8 = 13
    FORM_M16 = 14
    FORM_M32 = 15
    FORM_M64 = 16
    FORM_M80 = 17
    FORM_M128 = 18
    FORM_M256 = 19
    FORM_M512 = 20
    FORM_M_OTHER = 21
    FORM_SYSTEM = 22
    FORM_OTHER = 23

class FormBit(IntEnum):
    FORM_OPERANDS = 12
    FORM_SAME = 42
    FORM_OWN_SOURCE = 43
    FORM_REPEATED = 44
    FORM_LOCKED = 46
    FORM_BASE = 47
    FORM_INDEX = 48
    FORM_DISPLACED = 49
    FORM_RIP_RELATIVE = 50
    FORM_SCALED = 51
    FORM_FAR = 52
    FORM_LENGTH_CHANGED = 53
    FORM_BY_CL = 54
    FORM_VEX = 55
    FORM_POPS = 56
    FORM_BY_ONE = 57

# block_table.pxd

class InstructionSet(IntEnum):
    IA64 = 1
    X86_64 = 2
    I386 = 3
    PPC64 = 4
    PPC = 5
    PPC64LE = 6

class Cut(IntEnum):
    WHOLE = 0
    FAILED_CHECK = 1
    FAULTED = 2
    EDGE = 3
    PART = 4

class AccessKind(IntEnum):
    NO_ACCESS = 0
    READ = 1
    WRITE = 2
    READ_WRITE = 3
    FETCH_LINE = 4

class BranchKind(IntEnum):
    NO_BRANCH = 0
    DIRECT = 1
    INDIRECT_JUMP = 2
    DIRECT_CALL = 3
    INDIRECT_CALL = 4
    RETURN_BRANCH = 5

# block_table.pyx

@final
class BlockTable:
    """Descriptions of blocks in memory that several threads and processes can share."""

    descriptor: int
    whole_system: bool
    instruction_names: list[str] | None

    def __new__(
        cls,
        instruction_set: int = ...,
        payload_bytes: int = 0,
        *,
        capacity: int = ...,
        share: int = ...,
        attach: int | None = None,
    ) -> Self: ...
    def __len__(self) -> int: ...
    @property
    def instruction_set(self) -> InstructionSet: ...
    @property
    def payload_bytes(self) -> int: ...
    @property
    def failure(self) -> Failure: ...
    def block(self, number: int) -> BlockRecord: ...
    def numbers(self) -> list[int]: ...
    def enter(self, record: BlockRecord, bank: int = 0) -> int: ...

# consumer.pxd

class Failure(IntEnum):
    NO_FAILURE = 0
    OUT_OF_MEMORY = 1
    TOO_MANY_BLOCKS = 2
    TOO_MANY_MARKS = 3
    TOO_MANY_OCCURRENCES = 4
    TOO_MANY_WORDS = 5
    BAD_STREAM = 6
    CANNOT_WRITE = 7
    TOO_MANY_ENTRIES = 8
    BLOCK_TOO_LONG = 9
    TOO_MANY_REGIONS = 10

# consumer.pyx

@disjoint_base
class Consumer:
    """A reader of the stream; the base class takes the words and does nothing."""

    @property
    def failure(self) -> Failure: ...

class EventSetConsumer(Consumer):
    """A reader that records separately for each event set."""

class RunCounter(Consumer):
    """A reader that accepts how often blocks ran instead of the stream."""

@final
class Tee(Consumer):
    """Passes the stream to two readers."""

    def __new__(cls, first: Consumer, second: Consumer) -> Self: ...

# path_table.pyx

@final
class PathTable:
    """Paths that a writer of a stream has named."""

# progress_probe.pyx

@final
class ProgressProbe(Consumer):
    """Passes the stream on to a reader, and calls a probe between two buffers."""

    error: Exception | None

    def __new__(cls, reader: Consumer, look: Callable[[], object]) -> Self: ...
    def request_snapshot(self) -> None: ...

# recording/recorder.pyx

@final
class Recorder(Consumer):
    """Records the words of a stream."""

    def __new__(cls) -> Self: ...
    def load(self, words: Iterable[int]) -> None: ...
    def words(self) -> list[int]: ...
    def replay(self, consumer: Consumer) -> None: ...

# recording/stream_codec.pyx

@final
class Encoder(Consumer):
    """Writes the stream as chunks of bytes; ``reader`` gets it too, without its addresses."""

    def __new__(
        cls,
        table: BlockTable,
        traced: bool,
        on_chunk: Callable[[bytes, bytes], None],
        reader: Consumer | None = None,
    ) -> Self: ...
    words: int
    error: BaseException | None

    def finish(self) -> None: ...

@final
class Decoder:
    """Decodes chunks into a stream for a consumer."""

    def __new__(cls, table: BlockTable, traced: bool, addresses: bool) -> Self: ...
    words: int

    def decode(self, chunk: bytes, consumer: Consumer) -> None: ...

def blocks_from(table: BlockTable, first: int) -> bytes: ...
def enter_blocks(table: BlockTable, data: bytes) -> None: ...

@final
class Sites: ...

# ring/ring.pyx

@type_check_only
class HasJoin(Protocol):
    """A thread or process to join when a ring has been read."""

    def join(self) -> None: ...

@final
class Ring:
    """Buffers in memory that two threads or two processes share."""

    descriptor: int | None

    def __new__(cls, attach: int | None = None) -> Self: ...
    @property
    def failure(self) -> Failure: ...
    def close_descriptor(self) -> None: ...
    def read_into(self, consumer: Consumer) -> None: ...
    def finish(self) -> None: ...
    def drain(self) -> None: ...
    def join_pair(self, pair: RingPair, number: int) -> None: ...

@final
class RingWriter(Consumer):
    """The writer's side of a ring."""

    def __new__(cls, ring: Ring) -> Self: ...

@final
class Pipe(Consumer):
    """Feeds ``reader`` in a thread of its own, and ``beside`` in the engine's."""

    def __new__(
        cls,
        reader: Consumer,
        beside: Consumer | None = None,
        threaded: bool = True,
        read: Callable[[Ring, Consumer], HasJoin] | None = None,
        second: SecondThread | None = None,
    ) -> Self: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def finish(self) -> None: ...
    def drain(self) -> None: ...

@final
class Reading:
    """A thread that reads a ring. The module threading is not loaded for it: every run has one."""

    def __new__(cls, ring: Ring, reader: Consumer) -> Self: ...
    def read(self, ring: Ring, reader: Consumer) -> None: ...
    def join(self) -> None: ...

# ring/ring_pair.pyx

@final
class RingPair:
    """Two rings that one writer fills in turn, or on demand."""

    on_demand: bool
    def write_on_demand(self) -> None: ...
    def wait_for_demand(self) -> tuple[int, int]: ...

# ring/second_thread.pyx

@final
class SecondThread:
    """Decides whether a second thread pays, measured on the run itself. ``on``: the stream is read in it now."""

    on: bool

    def __new__(cls, trial_after: float = 0.3, turn_seconds: float = 0.05, holds: float = 10.0) -> Self: ...

def pays(alone: float, words_alone: int, beside: float, words_beside: int) -> bool:
    """Whether a word costs no more processor time with the second thread than without: seconds and words of both."""

# splitter.pyx

@disjoint_base
class Splitter(Consumer):
    """Splits a stream exactly at triggers, times and switches."""

    next_address: int
    retired: int
    def set_triggers(self, code: Sequence[int], data: Sequence[int]) -> None: ...

# stream_words.pxd

class Mark(IntEnum):
    SYSTEM_CALL = 1
    FAULT = 2
    MODE = 3
    SPILL = 4
    FILL = 5
    ALAT_MISS = 6
    ALAT_REPLACE = 7
    MISALIGNED_LOAD = 8
    MISALIGNED_STORE = 9
    DEFERRED = 10
    FLUSH_TO_ZERO = 11
    EXIT = 12
    RSE_ADDRESS = 13
    STRING = 14
    TIMES = 15
    THREAD = 16
    PYTHON_CALL = 17
    PYTHON_RETURN = 18
    PYTHON_LINE = 19
    INTERRUPTION = 20
    WALK = 21
    WALK_ADDRESS = 22
    PAGE_ADDRESS = 23
    PAGE_FRAME = 24
    LEVEL_LEFT = 25
    LEVEL_ENTERED = 26
    HALTED = 27
    HALTED_LONG = 28
    PURGE = 29
    PURGE_ADDRESS = 30
    FRAME = 31
    CACHE_FLUSH = 32
    HW_POLICY = 33
    TASK = 34
    REGION_NAME = 35
    REGION_START = 36
    REGION_STOP = 37
    INTERRUPTED = 38

# thread_demux.pyx

@final
class ThreadDemux(Splitter):
    """Distributes the threads of a program to two hardware threads."""

    def __init__(
        self, table: BlockTable, readers: Sequence[Consumer], rings: Sequence[Ring], *, traced: bool
    ) -> None: ...
    def end_part(self, next_ip: int, sleeps: bool, wakes_other: bool, interrupts_other: bool) -> None: ...
    def thread_turns(self, half: int) -> list[tuple[int, int]]: ...
    def retired_on(self, half: int) -> int: ...
