"""Types of pfmon.machine._machine, by file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum, IntFlag

from pfmon.machine.machine_figures import Value
from pfmon.stream._stream import BlockTable, Consumer, EventSetConsumer, Ring, RunCounter

# arbiter.pyx

class FrontSideBus:
    """State of a bus shared by several cores."""

    def __init__(self, config: Mapping[str, Value]) -> None: ...

class Arbiter(CoupledMachines):
    """Arbitration of two cores on one bus."""

    def begin_with_one(self) -> None: ...

# capture_listener.pyx

class TlbLevel(IntEnum):
    """Level that served a miss of a first-level TLB."""

    TLB_HIT = 0
    TLB_L2 = 1
    TLB_WALKER = 2
    TLB_FAULT = 3

class FlowKind(IntEnum):
    """Kind of a change of control flow."""

    FLOW_RELATIVE = 0
    FLOW_RETURN = 1
    FLOW_INDIRECT = 2
    FLOW_CHECK = 3
    FLOW_EXCEPTION = 4

class CaptureListener:
    """Listener for misses and branches."""

    lost: bool

def watching(listeners: Iterable[CaptureListener]) -> CaptureListener | None: ...

# coupled_machines.pyx

class CoupledMachines:
    """Two coupled machines."""

    def run(self, threads: Sequence[Machine], readers: Sequence[Consumer], rings: Sequence[Ring]) -> None: ...

# data_memory.pyx

class DataMemory:
    """L1D, data TLBs and page walker in front of ``l2``."""

    l2: L2
    def __init__(self, config: Mapping[str, Value], l2: L2) -> None: ...
    def access_at(
        self, address: int, kind: int, now: int, size: int = 8, flags: int = 0
    ) -> tuple[int, list[tuple[int, int]], list[tuple[int, int]]]: ...
    def quick_at(self, address: int, kind: int, now: int, size: int = 8) -> bool: ...
    def levels(self) -> dict[str, list[int]]: ...
    def quick_events(self, kind: int) -> list[tuple[int, int]]: ...
    def plain_at(self, address: int, kind: int, now: int, size: int = 8, flags: int = 0) -> bool: ...
    def plain_events(self) -> list[tuple[int, int]]: ...
    def quick_latency_of(self, kind: int) -> int: ...
    def stores(self) -> dict[str, TagStore]: ...

# fetch.pyx

class InstructionFetch:
    """Instruction side of the memory hierarchy."""

    l2: L2
    predictor: BranchPredictor | None
    def __init__(self, config: Mapping[str, Value], l2: L2, predictor: BranchPredictor | None = None) -> None: ...
    def fetch_at(self, address: int, now: int) -> tuple[int, dict[str, int], dict[str, int]]: ...
    def quick_at(self, address: int, now: int) -> bool: ...
    def redirect_at(self, target: int, many: bool, now: int) -> dict[str, int]: ...
    def hint_at(self, target: int, now: int) -> dict[str, int]: ...
    def finish_at(self, now: int) -> None: ...
    def repeat(self, address: int, size: int, times: int) -> int: ...
    def stores(self) -> dict[str, TagStore]: ...
    def buffer_lines(self) -> dict[int, int]: ...
    def levels(self) -> dict[str, list[int]]: ...

# interval/cycle_listener.pyx

class CycleListener:
    """Listener for every cycle of an out-of-order machine."""

    following: CycleListener | None

# interval/interval_machine.pyx

class IntervalMachine(EventSetConsumer):
    """Timing model of a traced stream on an out-of-order core."""

    records: Records
    def __init__(self, config: Mapping[str, Value], table: BlockTable, event_sets: int = 1) -> None: ...
    def switch_event_set(self, event_set: int) -> None: ...
    def show(self, items: RecordObserver) -> None: ...
    def listen(self, watch: CaptureListener | None, event_set: int = 0) -> None: ...
    def listen_to_cycles(self, watch: CycleListener | None, event_set: int = 0) -> None: ...
    def settle(self, next_ip: int) -> None: ...
    def show_records(self) -> None: ...
    def finish(self) -> None: ...
    def time(self, event_sets: Iterable[int] | None = None) -> tuple[int, int]: ...
    def kernel_clock(self, event_sets: Iterable[int] | None = None) -> int: ...
    @property
    def cycles(self) -> int: ...
    def occurrences(self, event_sets: Iterable[int] | None = None) -> dict[tuple[int | None, int, int, int], int]: ...
    def bubbles(self, event_sets: Iterable[int] | None = None) -> list[tuple[int | None, int, int, int]]: ...
    def levels(self, event_sets: Iterable[int] | None = None) -> dict[str, list[int]]: ...

# interval/lru_sets.pyx

class LruSets:
    """Sets of numbers in the order of use."""

    def __init__(self, sets: int, ways: int, shift: int) -> None: ...
    def use(self, number: int) -> bool: ...
    def drop(self, number: int) -> None: ...
    def contents(self) -> list[list[int]]: ...

# issue_ports.pyx

PORT_NUMBERS: dict[str, int]

def ports_of(config: Mapping[str, int | str | bool]) -> dict[str, tuple[int, int, int]]: ...

# l2.pyx

class RequestKind(IntEnum):
    REQUEST_READ = 0
    REQUEST_FLOAT_READ = 1
    REQUEST_WRITE = 2
    REQUEST_SEMAPHORE = 3
    REQUEST_PREFETCH = 4
    REQUEST_FETCH = 5
    REQUEST_FETCH_PREFETCH = 6
    REQUEST_WALK = 7
    REQUEST_KINDS = 8

class RequestFlag(IntEnum):
    REQUEST_EXCLUSIVE = 1
    REQUEST_ACQUIRE = 2
    REQUEST_RELEASE = 4
    REQUEST_NO_RECENCY = 8
    REQUEST_NO_L3 = 16

class L2:
    """L2 and all levels below it."""

    def __init__(self, config: Mapping[str, Value]) -> None: ...
    def request_at(
        self, address: int, kind: int, now: int, flags: int = 0
    ) -> tuple[int, int, list[tuple[int, int]]]: ...
    def quick_at(self, address: int, kind: int, now: int) -> bool: ...
    def finish_at(self, now: int) -> None: ...
    def stores(self) -> dict[str, TagStore]: ...
    def levels(self) -> dict[str, list[int]]: ...

# machine.pyx

class Machine(EventSetConsumer):
    """Timing model of a traced stream."""

    records: Records
    memo: Memo
    repeated: int
    simulated: int
    def __init__(
        self,
        config: Mapping[str, Value],
        table: BlockTable,
        ranges: Sequence[tuple[int, int]] = (),
        memo: bool = True,
        event_sets: int = 1,
        beside: Machine | None = None,
        thread: int = 0,
        same_program: bool = False,
    ) -> None: ...
    def share_memory(self, other: Machine) -> None: ...
    def share_bus(self, arbiter: Arbiter, other: Machine | None = None) -> None: ...
    def forget_levels(self) -> None: ...
    def share_core(self, switch: ThreadSwitch) -> None: ...
    def switch_event_set(self, event_set: int) -> None: ...
    def show(self, items: RecordObserver) -> None: ...
    def count_runs(self, counter: RunCounter) -> None: ...
    def listen(self, watch: CaptureListener | None, event_set: int = 0) -> None: ...
    def settle(self, next_ip: int) -> None: ...
    def set_ranges(self, ranges: Sequence[tuple[int, int]]) -> None: ...
    def show_records(self) -> None: ...
    def finish(self) -> None: ...
    def time(self, event_sets: Iterable[int] | None = None) -> tuple[int, int]: ...
    def kernel_clock(self, event_sets: Iterable[int] | None = None) -> int: ...
    @property
    def cycles(self) -> int: ...
    def occurrences(self, event_sets: Iterable[int] | None = None) -> dict[tuple[int | None, int, int, int], int]: ...
    def bubbles(self, event_sets: Iterable[int] | None = None) -> list[tuple[int | None, int, int, int]]: ...
    def front_bubbles(self, event_sets: Iterable[int] | None = None) -> list[tuple[int | None, int, int, int]]: ...
    def groups(self, event_sets: Iterable[int] | None = None) -> Iterator[tuple[tuple[Part, ...], int]]: ...
    def levels(self, event_sets: Iterable[int] | None = None) -> dict[str, list[int]]: ...

# memo.pyx

class Memo:
    """Memoized effects of blocks."""

    flushes: int
    lost: bool
    max_states: int
    def sizes(self) -> tuple[int, int]: ...

# occurrences.pyx

class Occurrence(IntEnum):
    NOTHING_HAPPENED = 0  # and more: occurrences.pxd

# predictor.pyx

class BranchPredictor:
    def __init__(self, config: Mapping[str, int | bool | str]) -> None: ...
    def predict(
        self,
        address: int,
        taken: bool,
        target: int = 0,
        *,
        kind: int = 0,
        whether: int = 3,
        fall_through: int = 0,
        clear: bool = False,
        multiway: bool = False,
        conditional: bool = True,
        relative: int = 0,
    ) -> tuple[int, int, int]: ...
    def occurrences(
        self, taken: bool, code: int, *, kind: int = 0, multiway: bool = False
    ) -> dict[Occurrence, int]: ...
    def give_hint(self, address: int, target: int, important: bool = True) -> None: ...
    def line_leaves(self, address: int, size: int) -> None: ...
    def repeat(self, address: int, target: int, times: int) -> int: ...

# predictor_merced.pyx

class MercedPredictor(BranchPredictor): ...

# predictor_two_level.pyx

class TwoLevelPredictor(BranchPredictor): ...

# record_observer.pyx

class RecordObserver(EventSetConsumer):
    """Observes a machine's records while they are made."""

# records.pyx

class BubbleKind(IntFlag):
    BUBBLE_BACK = 0
    BUBBLE_FRONT = 1
    BUBBLE_IDEAL = 2
    BUBBLE_LOST = 3
    BUBBLE_ENTRANCE = 4

Part = tuple[int | None, int, int, int, tuple[tuple[int, int, int, int], ...]]
"""Block, first and last instruction, executed ones, events: (instruction, occurrence, in the data ranges, times)."""

class Records:
    """Issue groups and lost cycles, in some event sets or in all."""

    lost: bool
    max_records: int

    def cycles_with_issue(self, event_sets: Iterable[int] | None = None) -> int: ...
    def bubbles(self, kind: int, event_sets: Iterable[int] | None = None) -> list[tuple[int | None, int, int, int]]: ...
    def groups(self, event_sets: Iterable[int] | None = None) -> Iterator[tuple[tuple[Part, ...], int]]: ...
    def occurrences(self, event_sets: Iterable[int] | None = None) -> dict[tuple[int | None, int, int, int], int]: ...
    def dispersal(self, event_sets: Iterable[int] | None = None) -> Iterator[tuple[int, int, int, int]]: ...
    def sizes(self) -> tuple[int, int, int]: ...

# replacement.pyx

class ReplacementPolicy:
    """Chooses the victim of a full set of ``ways`` lines."""

    def __init__(self, sets: int, ways: int) -> None: ...

# replacement_lru.pyx

class LruPolicy(ReplacementPolicy): ...

# replacement_nru.pyx

class NruPolicy(ReplacementPolicy): ...

# replacement_plru.pyx

class PlruPolicy(ReplacementPolicy): ...

# replacement_random.pyx

class RandomPolicy(ReplacementPolicy): ...

# staged_machine.pyx

class Stage(IntEnum):
    STREAM = 0
    PREDICTOR = 1
    FETCH = 2
    TLBS = 3
    CACHES = 4
    WHOLE = 5

class StagedMachine(Machine):
    """A machine that stops after a stage; for benchmarks."""

    stage: int

# stall_causes.pyx

class Cause(IntEnum):
    XPN = 0  # and more: stall_causes.pxd

class FrontCause(IntEnum):
    FRONT_FEFLUSH = 0  # and more: stall_causes.pxd

class Dispersal(IntEnum):
    DISPERSAL_EXPLICIT = 0
    DISPERSAL_IMPLICIT = 3
    DISPERSAL_FRONT_END = 6
    DISPERSAL_LONG = 9
    DISPERSAL_OVER_EXPLICIT = 12
    DISPERSAL_OVER_IMPLICIT = 14
    DISPERSAL_DISPERSED = 16
    DISPERSAL_END = 19

# tag_store.pyx

class TagStore:
    """``sets`` x ``ways`` tags for addresses, ``shift`` bits of which are an offset; policy by name."""

    shift: int
    def __init__(self, sets: int, ways: int, shift: int, policy: str, hinted: bool = True) -> None: ...
    def probe(self, address: int) -> tuple[str, int] | None: ...
    def use(self, address: int) -> bool: ...
    def contents(self) -> list[list[int | None]]: ...

def cache_tags(config: Mapping[str, Value], name: str, hinted: bool = True) -> TagStore: ...

# thread_evictions.pyx

class ThreadEvictions:
    """Evictions of a hardware thread's lines by the other."""

    lost: bool
    def misses(self, thread: int) -> int: ...

# thread_switch.pyx

POLICIES: dict[str, int]

class SwitchCause(IntEnum):
    BY_L3 = 0
    BY_TIMER = 1
    BY_HINT = 2
    BY_LOW_POWER = 3
    SWITCH_CAUSES = 4

class ThreadSwitch(CoupledMachines):
    """Switch-on-event multithreading of two hardware threads of a core."""

    lost: bool
    def __init__(self, config: Mapping[str, Value]) -> None: ...
    def begin_with_one(self) -> None: ...
    @property
    def active_cycles(self) -> list[int]: ...
    @property
    def switching_cycles(self) -> list[int]: ...
    def switch_counts(self) -> list[list[int]]: ...
    def urgencies(self) -> list[int]: ...
    def l3_miss_at(self, found: int, back: int) -> None: ...
    def pause_at(self, now: int) -> None: ...
    def end_other(self) -> None: ...
    def decide_at(self, issued: int, issues: int) -> tuple[int, int, int, int]: ...
    def hand_over_at(self, at: int) -> int: ...
    def account_evictions(self, name: str, store: TagStore) -> None: ...
    def evictions(self, thread: int) -> dict[str, int]: ...

# tlb.pyx

class Tlb:
    """The TLB ``name`` of a machine; an entry maps ``page`` bytes."""

    def __init__(self, config: Mapping[str, Value], name: str, page: int) -> None: ...
    def bring(self, address: int) -> None: ...
    def reserve(self, entries: int) -> None: ...
    @property
    def store(self) -> TagStore: ...

class PageTable:
    """Pages with a translation by the operating system."""

    def __contains__(self, page: int) -> bool: ...
    def __len__(self) -> int: ...
    def learn(self, page: int) -> None: ...
