"""Types of pfmon.machine._machine, by file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Self, final

from typing_extensions import disjoint_base

from pfmon.machine._outoforder import CoreTimeline, OutOfOrderCore
from pfmon.machine.captured_timelines import CapturedIssues
from pfmon.machine.config.core_timings import CoreTimings
from pfmon.machine.config.machine_figures import Value
from pfmon.stream._stream import BlockTable, Consumer, EventSetConsumer, Ring, RunCounter

# inorder/branch/predictor.pyx

@disjoint_base
class BranchPredictor:
    def __new__(cls, config: Mapping[str, int | bool | str]) -> Self: ...
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
    def predict_target(self, address: int, target: int, important: bool = True) -> None: ...
    def evict_line(self, address: int, size: int) -> None: ...
    def repeat(self, address: int, target: int, times: int) -> int: ...

# inorder/branch/predictor_merced.pyx

@final
class MercedPredictor(BranchPredictor): ...

# inorder/branch/predictor_registry.pyx

PREDICTORS: dict[str, type[BranchPredictor]]

def branch_predictor(config: Mapping[str, Value]) -> BranchPredictor: ...

# inorder/branch/predictor_two_level.pyx

@final
class TwoLevelPredictor(BranchPredictor): ...

# inorder/bus/arbiter.pyx

@final
class FrontSideBus:
    """State of a bus shared by several cores."""

    def __new__(cls, config: Mapping[str, Value]) -> Self: ...

@final
class Arbiter(CoupledMachines):
    """Arbitration of two cores on one bus."""

    def begin_with_one(self) -> None: ...

# inorder/bus/bus.pyx

@final
class Bus:
    """Bus and memory with the figures of ``config`` ([bus], [memory], [machine], l3.line, l3.victims)."""

    def levels(self) -> dict[str, list[int]]: ...

@disjoint_base
class Snooper: ...

# inorder/bus/coherence.pyx

@final
class SnoopedCaches(Snooper):
    """The caches of a core. Their snoop responses are recorded by that core, between two blocks of its own."""

    def by_name(self) -> dict[str, int]: ...

# inorder/core/event_set_switch.pyx

@final
class EventSetSwitch:
    """``event_sets``: their number; ``shares``: the time and the levels of each."""

    def listen(self, listener: CaptureListener | None, event_set: int) -> None: ...

# inorder/core/machine.pyx

@final
class Machine(EventSetConsumer):
    """Timing model of a traced stream."""

    l2: L2
    data: DataMemory
    fetch: InstructionFetch
    predictor: BranchPredictor
    plans: BlockPlans
    records: Records
    pipeline: Pipeline
    memo: Memo
    pages: PhysicalAddresses | None

    def __new__(
        cls,
        config: Mapping[str, Value],
        table: BlockTable,
        ranges: Sequence[tuple[int, int]] = (),
        memo: bool = True,
        event_sets: int = 1,
        beside: Machine | None = None,
        thread: int = 0,
        same_program: bool = False,
        system: bool | None = None,
    ) -> Self: ...
    def set_ranges(self, ranges: Sequence[tuple[int, int]]) -> None: ...
    def share_memory(self, other: Machine) -> None: ...
    def share_bus(self, arbiter: Arbiter, other: Machine | None = None) -> None: ...
    def forget_levels(self) -> None: ...
    def share_core(self, switch: ThreadSwitch) -> None: ...
    def switch_event_set(self, event_set: int) -> None: ...
    def set_observer(self, observer: RecordObserver) -> None: ...
    def count_runs(self, counter: RunCounter) -> None: ...
    def listen(self, listener: CaptureListener | None, event_set: int = 0) -> None: ...
    def cycles_before(self, next_ip: int) -> int: ...
    def update_records(self, next_ip: int) -> None: ...
    def responses(self) -> dict[str, int]: ...
    def show_records(self) -> None: ...
    def finish(self) -> None: ...
    def time(self, event_sets: Iterable[int] | None = None) -> tuple[int, int]: ...
    def kernel_clock(self, event_sets: Iterable[int] | None = None) -> int: ...
    @property
    def cycles(self) -> int: ...
    @property
    def repeated(self) -> int: ...
    @property
    def simulated(self) -> int: ...
    def occurrences(self, event_sets: Iterable[int] | None = None) -> dict[tuple[int | None, int, int, int], int]: ...
    def bubbles(self, event_sets: Iterable[int] | None = None) -> list[tuple[int | None, int, int, int]]: ...
    def front_bubbles(self, event_sets: Iterable[int] | None = None) -> list[tuple[int | None, int, int, int]]: ...
    def groups(self, event_sets: Iterable[int] | None = None) -> Iterator[tuple[tuple[_Part, ...], int]]: ...
    @property
    def register_frame(self) -> tuple[int, int, int, int]: ...
    def levels(self, event_sets: Iterable[int] | None = None) -> dict[str, list[int]]: ...

# inorder/core/mark_effects.pyx

@final
class MarkEffects:
    """``replay``: of the blocks that have the marks. ``captures`` is told of them."""

# inorder/core/staged_machine.pyx

class Stage(IntEnum):
    STREAM = 0
    PREDICTOR = 1
    FETCH = 2
    TLBS = 3
    CACHES = 4
    WHOLE = 5

@final
class StagedMachine(Consumer):
    """Does the work of a machine up to ``stage``; for benchmarks."""

    stage: int

# inorder/core/timing.pyx

@final
class Timing:
    """``replay`` times a block, ``effects`` applies its marks, ``captures`` and ``shown`` report it."""

# inorder/fetch/fetch.pyx

@final
class InstructionFetch:
    """Instruction side of the memory hierarchy."""

    l2: L2
    predictor: BranchPredictor | None
    def __new__(cls, config: Mapping[str, Value], l2: L2, predictor: BranchPredictor | None = None) -> Self: ...
    def fetch_at(self, address: int, now: int) -> tuple[int, dict[str, int], dict[str, int]]: ...
    def quick_at(self, address: int, now: int) -> bool: ...
    def redirect_at(self, target: int, many: bool, now: int) -> dict[str, int]: ...
    def hint_at(self, target: int, now: int) -> dict[str, int]: ...
    def finish_at(self, now: int) -> None: ...
    def repeat(self, address: int, size: int, times: int) -> int: ...
    def stores(self) -> dict[str, TagStore]: ...
    def buffer_lines(self) -> dict[int, int]: ...
    def levels(self) -> dict[str, list[int]]: ...

# inorder/memo/memo.pyx

@final
class Memo:
    """Memoized effects of blocks."""

    flushes: int
    lost: bool
    max_states: int
    def sizes(self) -> tuple[int, int]: ...

# inorder/memo/memo_replay.pyx

@final
class MemoReplay:
    """``pipeline`` simulates, ``memo`` keeps what it did. The pipeline's state is in one of the two."""

# inorder/memo/response_tree.pyx

@final
class ResponseTree:
    """Point 0 and edge 0 mean none."""

# inorder/memory/data_memory.pyx

@final
class DataMemory(DataTranslation):
    """L1D, data TLBs and page walker in front of ``l2``."""

    def __new__(cls, config: Mapping[str, Value], l2: L2) -> Self: ...
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

# inorder/memory/data_translation.pyx

@disjoint_base
class DataTranslation:
    """The figures [dtlb1], [dtlb2], [vhpt] and l1d.prevalidated of ``config``; L1D's tags are ``cache``."""

    l2: L2

# inorder/memory/l2.pxd

class RequestKind(IntEnum):
    REQUEST_READ = 0
    REQUEST_FLOAT_READ = 1
    REQUEST_WRITE = 2
    REQUEST_SEMAPHORE = 3
    REQUEST_PREFETCH = 4
    REQUEST_FETCH = 5
    REQUEST_FETCH_PREFETCH = 6
    REQUEST_WALK = 7
    REQUEST_FLUSH = 8
    REQUEST_KINDS = 9

class RequestFlag(IntEnum):
    REQUEST_EXCLUSIVE = 1
    REQUEST_ACQUIRE = 2
    REQUEST_RELEASE = 4
    REQUEST_NO_RECENCY = 8
    REQUEST_NO_L3 = 16

# inorder/memory/l2.pyx

@final
class L2:
    """L2 and all levels below it."""

    def __new__(cls, config: Mapping[str, Value]) -> Self: ...
    def request_at(
        self, address: int, kind: int, now: int, flags: int = 0
    ) -> tuple[int, int, list[tuple[int, int]]]: ...
    def quick_at(self, address: int, kind: int, now: int) -> bool: ...
    def finish_at(self, now: int) -> None: ...
    def stores(self) -> dict[str, TagStore]: ...
    def levels(self) -> dict[str, list[int]]: ...

def full(cycles: list[int]) -> list[int]: ...
def present(cycles: list[int]) -> list[int]: ...

# inorder/memory/l2_fetches.pyx

@final
class L2Fetches:
    """``tags``: those of L2I, or of a unified L2; ``lookup_cycles``: between two lookups of a line in flight."""

# inorder/memory/l2_victims.pyx

@final
class L2Victims:
    """``name``: the table of ``config`` of L2 or L2D; ``split``: code has an L2 of its own."""

# inorder/memory/l3.pyx

@final
class L3:
    """L3 with the figures of ``config`` ([l3]), in front of the bus."""

# inorder/memory/physical_addresses.pyx

@final
class PhysicalAddresses:
    """Physical addresses of a whole system's code and data."""

    lost: bool
    def mark(self, word: int) -> None: ...
    def address_of(self, address: int) -> int: ...
    def code_address(self, ip: int, physical: int) -> int: ...
    def code_of(self, address: int) -> int: ...

# inorder/memory/tag_store.pyx

@final
class TagStore:
    """``sets`` x ``ways`` tags for addresses, ``shift`` bits of which are an offset; policy by name."""

    shift: int
    def __new__(cls, sets: int, ways: int, shift: int, policy: str, hinted: bool = True) -> Self: ...
    def probe(self, address: int) -> tuple[str, int] | None: ...
    def use(self, address: int) -> bool: ...
    def contents(self) -> list[list[int | None]]: ...

def cache_tags(config: Mapping[str, Value], name: str, hinted: bool = True) -> TagStore: ...

STATES: dict[int, str]

# inorder/memory/tlb.pyx

@final
class Tlb:
    """The TLB ``name`` of a machine; an entry maps ``page`` bytes."""

    def __new__(cls, config: Mapping[str, Value], name: str, page: int) -> Self: ...
    def insert_entry(self, address: int) -> None: ...
    def reserve(self, entries: int) -> None: ...
    @property
    def store(self) -> TagStore: ...

@final
class PageTable:
    """Pages with a translation by the operating system."""

    lost: bool
    def __contains__(self, page: int, /) -> bool: ...
    def __len__(self) -> int: ...
    def learn(self, page: int) -> None: ...

# inorder/pipeline/block_plan.pyx

@final
class BlockPlans:
    """``table``: descriptions of the blocks. ``thread_id``: bits that are set in all addresses of the plans."""

# inorder/pipeline/front_end.pyx

@final
class FrontEnd:
    """``config``: the machine's figures."""

# inorder/pipeline/issue_ports.pyx

PORT_NUMBERS: dict[str, int]

def ports_of(config: Mapping[str, int | str | bool]) -> dict[str, tuple[int, int, int]]: ...

# inorder/pipeline/pipeline.pyx

@final
class Pipeline:
    """``config``: the machine's figures; the other arguments are the mechanisms that the pipeline uses."""

    records: Records

# inorder/pipeline/stall_causes.pxd

class Cause(IntEnum):
    XPN = 0
    BRU = 1
    L1D_FULLSTBUF = 2
    L1D_DCURECIR = 3
    L1D_FILLCONF = 4
    L1D_L2BPRESS = 5
    L1D_TLB = 6
    L1D_HPW = 7
    L1D_NATCONF = 8
    L1D_LDCONF = 9
    L1D_LDCHK = 10
    L1D_PIPE_RECIRC = 11
    GRALL = 12
    GRGR = 13
    FRALL = 14
    PR = 15
    ARCR = 16
    RSE_AR_DEP = 17
    RSE_OVERFLOW = 18
    RSE_UNDERFLOW = 19
    RSE_LOADRS = 20
    FE_FEFLUSH = 21
    FE_TLBMISS = 22
    FE_IMISS = 23
    FE_BRANCH = 24
    FE_FILL_RECIRC = 25
    FE_BUBBLE = 26
    WINDOW_L2 = 27
    WINDOW_L3 = 28
    WINDOW_MEMORY = 29
    WINDOW_DTLB = 30
    WINDOW_STORES = 31
    REFILL_BRANCH = 32
    REFILL_REDIRECT = 33
    FETCH_L1I = 34
    FETCH_ITLB = 35
    CORE_DISPATCH = 36
    CORE_LATENCY = 37
    CORE_PORT = 38
    CORE_DIVIDER = 39
    LOAD_L1D = 40
    LOAD_FORWARDED = 41
    LOAD_BLOCKED = 42
    LOAD_SPLIT = 43
    CORE_LOCKED_ACCESS = 44
    CORE_SERIALIZED = 45
    BUFFER_FULL = 46
    CORE_DECODE = 47
    THREAD_SWITCH = 48
    KERNEL = 49
    CAUSES = 50

class FrontCause(IntEnum):
    FRONT_FEFLUSH = 0
    FRONT_TLBMISS = 1
    FRONT_IMISS = 2
    FRONT_BRANCH = 3
    FRONT_FILL_RECIRC = 4
    FRONT_BUBBLE = 5
    FRONT_IBFULL = 6
    FRONT_PLP = 7
    FRONT_BI = 8
    FRONT_BRQ = 9
    FRONT_UNREACHED = 10
    FRONT_CAUSES = 11

class Dispersal(IntEnum):
    DISPERSAL_EXPLICIT = 0
    DISPERSAL_IMPLICIT = 3
    DISPERSAL_FRONT_END = 6
    DISPERSAL_LONG = 9
    DISPERSAL_OVER_EXPLICIT = 12
    DISPERSAL_OVER_IMPLICIT = 14
    DISPERSAL_DISPERSED = 16
    DISPERSAL_END = 19

# inorder/records/capture_listener.pxd

class TlbLevel(IntEnum):
    """Level that served a miss of a first-level TLB."""

    TLB_HIT = 0
    TLB_L2 = 1
    TLB_WALKER = 2
    TLB_FAULT = 3

class LoadSource(IntEnum):
    """The part of the memory system that a load got its data from."""

    SOURCE_L1 = 1
    SOURCE_FILL_BUFFER = 2
    SOURCE_L2 = 3
    SOURCE_L3 = 4
    SOURCE_L3_SNOOP_MISS = 5
    SOURCE_L3_SNOOP_HIT = 6
    SOURCE_L3_SNOOP_HITM = 7
    SOURCE_MEMORY = 12
    SOURCE_STLB_MISS = 16
    SOURCE_LOCKED = 32

class FlowKind(IntEnum):
    """Kind of a change of control flow."""

    FLOW_RELATIVE = 0
    FLOW_RETURN = 1
    FLOW_INDIRECT = 2
    FLOW_CHECK = 3
    FLOW_EXCEPTION = 4

# inorder/records/capture_listener.pyx

@disjoint_base
class CaptureListener:
    """Listener for misses and branches."""

    lost: bool

def combined_listener(listeners: Iterable[CaptureListener]) -> CaptureListener | None: ...

@final
class CaptureListeners(CaptureListener):
    """Notifies two listeners; either may be a pair again."""

# inorder/records/capture_reporting.pyx

@final
class CaptureReporting:
    """``replay``: what the captures are of."""

# inorder/records/event_set_accounting.pyx

@final
class EventSetAccounting:
    """``event_sets``: their number; ``config``: the frequencies."""

# inorder/records/issue_timeline.pyx

@final
class IssueTimeline(RecordObserver):
    """The timeline of hot blocks on an in-order core."""

    def __new__(
        cls,
        table: BlockTable,
        records: Records,
        ranges: Iterable[tuple[int, int]] = (),
        iterations: int = 4,
        rows: int = 1024,
        captures: int = 64,
        following: RecordObserver | None = None,
    ) -> Self: ...
    def captured(self) -> list[CapturedIssues]: ...

# inorder/records/occurrences.pxd

class Occurrence(IntEnum):
    NOTHING_HAPPENED = 0
    L1D_READ = 1
    L1D_CHECK_READ = 2
    L1D_READ_MISS = 3
    L1D_FILL_READ_MISS = 4
    L1D_FORCED_MISS = 5
    L1DTLB_TRANSFER = 6
    L1DTLB_MISS = 7
    L2DTLB_MISS = 8
    HPW_READ = 9
    DTLB_WALKED = 10
    DTLB_FILLED = 11
    LFETCH_DROPPED = 12
    UNCACHEABLE_LOAD = 13
    UNCACHEABLE_STORE = 14
    L2_DATA_READ = 15
    L2_DATA_WRITE = 16
    L2_DATA_HIT = 17
    L2_DATA_MISS = 18
    L2_MISS_SENT = 19
    L2_FETCH_HIT_DEMAND = 20
    L2_FETCH_HIT_PREFETCH = 21
    L2_FETCH_MISS_DEMAND = 22
    L2_FETCH_MISS_PREFETCH = 23
    L2_OP_LOAD = 24
    L2_OP_FLOAT_LOAD = 25
    L2_OP_STORE = 26
    L2_OP_SEMAPHORE = 27
    L2_OP_LFETCH = 28
    L2_OP_OTHER = 29
    L2_BYPASS_SHORT = 30
    L2_BYPASS_LONG = 31
    L2_BYPASS_MISS = 32
    L2_FETCH_BYPASS_SHORT = 33
    L2_FETCH_BYPASS_MISS = 34
    L2_FILL_S = 35
    L2_FILL_E = 36
    L2_FILL_M = 37
    L2_WRITE_BACK = 38
    L2I_REPLACED = 39
    L2_STORE_HIT_S = 40
    L2_RECIRC_FILL_HIT = 41
    L2_RECIRC_OZQ_MISS = 42
    L2_RECIRC_L1W = 43
    L2_RECIRC_SAME_INDEX = 44
    L2_RECIRC_IPF_MISS = 45
    L2_RECIRC_TAG_NOTOK = 46
    L2_RECIRC_VIC_PEND = 47
    L2_RECIRC_VIC_BUF_FULL = 48
    L2_SMC_HIT = 49
    L2_BEHIND_RECIRC = 50
    L2_SECONDARY_READ = 51
    L2_SECONDARY_WRITE = 52
    L2_LOOK_AGAIN = 53
    OZQ_CANCEL_ACQUIRE = 54
    OZQ_CANCEL_RELEASE = 55
    OZQ_CANCEL_SEMAPHORE = 56
    OZQ_CANCEL_LATE_ACQUIRE = 57
    OZQ_CANCEL_LATE_RELEASE = 58
    OZQ_CANCEL_FENCE = 59
    OZQ_CANCEL_BANK = 60
    OZQ_CANCEL_OVER_SUB = 61
    OZQ_CANCEL_FILL = 62
    OZQ_CANCEL_FILL_STORE = 63
    OZQ_CANCEL_OZDATA = 64
    OZQ_CANCEL_WRITE_BACK = 65
    L2_FETCH_CONFLICT_DEMAND = 66
    L2_FETCH_CONFLICT_PREFETCH = 67
    L2_FETCH_QUEUED_HIT_DEMAND = 68
    L2_FETCH_QUEUED_HIT_PREFETCH = 69
    L2_FETCH_QUEUED_MISS_DEMAND = 70
    L2_FETCH_QUEUED_MISS_PREFETCH = 71
    L2_FETCH_LOOK_AGAIN = 72
    L2_FILLS_FULL = 73
    L3_REJECT_DATA = 74
    L3_REJECT_FETCH_DEMAND = 75
    L3_REJECT_FETCH_PREFETCH = 76
    L3_DATA_READ_MISS_I = 77
    L3_DATA_READ_HIT_S = 78
    L3_DATA_READ_HIT_E = 79
    L3_DATA_READ_HIT_M = 80
    L3_DATA_WRITE_MISS_I = 81
    L3_DATA_WRITE_HIT_S = 82
    L3_DATA_WRITE_HIT_E = 83
    L3_DATA_WRITE_HIT_M = 84
    L3_FETCH_DEMAND_MISS_I = 85
    L3_FETCH_DEMAND_HIT_S = 86
    L3_FETCH_DEMAND_HIT_E = 87
    L3_FETCH_DEMAND_HIT_M = 88
    L3_FETCH_PREFETCH_MISS_I = 89
    L3_FETCH_PREFETCH_HIT_S = 90
    L3_FETCH_PREFETCH_HIT_E = 91
    L3_FETCH_PREFETCH_HIT_M = 92
    L3_WRITE_BACK_MISS_I = 93
    L3_WRITE_BACK_HIT_S = 94
    L3_WRITE_BACK_HIT_E = 95
    L3_WRITE_BACK_HIT_M = 96
    L3_INSERT_S = 97
    L3_INSERT_E = 98
    L3_INSERT_M = 99
    L3_REPLACED_S = 100
    L3_REPLACED_E = 101
    L3_REPLACED_M = 102
    BUS_READ_DATA = 103
    BUS_READ_FETCH = 104
    BUS_READ_OWN = 105
    BUS_INVALIDATE = 106
    BUS_WRITE_BACK = 107
    BUS_READ_HIT = 108
    BUS_READ_HITM = 109
    BUS_READ_OWN_HITM = 110
    BUS_INVALIDATE_HITM = 111
    BUS_CASTOUT = 112
    BUS_DATA_CYCLE = 113
    BUS_BACK_TO_BACK = 114
    BUS_READ_PARTIAL = 115
    BUS_WRITE_PARTIAL = 116
    L1I_READ = 117
    L1I_DEMAND_MISS = 118
    L1I_ISB_HIT = 119
    L1I_RAB_HIT = 120
    L1I_FILL = 121
    L1I_PURGED = 122
    L1I_SNOOPED = 123
    L1I_PREFETCH = 124
    L1I_STREAM_PREFETCH = 125
    L2_PREFETCH_SENT = 126
    PREFETCH_STALL_STREAM = 127
    PREFETCH_STALL_HINT = 128
    PVAB_OVERFLOW = 129
    ISB_LINE_IN = 130
    ISB_PAIR_IN = 131
    ITLB1_MISS = 132
    ITLB2_MISS = 133
    ITLB_WALKED = 134
    ITLB_FILLED = 135
    PREDICTED_RELATIVE_CORRECT_NOT_TAKEN = 136
    PREDICTED_RELATIVE_CORRECT_TAKEN = 137
    PREDICTED_RELATIVE_WRONG_PATH_NOT_TAKEN = 138
    PREDICTED_RELATIVE_WRONG_PATH_TAKEN = 139
    PREDICTED_RELATIVE_WRONG_TARGET = 140
    PREDICTED_RELATIVE_UNKNOWN_NOT_TAKEN = 141
    PREDICTED_RELATIVE_UNKNOWN_TAKEN = 142
    PREDICTED_RETURN_CORRECT_NOT_TAKEN = 143
    PREDICTED_RETURN_CORRECT_TAKEN = 144
    PREDICTED_RETURN_WRONG_PATH_NOT_TAKEN = 145
    PREDICTED_RETURN_WRONG_PATH_TAKEN = 146
    PREDICTED_RETURN_WRONG_TARGET = 147
    PREDICTED_RETURN_UNKNOWN_NOT_TAKEN = 148
    PREDICTED_RETURN_UNKNOWN_TAKEN = 149
    PREDICTED_INDIRECT_CORRECT_NOT_TAKEN = 150
    PREDICTED_INDIRECT_CORRECT_TAKEN = 151
    PREDICTED_INDIRECT_WRONG_PATH_NOT_TAKEN = 152
    PREDICTED_INDIRECT_WRONG_PATH_TAKEN = 153
    PREDICTED_INDIRECT_WRONG_TARGET = 154
    PREDICTED_INDIRECT_UNKNOWN_NOT_TAKEN = 155
    PREDICTED_INDIRECT_UNKNOWN_TAKEN = 156
    PREDICTED_MULTIWAY_CORRECT_NOT_TAKEN = 157
    PREDICTED_MULTIWAY_CORRECT_TAKEN = 158
    PREDICTED_MULTIWAY_WRONG_PATH_NOT_TAKEN = 159
    PREDICTED_MULTIWAY_WRONG_PATH_TAKEN = 160
    PREDICTED_MULTIWAY_WRONG_TARGET = 161
    PREDICTED_MULTIWAY_UNKNOWN_NOT_TAKEN = 162
    PREDICTED_MULTIWAY_UNKNOWN_TAKEN = 163
    PREDICTED_STAGE1_CORRECT_NOT_TAKEN = 164
    PREDICTED_STAGE1_CORRECT_TAKEN = 165
    PREDICTED_STAGE1_WRONG_PATH_NOT_TAKEN = 166
    PREDICTED_STAGE1_WRONG_PATH_TAKEN = 167
    PREDICTED_STAGE1_WRONG_TARGET = 168
    PREDICTED_STAGE1_UNKNOWN_NOT_TAKEN = 169
    PREDICTED_STAGE1_UNKNOWN_TAKEN = 170
    PREDICTED_STAGE2_CORRECT_NOT_TAKEN = 171
    PREDICTED_STAGE2_CORRECT_TAKEN = 172
    PREDICTED_STAGE2_WRONG_PATH_NOT_TAKEN = 173
    PREDICTED_STAGE2_WRONG_PATH_TAKEN = 174
    PREDICTED_STAGE2_WRONG_TARGET = 175
    PREDICTED_STAGE2_UNKNOWN_NOT_TAKEN = 176
    PREDICTED_STAGE2_UNKNOWN_TAKEN = 177
    PREDICTED_STAGE3_CORRECT_NOT_TAKEN = 178
    PREDICTED_STAGE3_CORRECT_TAKEN = 179
    PREDICTED_STAGE3_WRONG_PATH_NOT_TAKEN = 180
    PREDICTED_STAGE3_WRONG_PATH_TAKEN = 181
    PREDICTED_STAGE3_WRONG_TARGET = 182
    PREDICTED_STAGE3_UNKNOWN_NOT_TAKEN = 183
    PREDICTED_STAGE3_UNKNOWN_TAKEN = 184
    OVERSUBSCRIBED_CORRECT = 185
    OVERSUBSCRIBED_WRONG_PATH = 186
    MISPREDICTED_FRAME = 187
    MISPREDICTED_ROTATION = 188
    MISPREDICTED_STAGE = 189
    THREAD_SWITCH_L3 = 190
    THREAD_SWITCH_TIMER = 191
    THREAD_SWITCH_HINT = 192
    THREAD_SWITCH_LOW_POWER = 193
    THREAD_SWITCH_GATED_BY_LOW_POWER = 194
    THREAD_SWITCH_HELD_BACK = 195
    THREAD_SWITCH_MISSED = 196
    THREAD_SWITCH_STOOD = 197
    THREAD_SWITCH_STALL_4 = 198
    THREAD_SWITCH_STALL_8 = 199
    THREAD_SWITCH_STALL_16 = 200
    THREAD_SWITCH_STALL_32 = 201
    THREAD_SWITCH_STALL_64 = 202
    THREAD_SWITCH_STALL_128 = 203
    THREAD_SWITCH_STALL_256 = 204
    THREAD_SWITCH_STALL_512 = 205
    THREAD_SWITCH_STALL_1024 = 206
    THREAD_SWITCH_STALL_2048 = 207
    THREAD_SWITCH_STALL_4096 = 208
    SNOOPED_MISS = 209
    SNOOPED_HIT = 210
    SNOOPED_HITM = 211
    SNOOPED_CODE = 212
    SNOOPED_L2I_HIT = 213
    SNOOPED_WRITE = 214
    SNOOPED_CASTOUT = 215
    LEVEL_CHANGED = 216
    FLOAT_INTERRUPTED = 217
    CHECK_FAILED = 218
    FLOAT_CHECK_FAILED = 219
    TINY_FLUSHED = 220
    TINY_KEPT = 221
    CORE_L1D_READ_MISS = 222
    CORE_L1D_WRITE_MISS = 223
    CORE_L1I_MISS = 224
    CORE_LOAD_WALK = 225
    CORE_STORE_WALK = 226
    CORE_ITLB_MISS = 227
    CORE_LLC_REFERENCE = 228
    CORE_LLC_MISS = 229
    CORE_MISPREDICTED_NOT_TAKEN = 230
    CORE_MISPREDICTED_TAKEN = 231
    CORE_MISPREDICTED_CALL = 232
    CORE_MISPREDICTED_RETURN = 233
    CORE_MISPREDICTED_JUMP = 234
    CORE_LOAD_MISS_CYCLE = 235
    CORE_LOAD_IN_FLIGHT = 236
    CORE_LOAD_L2 = 237
    CORE_LOAD_L3 = 238
    CORE_LOAD_MEMORY = 239
    CORE_LOAD_WALKED = 240
    CORE_STORE_WALKED = 241
    CORE_LOAD_SPLIT = 242
    CORE_STORE_SPLIT = 243
    CORE_LOCK_SPLIT = 244
    CORE_LOAD_PAGE_SPLIT = 245
    CORE_LOAD_SNOOP_MISS = 246
    CORE_LOAD_SNOOP_HIT = 247
    CORE_LOAD_SNOOP_HITM = 248
    CORE_LOAD_SECOND_TLB = 249
    CORE_STORE_SECOND_TLB = 250
    CORE_LOAD_WALK_CYCLE = 251
    CORE_STORE_WALK_CYCLE = 252
    CORE_LOAD_BLOCKED = 253
    CORE_LOAD_ALIASED = 254
    CORE_LOAD_FORWARDED = 255
    CORE_READ_L2 = 256
    CORE_READ_L3 = 257
    CORE_READ_MEMORY = 258
    CORE_OWN_L2 = 259
    CORE_OWN_L3 = 260
    CORE_OWN_MEMORY = 261
    CORE_FETCH_L2 = 262
    CORE_FETCH_L3 = 263
    CORE_FETCH_MEMORY = 264
    CORE_SOFTWARE_L2 = 265
    CORE_SOFTWARE_L3 = 266
    CORE_SOFTWARE_MEMORY = 267
    CORE_PREFETCH_HIT = 268
    CORE_PREFETCH_L3 = 269
    CORE_PREFETCH_MEMORY = 270
    CORE_CODE_PREFETCH_HIT = 271
    CORE_CODE_PREFETCH_L3 = 272
    CORE_CODE_PREFETCH_MEMORY = 273
    CORE_READ_CYCLE = 274
    CORE_OWN_CYCLE = 275
    CORE_FETCH_CYCLE = 276
    CORE_READ_MEMORY_CYCLE = 277
    CORE_L2_DROPPED = 278
    CORE_L2_WRITTEN = 279
    CORE_FETCH_SECOND_TLB = 280
    CORE_FETCH_WALK_CYCLE = 281
    CORE_FETCH_TRANSLATION_CYCLE = 282
    CORE_FETCH_LINE_CYCLE = 283
    CORE_REDIRECTED = 284
    CORE_DECODED_SLOT = 285
    CORE_CACHED_SLOT = 286
    CORE_LOOPED_SLOT = 287
    CORE_DECODED_INSTRUCTION = 288
    CORE_CACHE_LEFT = 289
    CORE_FULL_CYCLE = 290
    CORE_STORES_FULL_CYCLE = 291
    CORE_UNDELIVERED_SLOT = 292
    CORE_UNDELIVERED_CYCLE = 293
    CORE_LOAD_HIT = 294
    CORE_SLOT = 295
    CORE_UOP = 296
    CORE_DIVIDER_CYCLE = 297
    CORE_FUSED = 298
    CORE_MICROCODE_SLOT = 299
    CORE_INTEGER_DIVIDER_CYCLE = 300
    DATA_EAR_CAPTURED = 301
    INSTRUCTION_EAR_CAPTURED = 302
    BRANCH_CAPTURED = 303
    OCCURRENCES = 304

# inorder/records/record_observer.pyx

class RecordObserver(EventSetConsumer):
    """Observes a machine's records while they are made."""

@final
class RecordReporting:
    """``replay``: of the blocks whose records are shown."""

# inorder/records/records.pxd

class BubbleKind(IntEnum):
    BUBBLE_BACK = 0
    BUBBLE_FRONT = 1
    BUBBLE_IDEAL = 2
    BUBBLE_LOST = 3
    BUBBLE_ENTRANCE = 4

# inorder/records/records.pyx

_Part = tuple[int | None, int, int, int, tuple[tuple[int, int, int, int], ...]]
"""Block, first and last instruction, executed ones, events: (instruction, occurrence, in the data ranges, times)."""

@final
class Records:
    """Issue groups and lost cycles, in some event sets or in all."""

    lost: bool
    max_records: int

    def cycles_with_issue(self, event_sets: Iterable[int] | None = None) -> int: ...
    def bubbles(self, kind: int, event_sets: Iterable[int] | None = None) -> list[tuple[int | None, int, int, int]]: ...
    def groups(self, event_sets: Iterable[int] | None = None) -> Iterator[tuple[tuple[_Part, ...], int]]: ...
    def occurrences(self, event_sets: Iterable[int] | None = None) -> dict[tuple[int | None, int, int, int], int]: ...
    def dispersal(self, event_sets: Iterable[int] | None = None) -> Iterator[tuple[int, int, int, int]]: ...
    def sizes(self) -> tuple[int, int, int]: ...

@final
class Totals:
    """Counts of some event sets, added up; a copy, as the records may grow while they are read."""

# inorder/smt/coupled_machines.pyx

@disjoint_base
class CoupledMachines:
    """Two coupled machines."""

    def run(self, machines: Sequence[Machine], readers: Sequence[Consumer], rings: Sequence[Ring]) -> None: ...

@disjoint_base
class SwitchedThread:
    """The base class does nothing."""

# inorder/smt/hardware_thread.pyx

@final
class HardwareThread(SwitchedThread):
    """The thread of ``machine``."""

# inorder/smt/thread_evictions.pyx

@final
class ThreadEvictions:
    """Evictions of a hardware thread's lines by the other."""

    lost: bool
    def misses(self, thread: int) -> int: ...

# inorder/smt/thread_switch.pxd

class SwitchCause(IntEnum):
    BY_L3 = 0
    BY_TIMER = 1
    BY_HINT = 2
    BY_LOW_POWER = 3
    SWITCH_CAUSES = 4

class SwitchPolicy(IntEnum):
    PERFORMANCE_POLICY = 0
    FAIRNESS_POLICY = 1
    HIGH_PRIORITY_POLICY = 2
    EXCLUSIVE_POLICY = 3

# inorder/smt/thread_switch.pyx

POLICIES: dict[str, int]

@final
class ThreadSwitch(CoupledMachines):
    """Switch-on-event multithreading of two hardware threads of a core."""

    whole_system: bool

    lost: bool
    def __new__(cls, config: Mapping[str, Value]) -> Self: ...
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
    def interrupt_other(self) -> None: ...
    def set_policy_of_running(self, policy: int) -> None: ...
    def hand_over_at(self, at: int) -> int: ...
    def account_evictions(self, name: str, store: TagStore) -> None: ...
    def evictions(self, thread: int) -> dict[str, int]: ...

# interval/cache_contents.pxd

class TranslationLevel(IntEnum):
    FIRST_TLB = 0
    SECOND_TLB = 1
    PAGE_WALK = 2

# interval/cache_contents.pyx

@final
class CacheContents:
    """Contents of caches and TLBs, without time. ``config``: the figures of the caches, TLBs and prefetchers."""

    l1d: RecencySets
    l1i: RecencySets
    l2: RecencySets
    l3: RecencySets
    dtlb: RecencySets
    itlb: RecencySets
    tlb2: RecencySets
    def __new__(cls, config: Mapping[str, Value]) -> Self: ...

# interval/cache_hierarchy.pxd

class CacheLevel(IntEnum):
    LEVEL_L1 = 0
    LEVEL_L2 = 1
    LEVEL_L3 = 2
    LEVEL_MEMORY = 3

# interval/cache_hierarchy.pyx

@final
class Hierarchy:
    """``config``: the figures of the caches, memory and prefetchers."""

    l1d: LruSets
    l1i: LruSets
    l2: LruSets
    l3: LruSets

@final
class IntervalTlbs:
    """``config``: the figures of the TLBs."""

    data: LruSets
    code: LruSets
    second: LruSets

# interval/coherent_caches.pxd

class SnoopAnswer(IntEnum):
    SNOOP_NONE = 0
    SNOOP_MISS = 1
    SNOOP_HIT = 2
    SNOOP_HITM = 3

# interval/coherent_caches.pyx

@final
class CoherentCaches:
    """Private caches of several cores, kept coherent."""

    def __new__(cls, cores: int, inclusive: bool) -> Self: ...
    cores: int
    def watch(self) -> None: ...
    def modified_elsewhere(self) -> list[tuple[int, int, int, int, int, int]]: ...
    def counts(self) -> list[dict[str, int]]: ...

# interval/event_tallies.pxd

class StallCause(IntEnum):
    STALL_WINDOW_L2 = 0
    STALL_WINDOW_L3 = 1
    STALL_WINDOW_MEMORY = 2
    STALL_DTLB = 3
    STALL_STORES = 4
    STALL_BRANCH = 5
    STALL_REDIRECT = 6
    STALL_L1I = 7
    STALL_ITLB = 8

# interval/event_tallies.pyx

@final
class EventTallies:
    """Event counts, until they are written to the records; or at once, with an observer."""

@disjoint_base
class CycleListener:
    """Listener for every cycle of an out-of-order machine."""

    following: CycleListener | None

# interval/interval_blocks.pyx

@final
class IntervalBlocks:
    """``width``: instructions that dispatch in a cycle; ``line``: bytes of a line of L1I."""

    table: BlockTable

# interval/interval_cores.pyx

@final
class IntervalCores(EventSetConsumer):
    """The threads of a program on several out-of-order cores: thread n on core n modulo their number."""

    def __new__(
        cls,
        config: Mapping[str, Value],
        table: BlockTable,
        event_sets: int,
        timings: CoreTimings | None,
        graphs: bool,
        cores: int,
    ) -> Self: ...
    machines: list[IntervalMachine]
    coherent: CoherentCaches
    def clock(self, core: int) -> int: ...
    def cycles_of_cores(self) -> list[tuple[int, int]]: ...
    @property
    def records(self) -> Records: ...
    @property
    def cycles(self) -> int: ...
    def record_events(self, executions: bool, sources: bool) -> None: ...
    def set_observer(self, observer: RecordObserver) -> None: ...
    def listen(self, listener: CaptureListener | None, event_set: int = 0) -> None: ...
    def switch_event_set(self, event_set: int) -> None: ...
    def update_records(self, next_ip: int) -> None: ...
    def show_records(self) -> None: ...
    def finish(self) -> None: ...
    def omissions(self) -> list[tuple[str, float]]: ...
    def time(self, event_sets: Iterable[int] | None = None) -> tuple[int, int]: ...
    def kernel_clock(self, event_sets: Iterable[int] | None = None) -> int: ...
    def occurrences(self, event_sets: Iterable[int] | None = None) -> dict[tuple[int | None, int, int, int], int]: ...
    def bubbles(self, event_sets: Iterable[int] | None = None) -> list[tuple[int | None, int, int, int]]: ...
    def levels(self, event_sets: Iterable[int] | None = None) -> dict[str, list[int]]: ...

def check_coherent(config: Mapping[str, Value]) -> None: ...

# interval/interval_machine.pyx

@final
class IntervalMachine(MissEvents):
    """Timing model of a traced stream on an out-of-order core."""

    def __new__(
        cls,
        config: Mapping[str, Value],
        table: BlockTable,
        event_sets: int = 1,
        timings: CoreTimings | None = None,
        graphs: bool = True,
        cores: CoherentCaches | None = None,
        core: int = 0,
        beside: MissEvents | None = None,
    ) -> Self: ...
    def switch_event_set(self, event_set: int) -> None: ...
    def set_observer(self, observer: RecordObserver) -> None: ...
    def listen(self, listener: CaptureListener | None, event_set: int = 0) -> None: ...
    def listen_to_cycles(self, listener: CycleListener | None, event_set: int = 0) -> None: ...
    def update_records(self, next_ip: int) -> None: ...
    def show_records(self) -> None: ...
    def finish(self) -> None: ...
    def time(self, event_sets: Iterable[int] | None = None) -> tuple[int, int]: ...
    def kernel_clock(self, event_sets: Iterable[int] | None = None) -> int: ...
    def omissions(self) -> list[tuple[str, float]]: ...
    @property
    def cycles(self) -> int: ...
    def occurrences(self, event_sets: Iterable[int] | None = None) -> dict[tuple[int | None, int, int, int], int]: ...
    def bubbles(self, event_sets: Iterable[int] | None = None) -> list[tuple[int | None, int, int, int]]: ...
    def levels(self, event_sets: Iterable[int] | None = None) -> dict[str, list[int]]: ...

# interval/interval_paths.pyx

@final
class IntervalPaths:
    """``blocks``: the plans of the blocks."""

    def __new__(cls, blocks: IntervalBlocks) -> Self: ...

# interval/interval_predictor.pxd

class BranchVerdict(IntEnum):
    FORESEEN = 0
    LATE = 1
    MISPREDICTED = 2

# interval/interval_predictor.pyx

@final
class IntervalPredictor:
    """``config``: the figures of the table ``predictor``."""

    def __new__(cls, config: Mapping[str, Value]) -> Self: ...
    def direction(self, address: int, taken: bool) -> bool: ...
    def target(self, kind: int, address: int, behind: int, target: int) -> int: ...

# interval/loop_counters.pyx

@final
class LoopCounters:
    """Counters of branches that go one way the same number of times, then once the other way."""

    def __new__(cls, entries: int, longest: int) -> Self: ...

# interval/lru_sets.pyx

@final
class LruSets:
    """Sets of numbers in the order of use."""

    sets: int
    ways: int
    shift: int
    def __new__(cls, sets: int, ways: int, shift: int) -> Self: ...
    def use(self, number: int) -> bool: ...
    def drop(self, number: int) -> None: ...
    def contents(self) -> list[list[int]]: ...

def cache_sets(config: Mapping[str, Value], name: str) -> LruSets: ...
def tlb_sets(config: Mapping[str, Value], name: str, shift: int) -> LruSets: ...

# interval/miss_events.pyx

@disjoint_base
class MissEvents(EventSetConsumer):
    """``config``: the machine's figures; ``event_sets``: number of event sets in the records."""

    def __new__(
        cls,
        config: Mapping[str, Value],
        table: BlockTable,
        event_sets: int = 1,
        timings: CoreTimings | None = None,
        graphs: bool = True,
        cores: CoherentCaches | None = None,
        core: int = 0,
        beside: MissEvents | None = None,
    ) -> Self: ...
    def record_events(self, executions: bool, sources: bool) -> None: ...
    def count_slots(self) -> None: ...
    def keep_timeline(
        self, ranges: Iterable[tuple[int, int]] = (), iterations: int = 4, rows: int = 1024, captures: int = 64
    ) -> CoreTimeline | None: ...
    def issue_slots(self) -> tuple[int, int, int, int, int] | None: ...
    core: OutOfOrderCore | None
    records: Records
    caches: Hierarchy
    translations: IntervalTlbs
    predictor: IntervalPredictor

# interval/miss_machine.pyx

@disjoint_base
class MissListener:
    """Listener for each run of a plan: a model of time."""

@final
class MissMachine(RunCounter):
    """Misses and mispredictions of a traced stream, without time."""

    records: Records
    caches: CacheContents
    predictor: IntervalPredictor
    def __new__(cls, config: Mapping[str, Value], table: BlockTable) -> Self: ...
    def update_records(self, next_ip: int) -> None: ...
    def show_records(self) -> None: ...
    def finish(self) -> None: ...
    def occurrences(self, event_sets: Iterable[int] | None = None) -> dict[tuple[int | None, int, int, int], int]: ...

# interval/recency_sets.pyx

@final
class RecencySets:
    """Sets of lines in the order of use, as vectors."""

    sets: int
    def __new__(cls, sets: int, ways: int, shift: int) -> Self: ...
    def use(self, line: int) -> bool: ...
    def drop(self, line: int) -> None: ...
    def contents(self) -> list[list[int]]: ...

def recency_cache(config: Mapping[str, Value], name: str) -> RecencySets: ...
def recency_tlb(config: Mapping[str, Value], name: str) -> RecencySets: ...

# interval/tage_predictor.pyx

@final
class TagePredictor:
    """Direction and indirect targets by address and path. ``config``: the figures of the table ``predictor``."""

    lengths: list[int]
    def __new__(cls, config: Mapping[str, Value]) -> Self: ...

# interval/window.pyx

@final
class Window:
    """``size``: instructions that the window holds; ``stores``: store misses that may be outstanding."""

# interval/word_plans.pyx

@final
class WordPlans:
    """Plans of blocks and paths, for these caches and this predictor."""

    table: BlockTable
    def __new__(cls, table: BlockTable, caches: CacheContents, predictor: IntervalPredictor) -> Self: ...

# replacement/replacement.pyx

@disjoint_base
class ReplacementPolicy:
    """Chooses the victim of a full set of ``ways`` lines."""

    def __new__(cls, sets: int, ways: int) -> Self: ...

# replacement/replacement_lru.pyx

@final
class LruPolicy(ReplacementPolicy): ...

# replacement/replacement_nru.pyx

@final
class NruPolicy(ReplacementPolicy): ...

# replacement/replacement_plru.pyx

@final
class PlruPolicy(ReplacementPolicy): ...

# replacement/replacement_random.pyx

@final
class RandomPolicy(ReplacementPolicy): ...

# replacement/replacement_registry.pyx

REPLACEMENTS: dict[str, type[ReplacementPolicy]]

def replacement_policy(name: str, sets: int, ways: int) -> ReplacementPolicy: ...
