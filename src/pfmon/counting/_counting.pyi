"""Types of pfmon.counting._counting, by file."""

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, Protocol, Self, final, type_check_only

from typing_extensions import disjoint_base

from pfmon.counting.totals.record_query import Condition, RecordQuery
from pfmon.machine._machine import (
    CaptureListener,
    CycleListener,
    IntervalCores,
    IntervalMachine,
    Machine,
    MissMachine,
    RecordObserver,
    Records,
)
from pfmon.pmu.capture.capture_setting import CaptureSetting
from pfmon.pmu.capture.capture_values import FetchCaptured, Trace
from pfmon.pmu.capture.data_capture import DataCaptured
from pfmon.pmu.capture.last_branches import LastBranchSetting
from pfmon.pmu.qualify.filters import InstructionFilter
from pfmon.stream._stream import BlockTable, Consumer, EventSetConsumer, RunCounter, Splitter
from pfmon.stream.marks import MarkSite, MarkTotals

# captures/branch_edges.pyx

@final
class BranchEdges(Consumer):
    """Counts taken branches by source and target."""

    def __new__(cls, table: BlockTable, traced: bool, recorded: int) -> Self: ...
    def counts(self) -> dict[tuple[int, int], int]: ...

# captures/call_stack.pyx

@disjoint_base
class CallStack:
    """The call stack of a program."""

    def __new__(cls, table: BlockTable, traced: bool = False) -> Self: ...
    def sites(self) -> tuple[int, ...]: ...

# captures/call_tree.pyx

PYTHON_FUNCTIONS: int

@final
class CallTree(BlockIncrements):
    """Counts by call path."""

    def __new__(
        cls,
        table: BlockTable,
        increments: Increments,
        cycles: RecordCounts | None,
        traced: bool = False,
        counts_words: bool = False,
    ) -> Self: ...
    @property
    def lost(self) -> bool: ...
    def nodes(self) -> list[tuple[int, int, int, int, tuple[int, ...]]]: ...
    def threads(self) -> list[tuple[int, tuple[int, ...]]]: ...
    def python_lines(self) -> list[tuple[int, int, tuple[int, ...]]]: ...

@final
class CallPath(CallStack):
    """As CallStack; node 0 is the root, where each thread begins."""

    lost: bool

# captures/capture_units.pyx

@final
class CaptureUnits(CaptureListener):
    """Event address registers and trace buffers in operation."""

    delay: int

    def __init__(
        self,
        table: BlockTable,
        setting: CaptureSetting,
        filters: Increments,
        ranges: Sequence[tuple[int, int]] = (),
        data_ranged: bool = False,
        seed: int = 1,
        owner: int = 0,
        traced: int = ...,
    ) -> None: ...
    def set_ranges(self, ranges: Sequence[tuple[int, int]]) -> None: ...
    def data(self) -> DataCaptured | None: ...
    def load_at(self, address: int) -> tuple[int, bool, int, int, int] | None: ...
    def fetched(self) -> FetchCaptured | None: ...
    def branches(self) -> Trace: ...
    def forget(self, data: bool, fetch: bool) -> None: ...
    def load_trace(self, entries: Sequence[int], extensions: Sequence[int], following: int, full: bool) -> None: ...
    def clear(self) -> None: ...

# captures/data_misses.pyx

@final
class DataMisses(CaptureListener):
    """Addresses and latencies of loads that missed."""

    def __new__(cls, table: BlockTable, l3: int, memory: int) -> Self: ...
    @property
    def out_of_memory(self) -> bool: ...
    @property
    def piece_bytes(self) -> int: ...
    def histogram(self) -> list[int]: ...
    def by_piece(self) -> list[tuple[int, tuple[int, int, int], int, int]]: ...
    def by_instruction(self) -> list[tuple[int, tuple[int, int, int], int]]: ...

# captures/data_range_tally.pyx

@final
class DataRangeTally(Tally):
    """Totals of a traced stream, with its accesses in (address, mask) ranges."""

    def __new__(cls, table: BlockTable, ranges: Sequence[tuple[int, int]]) -> Self: ...
    def set_ranges(self, ranges: Sequence[tuple[int, int]]) -> None: ...
    def inside(self, number: int) -> dict[int, int]: ...

# captures/last_branches.pyx

@final
class LastBranches(CallStack):
    """Last branch records."""

    def program(self, setting: LastBranchSetting) -> None: ...
    def registers(self) -> tuple[tuple[int, int], ...]: ...
    def calls(self) -> tuple[int, ...]: ...

# captures/shared_lines.pyx

@final
class SharedLines(Consumer):
    """Lines of memory that threads share and store to."""

    def __new__(cls, table: BlockTable, line: int) -> Self: ...
    @property
    def line_shift(self) -> int: ...
    def accesses(self) -> list[tuple[int, int, int, int, int, int, int, int, int]]: ...

# live/gate.pyx

@final
class Gate(Splitter):
    """Passes the stream on to one of its readers, and to a witness, while counting is on; a machine gets all of it."""

    error: BaseException | None

    def __new__(
        cls,
        table: BlockTable,
        readers: Sequence[Consumer],
        *,
        traced: bool,
        code: Sequence[int] = ...,
        data: Sequence[tuple[int, bool, bool]] = ...,
        actions: Sequence[tuple[bool, int, bool]] = ...,
        whole_calls: Sequence[int] = ...,
        on: bool = ...,
        up: bool | None = ...,
        witness: Consumer | None = ...,
        machine: EventSetConsumer | None = ...,
        by_thread: bool = ...,
        by_task: bool = ...,
        tasks_apart: bool = ...,
        without_idle: Iterable[int] = ...,
        regions: OpenRegions | None = ...,
        regions_alone: bool = ...,
        regions_apart: bool = ...,
        due: int | None = ...,
        on_due: Callable[[], int | None] | None = ...,
    ) -> Self: ...
    def choose(self, place: int) -> None: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    @property
    def counting(self) -> bool: ...
    def set_counting(self, on: bool, up: bool | None) -> None: ...
    def set_due(self, retired: int) -> None: ...
    def trigger_hits(self) -> list[int]: ...
    lacks_readers: bool
    regions: OpenRegions | None
    def sets_of_readers(self) -> list[int]: ...

# live/live_counting.pyx

@disjoint_base
class LiveCounting(OverflowInterrupts):
    """A countdown to the next overflow of each counter."""

    def __new__(
        cls,
        table: BlockTable,
        increments: Increments,
        traced: bool,
        on_overflow: Callable[[list[int], int, int], None],
        ranges: Sequence[tuple[int, int]] | None = None,
        cycles: RecordCounts | None = None,
        calls: CallStack | None = None,
        captures: CaptureUnits | None = None,
        skid: int = 0,
        sampler: Sampler | None = None,
        times: int | None = None,
        until: int | None = None,
    ) -> Self: ...
    def program(
        self,
        increments: Increments,
        ranges: Sequence[tuple[int, int]] | None = None,
        cycles: RecordCounts | None = None,
        captures: CaptureUnits | None = None,
    ) -> None: ...
    def set_ranges(self, ranges: Sequence[tuple[int, int]]) -> None: ...
    def counts(self) -> list[int]: ...
    def increments_left(self) -> list[int]: ...
    def load(self, monitor: int, left: int | None) -> None: ...
    def disable_counters(self, monitors: int) -> None: ...
    def freeze(self, frozen: bool) -> None: ...

# live/live_per_instruction.pyx

@final
class LivePerInstruction(LiveCounting):
    """A countdown that counts each instruction with its events."""

# live/live_sets.pyx

@final
class LiveSets(RecordObserver):
    """Several event sets, counted live in turn."""

    def __new__(
        cls, table: BlockTable, traced: bool, sets: Sequence[LiveCounting], calls: CallStack | None = None
    ) -> Self: ...
    def shares(self) -> list[int]: ...

# live/open_regions.pyx

@final
class OpenRegions:
    """The regions that the threads of a program are in."""

    def __new__(cls, names: Sequence[bytes] = ...) -> Self: ...
    def seen(self) -> list[tuple[bytes, bool, int, int, int]]: ...
    @property
    def ignored(self) -> tuple[int, int]: ...

# sampling/overflow_interrupts.pyx

@disjoint_base
class OverflowInterrupts(BlockIncrements):
    """The counters and their overflows. Live (live_counting.pyx) reads the stream and sets all."""

    retired: int
    stamp: int
    triggered: bool
    stopped: bool
    error: BaseException | None

# sampling/sample_buffer.pyx

@final
class SampleBuffer(SampleListener):
    """Samples kept until a buffer is full."""

    lost: int
    out_of_memory: bool

    def __new__(
        cls,
        make: Callable[[tuple[Any, ...], int], object],
        on_buffer: Callable[[list[Any]], None],
        entries: int,
        saturate: bool = False,
    ) -> Self: ...
    def flush(self) -> None: ...

# sampling/sampler.pyx

@type_check_only
class Period(Protocol):
    """Number of events between two overflows of a counter."""

    @property
    def long(self) -> int: ...
    @property
    def short(self) -> int: ...
    @property
    def mask(self) -> int: ...
    @property
    def seed(self) -> int: ...

@final
class Sampler:
    """Overflow handling of a driver."""

    extra: Callable[[], tuple[tuple[tuple[int, int], ...], tuple[int, ...]]] | None
    @property
    def address(self) -> int: ...
    @property
    def overflowed(self) -> int: ...
    def __new__(
        cls,
        listener: SampleListener,
        counters: Sequence[tuple[int, Period | None]],
        width: int,
        reset: Collection[int] = (),
        event_set: int = 0,
    ) -> Self: ...
    def loads(self) -> list[int | None]: ...
    def sample(
        self, monitors: Sequence[int], address: int, stamp: int, retired: int, counted: Sequence[int]
    ) -> dict[int, int]: ...

@disjoint_base
class SampleListener:
    """Listener for samples while a program runs."""

    error: BaseException | None

    def on_sample_extra(self, registers: tuple[tuple[int, int], ...], calls: tuple[int, ...]) -> None: ...

# totals/block_increments.pyx

@disjoint_base
class BlockIncrements(RecordObserver):
    """``traced``: the stream has addresses. `describe` has to be called first."""

    monitors: int
    def set_ranges(self, ranges: Sequence[tuple[int, int]]) -> None: ...

# totals/count_accumulator.pyx

@final
class CountAccumulator:
    """Sums of increments by monitor and, with ``by_place``, by instruction of the program."""

    monitors: int
    def __new__(cls, monitors: int, table: BlockTable | None = None, by_place: bool = False) -> Self: ...
    def add_elsewhere(self, monitor: int, increment: int) -> None: ...
    def totals(self) -> list[int]: ...
    def outside_blocks(self) -> list[int]: ...
    def by_address(
        self, first: int = ..., beyond: int = ..., files: Container[int] | None = ...
    ) -> dict[int, list[int]]: ...
    def files(self) -> set[int]: ...
    def by_piece(self, boundaries: list[int], file: int = ...) -> dict[int, list[int]]: ...
    def by_block(self) -> dict[tuple[int, int], list[int]]: ...

# totals/cycle_conditions.pyx

FIRST_OCCURRENCE: int

MAX_CYCLE_CONDITIONS: int

@final
class CycleConditions(CycleListener):
    """Counters of cycles in which a condition holds."""

    def __new__(
        cls, conditions: Sequence[Condition | None], increments: Increments, table: BlockTable, owner: int
    ) -> Self: ...

# totals/increments.pyx

@type_check_only
class MonitorCounts(Protocol):
    """Architectural increments of one monitor."""

    @property
    def signal(self) -> str: ...
    @property
    def filter(self) -> InstructionFilter: ...
    @property
    def ranged(self) -> bool: ...

@final
class Increments:
    """Increments of several monitors, compiled."""

    monitors: int
    filter_count: int
    all_open: bool
    def __new__(cls, monitors: Sequence[MonitorCounts]) -> Self: ...
    def filter(self, filters: Sequence[InstructionFilter]) -> None: ...

UNITS: str

# totals/machine_totals.pyx

@final
class MachineTotals:
    """Counts of monitors over all records of a machine."""

    def __new__(
        cls,
        machine: Machine | IntervalMachine | IntervalCores | MissMachine,
        queries: Sequence[RecordQuery],
        increments: Increments,
        table: BlockTable,
        stack_rate: int,
    ) -> Self: ...
    def add(self, sink: CountAccumulator, event_sets: Sequence[int] | None = None) -> None: ...

def level_total(levels: Mapping[str, Sequence[int]], term: str, threshold: int = 0) -> int: ...
def add_runs(tally: Tally, machine: IntervalMachine) -> None:
    """Counts all blocks that have run on a machine."""

def add_word_runs(tally: Tally, machine: MissMachine) -> None:
    """Counts all blocks that have run on a machine without time."""

# totals/record_counts.pxd

class QueryKind(IntEnum):
    NOT_HERE = 0
    OCCURRENCES = 1
    CYCLES = 2
    BUBBLES = 3
    DISPERSAL = 4
    SUMS = 5

# totals/record_counts.pyx

@final
class RecordCounts:
    """Increments of monitors from machine records."""

    def __new__(
        cls,
        queries: Sequence[RecordQuery],
        increments: Increments,
        table: BlockTable,
        records: Records,
        stack_rate: int,
    ) -> Self: ...

# totals/tally.pyx

@disjoint_base
class Tally(RunCounter):
    """Totals of a stream: runs of each block, and executions of each conditional instruction."""

    def __new__(cls, table: BlockTable, traced: bool = False) -> Self: ...
    def instructions(self) -> int: ...
    def runs(self, number: int) -> int: ...
    def executed(self, number: int) -> list[int]: ...
    def marks(self, kind: int) -> MarkTotals: ...
    def sites_of_marks(self) -> list[MarkSite]: ...

# totals/totals.pyx

def add_totals(tally: Tally, increments: Increments, sink: CountAccumulator) -> None:
    """Adds the monitors' counts of everything in a tally."""
