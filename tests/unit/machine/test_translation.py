"""Data translation: prefetches walk, both TLBs are asked at once, L1D is prevalidated, absent pages leave nothing."""

from collections import Counter

import pytest
from enumerated import members
from grids import each
from ia64_machine import DATA, UNMAPPED
from machine_code import bubbles_of, loop, run_code

from pfmon.isa.ia64._encodings import AccessFlag, AccessType
from pfmon.machine._machine import L2, Cause, DataMemory, Machine, Occurrence
from pfmon.machine.config.machine_config import load

LOAD, FLOAT_LOAD, STORE, LFETCH = members(AccessType, "ACCESS", "LOAD FLOAT_LOAD STORE LFETCH")
PAGE, PIECE, LINE = 16 << 10, 4 << 10, 64
START = 1 << 20
LONG = 10_000
WALK, TRANSFER = 15, 4  # 7-cpu.com's figures for the Itanium 2
L1D, L2D = 1, 5  # Montecito manual, table 2-8, note 3
MACHINES = ["itanium2", "montecito"]


class Side:
    """The data side of a machine; accesses are so far apart that each finds the ones before ended."""

    def __init__(self, machine: str, *figures: str) -> None:
        self.machine = machine
        self.config = load(machine, figures)
        self.memory = DataMemory(self.config, L2(self.config))
        self.now = LONG
        self.seen: Counter[str] = Counter()

    def access(self, address: int, kind: int = LOAD, after: int = LONG, flags: int = 0) -> tuple[int, dict[Cause, int]]:
        """Cycles until the value can be used, and those for which the pipeline stood still, by cause."""
        self.now += after
        ready, stalls, noted = self.memory.access_at(address, kind, self.now, 8, flags)
        for occurrence, times in noted:
            self.seen[Occurrence(occurrence).name] += times
        return ready - self.now, {Cause(cause): cycles for cause, cycles in stalls}

    def touch(self, places: range, kind: int = LOAD) -> None:
        """Accesses that are not looked at."""
        for place in places:
            self.access(place, kind)
        self.seen.clear()


@pytest.fixture(params=MACHINES)
def side(request: pytest.FixtureRequest) -> Side:
    return Side(request.param)


# --- line prefetches (lfetch)


def test_line_prefetches_to_touched_pages_walk(side: Side) -> None:
    """Section 4.10: a memory operation that misses the L2 DTLB starts the walker, which puts in what it finds."""
    pages = range(START, START + 400 * PAGE, PAGE)
    side.touch(pages)
    side.touch(range(pages.stop, pages.stop + 256 * PAGE, PAGE))  # the 128 entries hold none of them any more
    stalls = [side.access(page + 256, LFETCH)[1] for page in pages]
    assert {cause for one in stalls for cause in one} == {Cause.L1D_HPW}
    assert min(one[Cause.L1D_HPW] for one in stalls) == WALK
    assert side.seen["L2DTLB_MISS"] == side.seen["HPW_READ"] == side.seen["DTLB_WALKED"] == 400
    assert side.seen["LFETCH_DROPPED"] == side.seen["DTLB_FILLED"] == 0
    assert side.access(pages[-1] + 256) == (L1D, {})


def test_a_line_prefetch_to_a_page_that_nobody_touched_comes_to_nothing(side: Side) -> None:
    """It takes no fault: the walker finds nothing, and no translation is put in."""
    side.touch(range(START, START + PAGE, PAGE))
    for turn in range(2):
        stalls = side.access(START + PAGE, LFETCH)[1]
        assert Cause.XPN not in stalls and Cause.L1D_HPW in stalls
        assert side.seen["HPW_READ"] == side.seen["LFETCH_DROPPED"] == turn + 1
    assert side.seen["L2_OP_LFETCH"] == 0
    assert Cause.XPN in side.access(START + PAGE)[1]


def test_a_line_prefetch_that_faults_touches_the_page_as_a_load_does(side: Side) -> None:
    """SDM volume 3, lfetch: with .fault it takes the faults that it drops otherwise."""
    loading = Side(side.machine)
    for one in (side, loading):
        one.touch(range(START, START + PAGE, PAGE))
    stalls = side.access(START + PAGE, LFETCH, flags=int(AccessFlag.ACCESS_FAULTING))[1]
    wanted = loading.access(START + PAGE)[1]
    assert {cause: stalls[cause] for cause in (Cause.XPN, Cause.KERNEL)} == {
        cause: wanted[cause] for cause in (Cause.XPN, Cause.KERNEL)
    }
    assert side.seen["DTLB_FILLED"] == side.seen["L2_OP_LFETCH"] == 1 and side.seen["LFETCH_DROPPED"] == 0
    assert Cause.XPN not in side.access(START + PAGE)[1]


@pytest.mark.parametrize("machine", MACHINES)
def test_line_prefetches_take_entries_of_the_queue_and_stop_the_pipeline_when_it_is_full(machine: str) -> None:
    """Table 2-9: 32 entries of the OzQ in front of 16 misses: the 49th finds no room."""
    side = Side(machine, "vhpt.page=4G", "dtlb1.page=4G")
    side.touch(range(START, START + 1))
    side.now += LONG
    stalls = [side.access(START + (1 << 22) + 128 * number, LFETCH, after=1)[1] for number in range(49)]
    assert not any(stalls[:48])
    assert set(stalls[48]) == {Cause.L1D_L2BPRESS}
    assert side.seen["L2_OP_LFETCH"] == 49


# --- prevalidation


def test_lines_of_l1d_go_with_the_entry_of_the_first_level_tlb(side: Side) -> None:
    """Section 2.4.3.1: 33 pieces of 4 KB in 32 entries; a line each, so that L1D has room for all."""
    lines = range(START, START + 33 * (PIECE + LINE), PIECE + LINE)
    side.touch(lines)
    side.touch(lines)
    assert side.access(lines[0]) == (TRANSFER + L2D, {Cause.L1D_TLB: TRANSFER})
    assert side.access(lines[0]) == (L1D, {})


def test_without_prevalidation_the_line_stays() -> None:
    side = Side("itanium2", "l1d.prevalidated=false")
    lines = range(START, START + 33 * (PIECE + LINE), PIECE + LINE)
    side.touch(lines)
    side.touch(lines)
    assert side.access(lines[0]) == (TRANSFER + L1D, {Cause.L1D_TLB: TRANSFER})


def test_every_line_of_the_page_goes_and_none_of_others(side: Side) -> None:
    side.touch(range(START, START + PIECE, LINE))
    side.touch(range(START + PIECE, START + PIECE + 1))
    side.touch(range(START + 2 * PIECE, START + 32 * PIECE, PIECE), STORE)  # stores bring no lines
    side.touch(range(START + PIECE, START + PIECE + 1))
    side.access(START + 32 * PIECE, STORE)
    side.seen.clear()
    assert side.access(START + PIECE) == (L1D, {})
    for line in range(START, START + PIECE, LINE):
        assert side.access(line, LOAD)[0] >= L2D
    assert side.seen["L1D_READ_MISS"] == PIECE // LINE


# --- both levels are asked at once

OTHERS = range(START + PAGE, START + PAGE + 129 * (PAGE + 2 * LINE), PAGE + 2 * LINE)  # a page each, and a set of L2


def test_a_hit_in_the_first_level_alone_walks(side: Side) -> None:
    """Section 4.10: L1DTLB hit, L2DTLB miss: the walker inserts. Floating-point loads use the second level alone, so
    129 pages of theirs leave the first level as it is."""
    side.touch(range(START, START + 1))
    side.touch(OTHERS, FLOAT_LOAD)
    assert side.access(START) == (WALK + L1D, {Cause.L1D_HPW: WALK})
    assert side.seen["L2DTLB_MISS"] == side.seen["HPW_READ"] == side.seen["DTLB_WALKED"] == 1
    assert side.seen["L1DTLB_MISS"] == side.seen["L1DTLB_TRANSFER"] == side.seen["L1D_READ_MISS"] == 0
    assert side.access(START) == (L1D, {})


def test_a_page_that_came_back_to_the_second_level_needs_nothing(side: Side) -> None:
    """Both levels hit: no action is taken."""
    side.touch(range(START, START + 1))
    side.touch(OTHERS, FLOAT_LOAD)
    side.access(START + 8, FLOAT_LOAD)
    assert side.access(START) == (L1D, {})


# --- speculative loads of pages that do not exist


def times(found: Machine, occurrence: str) -> int:
    return sum(n for (_, _, o, _), n in found.occurrences().items() if Occurrence(o).name == occurrence)


def absent(times_: int, machine: str, load_: str = "ld8.s r11=[r23]") -> Machine:
    """So many loads of a page that is not there, whose neighbour was touched before (and with it the VHPT's page)."""
    touched = [f"movl r24={DATA:#x}", "ld8 r10=[r24]", f"movl r23={UNMAPPED:#x}"]
    return run_code([*touched, *loop([load_], times_)], machine)


@each("machine", [*MACHINES, "itanium"])
@each("kind", ["ld8.s r11=[r23]", "ldfd.s f9=[r23]"])
def test_each_speculative_load_of_an_absent_page_walks(machine: str, kind: str) -> None:
    """No translation stays: a thousand loads miss the L2 DTLB a thousand times, and the operating system is asked."""
    few, many = (absent(number, machine, kind) for number in (1, 1001))
    for occurrence in ("L2DTLB_MISS", "HPW_READ"):
        assert times(many, occurrence) - times(few, occurrence) == 1000
    for occurrence in ("DTLB_WALKED", "DTLB_FILLED", "L2_OP_LOAD", "L1D_READ_MISS", "L2_OP_FLOAT_LOAD"):
        assert times(many, occurrence) == times(few, occurrence), occurrence
    faults = bubbles_of(many) - bubbles_of(few)
    assert faults["XPN"] == 1000 * load(machine)["pipeline.exception_flush"]
    assert faults["KERNEL"] == 1000 * load(machine)["vhpt.software"]


@pytest.mark.parametrize("machine", MACHINES)
def test_a_load_whose_address_is_a_nat_asks_nobody(machine: str) -> None:
    code = loop(["ld8.s r11=[r23]", "ld8.s r12=[r11]"], 100)
    only = loop(["ld8.s r11=[r23]", "nop.m 0"], 100)
    first, second = (run_code([f"movl r23={UNMAPPED:#x}", *lines], machine) for lines in (code, only))
    for occurrence in ("L2DTLB_MISS", "L1D_READ", "L1DTLB_MISS"):
        assert times(first, occurrence) == times(second, occurrence), occurrence
