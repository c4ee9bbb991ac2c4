"""Intel's counters on a stream of x86-64 blocks: what they come to follows from the blocks, written by hand."""

import random
from collections.abc import Sequence

import pytest
from grids import first_quick
from hypothesis import given
from hypothesis import strategies as st
from x86_blocks import CALL, JUMP, LENGTH, LOAD, OTHER_FLAGS, PLAIN, RETURN, STORE, block, table_of

from pfmon.counting.live.live_unit import LiveUnit, Overflow
from pfmon.counting.totals.counting_unit import CountingUnit
from pfmon.errors import PfmonError
from pfmon.pmu import get
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.registers.msr_file import MsrFile
from pfmon.signals.signal_terms import INSTRUCTION, terms
from pfmon.stream._stream import BlockTable, Recorder

TAKEN = 1 << 32
WRAP = 1 << 40
# IA32_PERFEVTSELx and IA32_FIXED_CTR_CTRL (sections 30.2.1.1 and 30.2.2).
USR, OS, E, INT, EN, INV, CMASK_2 = 1 << 16, 1 << 17, 1 << 18, 1 << 20, 1 << 22, 1 << 23, 2 << 24
INSTRUCTIONS, BRANCHES, REFERENCE = 0xC0, 0xC4, 0x13C
FIXED_USR, FIXED_OS, FIXED_PMI = 2, 1, 8
FREEZE_PERFMON_ON_PMI = 1 << 12

BODY = [PLAIN, LOAD, STORE, PLAIN, JUMP]  # ends with a conditional jump
TABLE = [
    block(0x401000, BODY, conditional=True),
    block(0x40100F, [PLAIN, CALL]),
    block(0x402001, [LOAD, RETURN]),
    block(0x401015, [PLAIN, PLAIN, PLAIN]),
]
LENGTHS = [5, 2, 2, 3]
ENDS_WITH_BRANCH = [1, 1, 1, 0]
MODELS = [get("intel_v1"), get("intel_v2")]


def a_run(pick: random.Random, blocks: int = 400) -> list[int]:
    """Words of a stream without addresses."""
    numbers = pick.choices(range(len(TABLE)), k=blocks)
    return [number | (TAKEN if not number and pick.random() < 0.5 else 0) for number in numbers]


def instructions_of(words: Sequence[int]) -> int:
    return sum(LENGTHS[word & 0xFF] for word in words)


def branches_of(words: Sequence[int]) -> int:
    return sum(ENDS_WITH_BRANCH[word & 0xFF] for word in words)


def file_of(model: PmuModel, writes: dict[str, int]) -> MsrFile:
    file = model.register_file()
    assert isinstance(file, MsrFile)
    for name, value in writes.items():
        file.write(name, value)
    file.run_program()
    return file


def counted(model: PmuModel, file: MsrFile, words: Sequence[int], table: BlockTable) -> dict[int, int]:
    """What a counting unit makes of a stream, by number of the counter."""
    unit = CountingUnit(model, file)
    assert not unit.wants_machine and not unit.wants_addresses
    tally = unit.tally(table)
    recorder = Recorder()
    recorder.load(words)
    recorder.replay(tally)
    totals = unit.count(table, tally).totals()
    return {monitor.pmd: total for monitor, total in zip(unit.monitors, totals, strict=True)}


def test_the_exact_events_look_at_no_kind_of_one_instruction_set_alone() -> None:
    for model in MODELS:
        for event in model.events:
            if event.fidelity == "exact":
                own = terms()[event.signal]
                assert {term.source for term in own} == {INSTRUCTION}
                assert all(term.kinds.isa_wanted == term.kinds.isa_unwanted == 0 for term in own)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("isa_kind", [0, OTHER_FLAGS], ids=["no flags", "all flags of its own"])
def test_instructions_and_branches_are_those_of_the_blocks_that_ran(model: PmuModel, isa_kind: int) -> None:
    table = table_of([block(0x10000 * n, BODY, True, isa_kind) for n in range(1, 3)])
    file = file_of(model, {"ia32_perfevtsel0": INSTRUCTIONS | USR | EN, "ia32_perfevtsel1": BRANCHES | USR | EN})
    words = [0, TAKEN, 1, 0, 1 | TAKEN]  # five runs of five instructions, the last of each a branch, taken or not
    assert counted(model, file, words, table) == {0: 25, 1: 5}


@pytest.mark.slow
@given(st.integers(0, 2**32), st.integers(0, 3), st.integers(0, 31))
def test_levels_and_enables_decide_what_counts(seed: int, levels: int, enables: int) -> None:
    """A program runs at level 3: USR lets a counter count, OS does not; each needs its enable as well."""
    words = a_run(random.Random(seed), 20)
    select = (USR if levels & 2 else 0) | (OS if levels & 1 else 0) | EN
    everything = {0: instructions_of(words), 1: branches_of(words), 32: instructions_of(words)}
    file = file_of(
        MODELS[1],
        {
            "ia32_perfevtsel0": INSTRUCTIONS | select,
            "ia32_perfevtsel1": BRANCHES | select,
            "ia32_fixed_ctr_ctrl": levels,
            "ia32_perf_global_ctrl": enables & 3 | (enables >> 2 & 1) << 32,
        },
    )
    on = [number for number, bit in ((0, 0), (1, 1), (32, 2)) if enables >> bit & 1 and levels & 2]
    assert counted(MODELS[1], file, words, table_of(TABLE)) == {number: everything[number] for number in on}


@pytest.mark.parametrize(
    ("select", "text"),
    [
        (REFERENCE | CMASK_2, "CPU_CLK_UNHALTED.REF: CMASK, INV and E look at cycles of the core"),
        (REFERENCE | CMASK_2 | INV, "CPU_CLK_UNHALTED.REF: CMASK, INV and E look at cycles of the core"),
        (REFERENCE | E, "CPU_CLK_UNHALTED.REF: CMASK, INV and E look at cycles of the core"),
        (0x1234, "IA32_PERFEVTSEL0: event code 0x34 with unit mask 0x12"),
    ],
)
def test_what_cannot_be_counted_is_refused(select: int, text: str) -> None:
    for model in MODELS:
        with pytest.raises(PfmonError, match=text) as caught:
            CountingUnit(model, file_of(model, {"ia32_perfevtsel0": select | USR | EN}))
        assert "\n" not in str(caught.value)


class Handler:
    """A driver on the registers: takes what overflowed and loads the periods anew; ``at``: addresses and stamps."""

    def __init__(self, file: MsrFile, periods: dict[int, int]) -> None:
        self.file, self.periods = file, periods
        self.at: list[tuple[tuple[int, ...], int, int]] = []
        self.status: list[int] = []
        self.frozen: list[bool] = []
        self.load(periods)

    def load(self, pmds: dict[int, int]) -> None:
        self.file.store({pmd: WRAP - self.periods[pmd] for pmd in pmds})

    def __call__(self, overflow: Overflow) -> None:
        self.at.append((overflow.pmds, overflow.address, overflow.retired))
        self.status.append(self.file.contents().get("ia32_perf_global_status", 0))
        self.frozen.append(self.file.frozen)
        assert self.file.interrupt
        assert tuple(self.file.take_overflows()) == overflow.pmds
        self.load(dict.fromkeys(overflow.pmds, 0))


def live(model: PmuModel, file: MsrFile, words: Sequence[int], handler: Handler) -> LiveUnit:
    recorder = Recorder()
    recorder.load(words)
    unit = LiveUnit(model, file, table_of(TABLE), False, handler)
    recorder.replay(unit.consumer)
    unit.finish()
    return unit


def addresses_of(words: Sequence[int]) -> list[int]:
    """The instructions that retired, one after the other."""
    return [TABLE[word & 0xFF].ip + LENGTH * i for word in words for i in range(LENGTHS[word & 0xFF])]


@pytest.mark.parametrize("freeze", first_quick([False, True]), ids=["runs on", "frozen on PMI"])
@given(st.integers(0, 2**32), st.integers(1, 60))
def test_a_fixed_counter_overflows_at_every_nth_instruction(freeze: bool, seed: int, period: int) -> None:
    words = a_run(random.Random(seed), 60)
    writes = {
        "ia32_debugctl": FREEZE_PERFMON_ON_PMI if freeze else 0,
        "ia32_fixed_ctr_ctrl": FIXED_USR | FIXED_PMI,
        "ia32_perf_global_ctrl": 1 << 32,
    }
    handler = Handler(file := file_of(MODELS[1], writes), {32: period})
    live(MODELS[1], file, words, handler)
    path = addresses_of(words)
    stamps = range(period, len(path) + 1, period)
    assert handler.at == [((32,), path[stamp - 1], stamp) for stamp in stamps]
    assert set(handler.status) <= {1 << 32} and set(handler.frozen) <= {freeze}
    assert file.count(32) == (WRAP - period + len(path) % period) % WRAP


@pytest.mark.parametrize("model", first_quick(MODELS), ids=lambda model: model.name)
@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 20))
def test_general_counters_overflow_each_at_its_own_period(
    model: PmuModel, seed: int, instructions: int, branches: int
) -> None:
    words = a_run(random.Random(seed), 60)
    writes = {
        "ia32_perfevtsel0": INSTRUCTIONS | USR | INT | EN,
        "ia32_perfevtsel1": BRANCHES | USR | INT | EN,
    }
    handler = Handler(file := file_of(model, writes), {0: instructions, 1: branches})
    live(model, file, words, handler)
    found: list[tuple[tuple[int, ...], int, int]] = []
    retired = branched = 0
    for word in words:  # the plain way
        for i in range(LENGTHS[word & 0xFF]):
            retired += 1
            is_branch = ENDS_WITH_BRANCH[word & 0xFF] and i == LENGTHS[word & 0xFF] - 1
            branched += is_branch
            over = [0] if retired % instructions == 0 else []
            over += [1] if is_branch and branched % branches == 0 else []
            if over:
                found.append((tuple(over), TABLE[word & 0xFF].ip + LENGTH * i, retired))
    assert handler.at == found


def test_a_freeze_that_nobody_ends_stops_all_counters() -> None:
    words = [3] * 10  # 30 instructions
    writes = {
        "ia32_debugctl": FREEZE_PERFMON_ON_PMI,
        "ia32_perfevtsel0": INSTRUCTIONS | USR | EN,
        "ia32_fixed_ctr_ctrl": FIXED_USR | FIXED_PMI,
        "ia32_perf_global_ctrl": 1 | 1 << 32,
    }
    file = file_of(MODELS[1], writes)
    file.store({32: WRAP - 13})
    recorder = Recorder()
    recorder.load(words)
    unit = LiveUnit(MODELS[1], file, table_of(TABLE), False, lambda overflow: None)
    recorder.replay(unit.consumer)
    unit.finish()
    assert (file.count(0), file.count(32)) == (13, 0)
    assert file.read("ia32_perf_global_status") == 1 << 32 and file.read("ia32_perf_global_ctrl") == 0


def test_what_a_listener_writes_counts_from_the_next_instruction_on() -> None:
    """At the 7th instruction the fixed counter is switched off and a general one set to branches."""
    file = file_of(MODELS[1], {"ia32_fixed_ctr_ctrl": FIXED_USR | FIXED_PMI, "ia32_perf_global_ctrl": 1 << 32})
    file.store({32: WRAP - 7})

    def change(overflow: Overflow) -> None:
        file.write("ia32_perfevtsel1", BRANCHES | USR | EN)
        file.write("ia32_perf_global_ctrl", 1 << 1)

    recorder = Recorder()
    recorder.load([0, 1, 2, 3])  # 5, 2, 2, 3 instructions; branches are the 5th, 7th and 9th
    unit = LiveUnit(MODELS[1], file, table_of(TABLE), False, change)
    recorder.replay(unit.consumer)
    unit.finish()
    assert (file.count(32), file.count(1)) == (0, 1)
