"""Branch buffers hold the last branches of the log, as the manual's tables lay them out."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

import pytest
from branch_log import Captured, Flow, flows, written
from captured import CYCLES, Program, Sample, Sampled, assembled, example, sampled
from grids import diagonal, each, few, first_quick
from ia64_assembly import Line
from ia64_program import EXIT, TEXT
from instruction_log import is_branch
from random_branches import random_branches
from timeline import SMALL as TIMED
from timeline import Timeline, timeline

from pfmon.pmu.model.request import BranchBufferRequest, OpcodeMatch, RangeRequest

PMUS = tuple(CYCLES)
SIZE = {"itanium": 8, "itanium2": 8, "montecito": 16}
PROGRAMS = {
    "queens": ("5",),
    "fib": ("8",),
    "sort": ("40",),
    "strings": ("20",),
    "branchy": ("150",),
    "dispatch": ("20",),
}


def first_of(names: Iterable[str], *quick: str) -> list[Any]:
    """Parameters, most of them for the slow tests."""
    return [*quick, *(pytest.param(name, marks=pytest.mark.slow) for name in names if name not in quick)]


EXAMPLES = pytest.mark.parametrize("name", first_of(PROGRAMS, "queens"))


def entries_of(pmu: str, pmds: dict[int, int]) -> list[tuple[int, int]]:
    """(entry, extension) of what was written, the oldest first (tables 3-27 to 3-29; libpfm's pfm_ita2_pmd_reg_t)."""
    size = SIZE[pmu]
    if pmu == "montecito":
        index, full, first = pmds[38] & 15, pmds[38] >> 5 & 1, 48
        shifts = [8 * (n % 8) + 4 * (n // 8) for n in range(16)]  # pmd48, pmd56, pmd49, pmd57, ...
        extensions = [pmds[39] >> shift & 15 for shift in shifts]
    else:
        index, full, first = pmds[16] & 7, pmds[16] >> 3 & 1, 8
        extensions = [pmds[16] >> 4 + 4 * n & 15 for n in range(8)]
    held = [(pmds[first + n], extensions[n]) for n in range(size)]
    if not full:
        assert held[index:] == [(0, 0)] * (size - index)
    return held[index:] * full + held[:index]


def source(pmu: str, one: Captured, extension: int) -> tuple[int, int]:
    """The register of a branch. Which bundle of its window it is in the extension says, and 16 is to be added then."""
    flow = one.flow
    slot = flow.place & 3 if flow.taken else 3
    second = 0 if pmu == "itanium" else extension & 1
    entry = (flow.place & ~15) - 16 * second | slot << 2 | one.wrong << 1 | 1
    return entry, 0 if pmu == "itanium" else second | one.flushed << 1


def is_entry(pmu: str, found: tuple[int, int], expected: tuple[str, Captured]) -> bool:
    """Whether a register holds a branch or its target."""
    kind, one = expected
    return found == (source(pmu, one, found[1]) if kind == "source" else (one.flow.target | 2, 0))


def of_pmu(pmu: str, run: Program) -> list[Flow]:
    """What this PMU may capture of a run: exceptions and checks only Montecito does (3.3.10)."""
    return [flow for flow in flows(run.steps) if pmu == "montecito" or flow.kind in ("iprel", "ret", "ind")]


def one_by_one(run: Program, pmu: str, **options: Any) -> Sampled:
    """A sample of every captured branch, with the cycles so far."""
    return sampled(run, pmu, ["BRANCH_EVENT", CYCLES[pmu]], [1, None], **options)


@cache
def every(name: str, pmu: str) -> tuple[Captured, ...]:
    """All branches of an example with their predictions, from samples with period 1."""
    run = example(name, *PROGRAMS[name])
    return captured(run, pmu, one_by_one(run, pmu).samples)


def captured(run: Program, pmu: str, samples: Sequence[Sample]) -> tuple[Captured, ...]:
    """Branches of the log with what the samples, one for each that was counted, say of their predictions.

    One that was not counted is in the same bundle as the one before, and in the next sample.
    """
    counter = next(number for number in samples[0].pmds if number in (4, 5) and samples[0].pmds[number] > 0)
    found: list[Captured] = []
    waiting: list[Flow] = []
    following = iter(of_pmu(pmu, run))
    for sample in samples:
        entries = [one for one in entries_of(pmu, sample.pmds) if one[0] & 1]
        while (flow := next(following)).place != sample.iip and flow.kind != "break":
            waiting.append(flow)
        for flow_before in waiting:
            last = found[-1]
            assert flow_before.place >> 4 == last.flow.place >> 4 and not last.flow.taken
            found.append(_captured(flow_before, entries[0], 0)._replace(cycle=last.cycle, counted=False))
        assert len(entries) == 1 + bool(waiting)
        waiting = []
        found.append(_captured(flow, entries[-1], sample.pmds[counter]))
    return tuple(found)


def _captured(flow: Flow, entry: tuple[int, int], cycle: int) -> Captured:
    """``cycle``: cycles that have ended. A branch ends its own by being taken, by a flush, or in the last slot, behind
    which dispersal splits."""
    wrong = bool(entry[0] & 2)
    return Captured(flow, wrong, bool(entry[1] & 2), cycle + (not (flow.taken or wrong or flow.place & 2)))


@pytest.mark.parametrize("pmu", first_quick(PMUS))
@EXAMPLES
def test_with_period_one_a_sample_holds_a_branch_and_its_target(name: str, pmu: str) -> None:
    for sample, one in zip(one_by_one(example(name, *PROGRAMS[name]), pmu).samples, every(name, pmu), strict=True):
        expected = [("source", one), ("target", one)] if one.flow.taken else [("source", one)]
        found = entries_of(pmu, sample.pmds)
        assert sample.stamp == one.flow.before + (one.flow.kind != "break")
        assert len(found) == len(expected) and all(map(is_entry, [pmu] * 2, found, expected))


def check_periods(run: Program, pmu: str, branches: Sequence[Captured], periods: Sequence[int], **request: Any) -> None:
    """Every sample holds the last branches since the sample before."""
    counted = [number for number, one in enumerate(branches) if one.counted]
    for period in periods:
        found = sampled(run, pmu, ["BRANCH_EVENT"], [period], **request)
        samples = found.samples
        assert found.counts["BRANCH_EVENT"] == len(counted)
        ends = [0, *(number + 1 for number in counted[period - 1 :: period])]
        assert len(samples) == len(ends) - 1
        for sample, begin, end in zip(samples, ends, ends[1:], strict=False):
            wanted = written(branches[begin:end])
            held = entries_of(pmu, sample.pmds)
            assert len(held) == min(len(wanted), SIZE[pmu])
            assert all(map(is_entry, [pmu] * len(held), held, wanted[-len(held) :]))


@pytest.mark.parametrize("pmu", PMUS)
@EXAMPLES
def test_the_buffer_holds_the_last_branches_of_the_log(name: str, pmu: str) -> None:
    check_periods(example(name, *PROGRAMS[name]), pmu, every(name, pmu), (2, 3, 7, 20))


@cache
def random_program(seed: int, most: int = 3) -> Program:
    return assembled(random_branches(Random(seed), 30, 40, most))


def check_random(seed: int, pmu: str, periods: Sequence[int]) -> None:
    run = random_program(seed)
    branches = captured(run, pmu, one_by_one(run, pmu).samples)
    entries = written(branches)
    shared = sum(not one.counted for one in branches)
    assert shared > 5  # branches of one bundle in one clock
    assert sum(kind == "target" for kind, _ in entries) < sum(one.flow.taken for one in branches)  # sources in a row
    for one, following in pairwise(branches):
        if following.counted and not one.flow.taken and one.flow.place >> 4 == following.flow.place >> 4:
            assert one.cycle < following.cycle
    check_periods(run, pmu, branches, periods)


@pytest.mark.parametrize("pmu", first_quick(PMUS))
def test_the_buffer_holds_the_last_branches_of_random_code(pmu: str) -> None:
    check_random(1, pmu, (1, 3, 20))


@pytest.mark.slow
@diagonal
@pytest.mark.parametrize("pmu", PMUS)
@pytest.mark.parametrize("seed", few(range(2, 22), 4))
def test_the_buffer_holds_the_last_branches_of_more_random_code(seed: int, pmu: str) -> None:
    check_random(seed, pmu, (1, 2, 5, 17, 40))


# --- filters


def kept(branches: Sequence[Captured], keep: Callable[[Captured], bool], tagged: bool = False) -> tuple[Captured, ...]:
    """Those that a filter lets pass; exceptions and checks always do (3.3.10.1.1, note). ``tagged``: it is one of
    instructions, so the event that counts captures, which it constrains, too, does not count them."""
    found: list[Captured] = []
    for one in branches:
        always = one.flow.kind in ("break", "check")
        if always or keep(one):
            last = found[-1] if found else None
            shared = last and not last.flow.taken and _together(last, one)
            found.append(one._replace(counted=not shared and not (always and tagged)))
    return tuple(found)


def _together(one: Captured, other: Captured) -> bool:
    """Branches of one bundle in one clock."""
    return one.flow.place >> 4 == other.flow.place >> 4 and one.cycle == other.cycle


def fields(pmu: str, **given: int) -> BranchBufferRequest:
    return BranchBufferRequest({"tm": 3, "ptm": 3, "ppm": 3, **given}, 8)


class Outcomes(NamedTuple):
    """A run with its branches; which of them, by how many instructions were before, had which misprediction."""

    run: Program
    branches: tuple[Captured, ...]
    paths: set[int]
    targets: set[int]


@cache
def outcomes(pmu: str) -> Outcomes:
    """Which predictions were wrong the buffer says, and of what two filters."""
    run = random_program(4, 2)
    branches = captured(run, pmu, one_by_one(run, pmu).samples)
    paths, targets = (of_filter(pmu, run, **given) for given in ({"ppm": 1}, {"ptm": 1}))
    return Outcomes(run, branches, paths, targets)


def of_filter(pmu: str, run: Program, **given: int) -> set[int]:
    """Branches that were captured, by how many instructions were before."""
    places = {flow.before: flow.place for flow in of_pmu(pmu, run) if flow.kind != "break"}
    samples = sampled(run, pmu, ["BRANCH_EVENT"], [1], branch_buffer=fields(pmu, **given)).samples
    found = {sample.stamp - 1 for sample in samples if places.get(sample.stamp - 1) == sample.iip}
    assert len(samples) - len(found) == (pmu == "montecito")  # exit
    return found


@pytest.mark.parametrize("pmu", first_quick(PMUS))
def test_filters_tell_mispredicted_paths_from_targets(pmu: str) -> None:
    """The entries say what was wrong, the filters of what, and events count the same."""
    run, branches, paths, targets = outcomes(pmu)
    wrong = {one.flow.before for one in branches if one.wrong and one.flow.kind != "break"}
    assert paths | targets == wrong and not paths & targets
    names = [f"BR_MISPRED_DETAIL_ALL_WRONG_{what}" for what in ("PATH", "TARGET")]
    if pmu == "itanium":
        names = [f"BRANCH_PREDICTOR_ALL_WRONG_{what}" for what in ("PATH", "TARGET")]
    counts = sampled(run, pmu, names, [None, None]).counts
    assert list(counts.values()) == [len(paths), len(targets)]
    # Where branch registers foretell, few are written late: the loop writes them at its head.
    assert len(paths) > 20 and len(targets) > (5 if pmu == "itanium" else 0)


FILTERS: dict[str, tuple[dict[str, int], Callable[[Captured, Outcomes], bool]]] = {
    "taken": ({"tm": 2}, lambda one, _: one.flow.taken),
    "not taken": ({"tm": 1}, lambda one, _: not one.flow.taken),
    "paths right": ({"ppm": 2}, lambda one, seen: one.flow.before not in seen.paths),
    "paths wrong": ({"ppm": 1}, lambda one, seen: one.flow.before in seen.paths),
    "targets right": ({"ptm": 2}, lambda one, seen: one.flow.before not in seen.paths | seen.targets),
    "targets wrong": ({"ptm": 1}, lambda one, seen: one.flow.before in seen.targets),
    "all right": ({"ptm": 2, "ppm": 2}, lambda one, _: not one.wrong),
    "both wrong": ({"ptm": 1, "ppm": 1}, lambda *_: False),
    "no path": ({"ppm": 0}, lambda *_: False),
    "no target": ({"ptm": 0}, lambda *_: False),
    "taken, path wrong": ({"tm": 2, "ppm": 1}, lambda one, seen: one.flow.taken and one.flow.before in seen.paths),
}


@diagonal
@each("pmu", PMUS)
@each("name", first_of(FILTERS, "paths wrong", "targets right"))
def test_filters_of_outcomes_let_the_right_branches_pass(name: str, pmu: str) -> None:
    given, keep = FILTERS[name]
    seen = outcomes(pmu)
    branches = kept(seen.branches, lambda one: keep(one, seen))
    assert len(branches) < len(seen.branches)
    check_periods(seen.run, pmu, branches, (1, 3, 20), branch_buffer=fields(pmu, **given))


@pytest.mark.slow
@each("pmu", PMUS[1:])
@each("kind", ["iprel", "ret", "ind"])
def test_filters_of_kinds_let_the_right_branches_pass(kind: str, pmu: str) -> None:
    seen = outcomes(pmu)
    branches = kept(seen.branches, lambda one: one.flow.kind == kind)
    assert 20 < len(branches) < len(seen.branches)
    given = {"iprel": 1, "ret": 2, "ind": 3}  # table 3-26, brt
    check_periods(seen.run, pmu, branches, (1, 3, 20), branch_buffer=fields(pmu, brt=given[kind]))


def test_stages_of_itanium_are_captured_apart() -> None:
    """TAR, TAC and BAC are the predictor's stages, which events count, too."""
    run = example("queens", "5")
    events = [f"BRANCH_PREDICTOR_{stage}_STAGE_ALL_PREDICTIONS" for stage in ("1ST", "2ND", "3RD")]
    counts = list(sampled(run, "itanium", events, [None] * 3).counts.values())
    for number, wanted in enumerate(counts):
        only = {name: int(place == number) for place, name in enumerate(("tar", "tac", "bac"))}
        found = sampled(run, "itanium", ["BRANCH_EVENT"], [1], branch_buffer=fields("itanium", **only))
        assert found.counts["BRANCH_EVENT"] == wanted
    assert sum(map(bool, counts)) > 1


@pytest.mark.parametrize("pmu", PMUS)
def test_code_ranges_and_opcodes_constrain_what_is_captured(pmu: str) -> None:
    seen = outcomes(pmu)
    middle = sorted(one.flow.place for one in seen.branches)[len(seen.branches) // 2] & ~63
    inside = kept(seen.branches, lambda one: middle <= one.flow.place < middle + 64, True)
    assert 0 < len(inside) < len(seen.branches)
    check_periods(seen.run, pmu, inside, (1, 3), irange=RangeRequest(((middle, middle + 64),)))
    returns = kept(seen.branches, lambda one: one.flow.kind == "ret", True)
    # br.ret: major opcode 0, x6 (32:27) = 0x21, hints in 35:33 (SDM volume 3, 4.5). Itanium and Itanium 2 match bits
    # 40:27 and 12:0 alone.
    low = 27 if pmu == "montecito" else 13
    matched = OpcodeMatch("b", 0x21 << low, (1 << low) - 1 | 7 << low + 6)
    check_periods(seen.run, pmu, returns, (1, 3), opcodes=(matched, None))


# --- beside other events


def check_beside(run: Program, pmu: str, branches: Sequence[Captured], period: int) -> None:
    """Samples of instructions hold the branches before, the sampled instruction's own included."""
    samples = sampled(run, pmu, ["IA64_INST_RETIRED"], [period], branch_buffer=fields(pmu)).samples
    assert [sample.stamp for sample in samples] == list(range(period, len(run.steps) + 1, period))
    for sample in samples:
        since = [one for one in branches if sample.stamp - period <= one.flow.before < sample.stamp]
        wanted, held = written(since), entries_of(pmu, sample.pmds)
        assert len(held) == min(len(wanted), SIZE[pmu])
        assert all(map(is_entry, [pmu] * len(held), held, wanted[-len(held) :]))


@diagonal
@pytest.mark.parametrize("pmu", PMUS)
@pytest.mark.parametrize("period", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_samples_of_instructions_hold_the_branches_before_them(period: int, pmu: str) -> None:
    check_beside(example("queens", "5"), pmu, every("queens", pmu), period)


# --- Montecito's other events

VECTORS = 0xA000000100000000  # where Linux has them; their offsets: SDM volume 2, table 5-1
BREAK, PAGE_NOT_PRESENT, NAT_CONSUMPTION = (VECTORS + offset for offset in (0x2C00, 0x5000, 0x5600))
NAT = ["movl r9=0x1000", "ld8.s r11=[r9]"]  # no such page: the load is deferred
RECOVERY = ["nop.i 0", "recover:", "br.cond.sptk.few back"]
AT = TEXT + 16 * 2
OTHERS: dict[str, tuple[list[Line], list[tuple[int, int]]]] = {
    "chk.s": ([*NAT, "chk.s.m r11,recover", "back:", *EXIT, *RECOVERY], [(AT, AT + 16 * 6), (AT + 16 * 4, BREAK)]),
    "chk.a": (["chk.a.clr r11,recover", "back:", *EXIT, *RECOVERY], [(TEXT, TEXT + 16 * 6), (TEXT + 16 * 4, BREAK)]),
    "break": (EXIT, [(TEXT + 16 * 3, BREAK)]),
    "fault": (["movl r9=0x1000", "ld8 r11=[r9]", *EXIT], [(TEXT + 16, PAGE_NOT_PRESENT)]),
    "NaT": ([*NAT, "st8 [r12]=r11", *EXIT], [(AT, NAT_CONSUMPTION)]),
    "at a target": (
        ["movl r9=0x1000", "br.cond.sptk.few there", "nop.i 0", "there:", "ld8 r11=[r9]"],
        [(TEXT + 16 * 3, PAGE_NOT_PRESENT)],
    ),
}


@each("name", OTHERS)
def test_checks_that_fail_and_exceptions_are_captured_on_montecito(name: str) -> None:
    """As mispredicted events with a target; exceptions go to their vector (3.3.10, table 3-27)."""
    lines, expected = OTHERS[name]
    run = assembled(lines)
    found = []
    for sample in one_by_one(run, "montecito").samples:
        held = entries_of("montecito", sample.pmds)
        (entry, extension), (target, _) = held
        if entry & 2:
            assert entry & 1 and target & 3 == 2
            found.append(((entry & ~15) + 16 * (extension & 1) | entry >> 2 & 3, target & ~15))
    assert found == expected
    branches = sum(map(is_branch, run.steps))
    for pmu in PMUS[:2]:
        assert sampled(run, pmu, ["BRANCH_EVENT"], [None]).counts["BRANCH_EVENT"] == branches


# --- which bundle of its window


def is_second(line: Timeline, number: int) -> bool:
    """Whether an instruction of the log issued in the second bundle of its cycle, right behind the first."""
    cycle = line.cycle(number + 1)
    return line.places[line.issued[cycle - 1]] >> 4 == (line.places[number] >> 4) - 1


@diagonal
@pytest.mark.parametrize("pmu", first_quick(PMUS[1:]))
@pytest.mark.parametrize("name", first_quick(first_of(TIMED, "queens")))
def test_the_second_bundle_of_a_window_is_marked(name: str, pmu: str) -> None:
    """Bit 0 of a branch's extension (table 3-29), bit 2 of the instruction's register of the data EAR (table 3-22)."""
    line, run = timeline(name, pmu), example(name, *TIMED[name])
    samples = sampled(run, pmu, ["BRANCH_EVENT"], [1]).samples
    second = []
    for flow, sample in zip(of_pmu(pmu, run), samples, strict=True):
        (_, extension), *_ = entries_of(pmu, sample.pmds)
        second.append(bool(extension & 1))
        assert second[-1] == (flow.kind != "break" and is_second(line, flow.before))
    assert any(second) and not all(second)
    place = 36 if pmu == "montecito" else 17
    for sample in sampled(run, pmu, ["DATA_EAR_CACHE_LAT4"], [1]).samples:
        if sample.pmds[place] & 8:
            assert bool(sample.pmds[place] & 4) == is_second(line, sample.stamp - 1)
