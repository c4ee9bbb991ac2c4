"""Event address registers: what is captured, and that it is what the machine did, by the log and by its figures."""

import struct
from functools import cache
from itertools import accumulate, product
from random import Random

import pytest
from captured import CYCLES, Program, assembled, example, happened, sampled
from ear_registers import data_ear, instruction_ear
from grids import diagonal, each, few, first_quick
from guests import EXAMPLES
from ia64_program import DATA, EXIT
from instruction_log import is_load

import pfmon
from pfmon.machine.config.machine_config import load
from pfmon.pmu import get
from pfmon.pmu.model.request import EarRequest, RangeRequest

PMUS = tuple(CYCLES)
NAMES = pytest.mark.parametrize(
    "name", ["nbody", *(pytest.param(name, marks=pytest.mark.slow) for name in ("hashmap", "strings"))]
)
READ_MISSES = {"itanium": "L1D_READ_MISSES_RETIRED"}
LINE = 128
LOADS = "DATA_EAR_CACHE_LAT4"
GAP = 7
"""Cycles between captured misses (Montecito manual, 3.3.9.1); Itanium's manual has no such rule."""


@cache
def chase(nodes: int, passes: int, together: int = 1, between: int = 4, stride: int = LINE) -> Program:
    """Loads that each need what the one before loaded: ``passes`` times through a random cycle of lines, ``together``
    in a turn of the loop, with so many dependent additions between two."""
    order = list(range(nodes))
    Random(1).shuffle(order)
    data = bytearray(nodes * stride)
    for node, following in zip(order, order[1:] + order[:1], strict=True):
        struct.pack_into("<Q", data, node * stride, DATA + following * stride)
    step = ["ld8 r8=[r8]", *["adds r8=0,r8"] * between]
    return assembled(
        [
            f"movl r8={DATA + order[0] * stride}",
            f"movl r9={nodes * passes // together - 1}",
            "mov.i ar.lc=r9",
            "again:",
            *step * together,
            "br.cloop.dptk.few again",
            *EXIT,
        ],
        bytes(data),
    )


def loads(run: Program) -> list[tuple[int, int]]:
    """Instruction (bundle | slot) and address of every load in order."""
    found = []
    for step in run.steps:
        if is_load(step):
            assert step.address is not None
            found.append((step.bundle | step.number, step.address))
    return found


@cache
def stamped_loads(nodes: int, passes: int, together: int) -> list[tuple[int, int, int]]:
    """Instruction, address and number of every load of a chase."""
    run = chase(nodes, passes, together)
    stamps = [number for number, step in enumerate(run.steps, 1) if is_load(step)]
    return [(*load, stamp) for load, stamp in zip(loads(run), stamps, strict=True)]


def latencies(pmu: str, nodes: int, passes: int) -> list[int]:
    """Of a chase by the machine's figures: lines come from memory at first, then from L2 or from L3."""
    figures = load(pmu)
    second = "l2d" if pmu == "montecito" else "l2"
    size = int(figures[f"{second}.size"])
    again = figures[f"{second}.latency"] if nodes * LINE <= size // 2 else figures["l3.latency"]
    return [int(figures["memory.latency"])] * nodes + [int(again)] * (nodes * (passes - 1))


@diagonal
@pytest.mark.parametrize(("together", "memo"), first_quick(few(product((1, 4), (True, False)), 2)))
@pytest.mark.parametrize("nodes", [256, pytest.param(4096, marks=pytest.mark.slow)])
@pytest.mark.parametrize("pmu", first_quick(PMUS))
def test_dependent_misses_are_all_captured(pmu: str, nodes: int, together: int, memo: bool) -> None:
    run = chase(nodes, 3, together)
    events = [LOADS, READ_MISSES.get(pmu, "L1D_READ_MISSES_ALL")]
    found = sampled(run, pmu, events, [1, None], memo=memo)
    assert list(found.counts.values()) == [3 * nodes] * 2
    captured = [data_ear(pmu, sample.pmds) for sample in found.samples]
    loaded = stamped_loads(nodes, 3, together)
    assert [(one.instruction, one.data) for one in captured] == [load[:2] for load in loaded]
    assert [one.latency for one in captured] == latencies(pmu, nodes, 3)
    assert {(one.overflow, one.status) for one in captured} == {(False, int(pmu != "itanium"))}
    assert [(sample.iip, sample.stamp) for sample in found.samples] == [(at, stamp) for at, _, stamp in loaded]


@diagonal
@each("memo", [True, False], ids=["memo", "simulated"])
@each("together", [1, 4])
@each("pmu", PMUS)
def test_misses_close_behind_a_captured_one_are_not_captured(pmu: str, together: int, memo: bool) -> None:
    """Each load issues in the cycle in which the one before gave its value."""
    run, nodes = chase(256, 3, together, 0), 256
    wanted, free = [], 0
    times = list(accumulate(latencies(pmu, nodes, 3), initial=0))
    for (_, address), cycle in zip(loads(run), times, strict=False):
        if cycle >= free:
            wanted.append(address)
            free = cycle + (0 if pmu == "itanium" else GAP)
    found = sampled(run, pmu, [LOADS], [1], memo=memo)
    assert [data_ear(pmu, sample.pmds).data for sample in found.samples] == wanted
    assert pmu == "itanium" or len(wanted) < 2.5 * nodes


def thresholds(pmu: str) -> list[int]:
    names = [event.name for event in get(pmu).events if event.name.startswith("DATA_EAR_CACHE_LAT")]
    return sorted(int(name.rpartition("LAT")[2]) for name in names if not name.endswith("NONE"))


@pytest.mark.parametrize("pmu", first_quick(PMUS))
def test_thresholds_let_only_latencies_as_long_pass(pmu: str) -> None:
    second = "l2d" if pmu == "montecito" else "l2"
    assert len(thresholds(pmu)) == (10 if pmu == "itanium" else 11)
    for least in thresholds(pmu):
        for latency in (least - 1, least):
            figure = f"memory.latency={latency}" if least > 32 else f"{second}.latency={latency}"
            found = sampled(chase(256, 2), pmu, [f"DATA_EAR_CACHE_LAT{least}"], [None], overrides=[figure]).counts
            from_memory = least <= 32 or latency >= least
            from_second = least <= 32 and latency >= least
            assert list(found.values()) == [256 * from_memory + 256 * from_second], (least, latency)


@pytest.mark.parametrize("pmu", first_quick(PMUS))
def test_latencies_that_do_not_fit_say_so(pmu: str) -> None:
    found = sampled(chase(64, 1), pmu, [LOADS], [1], overrides=["memory.latency=9000"])
    captured = {data_ear(pmu, sample.pmds)[2:4] for sample in found.samples}
    assert captured == {(9000 & 0xFFF, False) if pmu == "itanium" else (9000 & 0x1FFF, True)}


def test_no_load_is_captured_where_the_threshold_is_none() -> None:
    assert sampled(chase(64, 1), "itanium", ["DATA_EAR_CACHE_LAT_NONE"], [None]).counts["DATA_EAR_CACHE_LAT_NONE"] == 0


# --- what is never captured, and what always is


def looped(times: int, *body: str) -> Program:
    """A loop; r8 is at the data."""
    lines = [f"movl r8={DATA}", f"movl r9={times - 1}", "mov.i ar.lc=r9", "again:", *body]
    return assembled([*lines, "br.cloop.dptk.few again", *EXIT], bytes(1 << 18))


PAUSE = ["adds r10=1,r10"] * 12


@pytest.mark.slow
@diagonal
@each("pmu", PMUS)
@each(
    ("body", "wanted"),
    [
        (["st8 [r8]=r9,128"], 0),
        (["stfd [r8]=f1,128"], 0),
        (["lfetch [r8],128"], 0),
        (["ld8 r11=[r8]"], 1),  # L1D has the line from the second time on
        (["ldfd f6=[r8]"], 200),  # L1D is not asked
        (["xchg8 r11=[r8],r9"], 200),
        (["fetchadd8.acq r11=[r8],1"], 200),
        (["(p6) ldfd f6=[r8]"], 0),
    ],
)
def test_stores_and_hits_of_l1d_are_not_captured(body: list[str], wanted: int, pmu: str) -> None:
    run = looped(200, *body, *PAUSE)
    for memo in (True, False):
        assert sampled(run, pmu, [LOADS], [None], memo=memo).counts[LOADS] == wanted


@pytest.mark.parametrize("pmu", PMUS)
def test_float_loads_that_l2_serves_take_its_latency(pmu: str) -> None:
    """It has come then; Itanium 2 and Montecito take a cycle more to convert it (Montecito manual, table 2-8)."""
    found = sampled(looped(50, "ldfd f6=[r8]", *PAUSE), pmu, [LOADS], [1]).samples
    figure = {"itanium": "l2.float_latency", "itanium2": "l2.latency", "montecito": "l2d.latency"}[pmu]
    assert [data_ear(pmu, sample.pmds).latency for sample in found[1:]] == [load(pmu)[figure]] * 49


# --- one load at a time


def overlapping() -> Program:
    """Three loads a turn that wait for memory at the same time."""
    turn = ["ld8 r11=[r8],128", "ld8 r12=[r8],128", "ld8 r13=[r8],128", "add r14=r11,r12", "add r14=r14,r13"]
    return looped(600, *turn)


@pytest.mark.slow
@diagonal
@pytest.mark.parametrize("memo", [True, False], ids=["memo", "simulated"])
@pytest.mark.parametrize("pmu", PMUS)
def test_of_overlapping_loads_each_is_captured_now_and_then(pmu: str, memo: bool) -> None:
    run = overlapping()
    one, again, other = (sampled(run, pmu, [LOADS], [1], memo=memo, seed=seed).samples for seed in (1, 1, 7))
    assert one == again != other
    addresses = dict(zip([address for _, address in loads(run)], range(1800), strict=True))
    numbers = [addresses[data_ear(pmu, sample.pmds).data] for sample in one]
    # Never two of a turn, but where a load begins a page: the pipeline stands still until its translation is there.
    turns = [number // 3 for number in numbers if number // 3 * 3 % 128 not in (0, 126, 127)]
    assert turns == sorted(set(turns)) and len(turns) > 300
    which = [sum(number % 3 == load for number in numbers) for load in range(3)]
    assert min(which) > 50


# --- TLB misses


LEVELS = {"itanium": ("L2", "VHPT", "SW")}
OCCURRENCES = ("L1DTLB_TRANSFER", "DTLB_WALKED", "DTLB_FILLED")


def tlb_counts(run: Program, pmu: str, prefix: str) -> dict[str, int]:
    """What each event of an event address register in TLB mode counts."""
    names = [event.name for event in get(pmu).events if event.name.startswith(prefix)]
    return {name.removeprefix(prefix): sampled(run, pmu, [name], [None]).counts[name] for name in names}


@pytest.mark.parametrize("pages", first_quick([64, pytest.param(200, marks=pytest.mark.slow)]))
@pytest.mark.parametrize("pmu", first_quick(PMUS))
def test_data_tlb_misses_are_captured_by_what_served_them(pmu: str, pages: int) -> None:
    run = chase(pages, 3, stride=16384 + LINE)
    counts, seen = tlb_counts(run, pmu, "DATA_EAR_TLB_"), happened(run, pmu)
    words = LEVELS.get(pmu, ("L2DTLB", "VHPT", "FAULT"))
    levels = dict(zip(words, [seen[name] for name in OCCURRENCES], strict=True))
    assert sum(map(bool, levels.values())) > 1
    for name, value in counts.items():
        assert value == sum(levels[word] for word in (words if name == "ALL" else name.split("_OR_")))
    places = [number for number, name in enumerate(words, 1) for _ in range(levels[name])]
    samples = [
        data_ear(pmu, one.pmds) for word in words for one in sampled(run, pmu, [f"DATA_EAR_TLB_{word}"], [1]).samples
    ]
    assert [one.status for one in samples] == places
    assert {(one.instruction, one.data) for one in samples} <= set(loads(run))
    faults = [one.data // 16384 for one in samples if one.status == 3]
    assert len(set(faults)) == len(faults)  # the operating system puts a page's entry in once


@pytest.mark.parametrize("pmu", first_quick(PMUS))
@NAMES
def test_tlb_misses_of_examples_are_those_of_the_machine(name: str, pmu: str) -> None:
    run = example(name, {"hashmap": "300", "nbody": "2", "strings": "50"}[name])
    seen = happened(run, pmu)
    words = LEVELS.get(pmu, ("L2DTLB", "VHPT", "FAULT"))
    counts = tlb_counts(run, pmu, "DATA_EAR_TLB_")
    assert [counts[word] for word in words] == [seen[occurrence] for occurrence in OCCURRENCES]
    if pmu == "itanium":
        fetches = tlb_counts(run, pmu, "INSTRUCTION_EAR_TLB_")
        assert fetches == {"VHPT": seen["ITLB_WALKED"], "SW": seen["ITLB_FILLED"]}
        return
    second = seen["ITLB1_MISS"] - seen["ITLB2_MISS"]
    levels = {"L2TLB": second, "VHPT": seen["ITLB_WALKED"], "FAULT": seen["ITLB_FILLED"]}
    for event, value in tlb_counts(run, pmu, "L1I_EAR_TLB_").items():
        assert value == sum(levels[word] for word in (levels if event == "ALL" else event.split("_OR_")))
    assert sum(levels.values()) == seen["ITLB1_MISS"]


# --- code


@pytest.mark.parametrize("pmu", first_quick(PMUS))
@NAMES
def test_fetches_that_miss_are_those_of_the_machine(name: str, pmu: str) -> None:
    run = example(name, {"hashmap": "300", "nbody": "2", "strings": "50"}[name])
    seen = happened(run, pmu)
    prefix = "INSTRUCTION_EAR_CACHE_" if pmu == "itanium" else "L1I_EAR_CACHE_"
    names = [event.name for event in get(pmu).events if event.name.startswith(prefix)]
    counts = {one.removeprefix(prefix): sampled(run, pmu, [one], [None]).counts[one] for one in names}
    least = "LAT4" if pmu == "itanium" else "LAT0"
    samples = [instruction_ear(pmu, one.pmds) for one in sampled(run, pmu, [prefix + least], [1]).samples]
    if pmu != "itanium":
        assert counts["LAT0"] == seen["L1I_DEMAND_MISS"] + seen["L1I_RAB_HIT"]
        assert counts["RAB"] == seen["L1I_RAB_HIT"]
    for event, value in counts.items():
        if event != "RAB":
            threshold = int(event.removeprefix("LAT")) if event != "LAT_NONE" else 1 << 62
            assert value == sum(one.latency >= threshold for one in samples)
    line = int(load(pmu)["l1i.line"])
    assert all(one.latency > 0 and one.status & 1 and one.line % line == 0 for one in samples)
    assert {one.line for one in samples} <= {step.bundle // line * line for step in run.steps}


# --- the ALAT


FAILING = ["ld8.a r11=[r8]", "st8 [r8]=r9", "ld8.c.clr r11=[r8]", "ld8.a r12=[r8]", "ld8.c.nc r12=[r8]"]


@pytest.mark.parametrize("memo", [True, False], ids=["memo", "simulated"])
@pytest.mark.parametrize("pmu", PMUS[1:])
def test_failed_checks_are_captured_with_their_instruction(pmu: str, memo: bool) -> None:
    for run in (example("epic"), looped(100, *FAILING)):
        failed = [step.bundle | step.number for step in run.steps if step.misses]
        events = ["DATA_EAR_ALAT", "INST_FAILED_CHKA_LDC_ALAT_ALL"]
        found = sampled(run, pmu, events, [1, None], memo=memo)
        assert list(found.counts.values()) == [len(failed)] * 2
        captured = [data_ear(pmu, sample.pmds) for sample in found.samples]
        assert [(one.instruction, one.status) for one in captured] == [(place, 1) for place in failed]
    assert len(failed) == 100


# --- the register stack engine


def deep(depth: int) -> Program:
    """Calls that need more registers than there are: the first level of data does not hold what is spilled."""
    function = ["alloc r32=ar.pfs,90,88,0", "mov r33=b0", "adds r8=-1,r8", "cmp.eq p6,p7=0,r8"]
    back = ["mov b0=r33", "mov.i ar.pfs=r32", "br.ret.sptk.many b0"]
    call = "br.call.sptk.few b0=function"
    return assembled([f"addl r8={depth},r0", call, *EXIT, "function:", *function, f"(p7) {call}", *back])


@pytest.mark.parametrize("pmu", PMUS)
def test_fills_of_the_register_stack_are_captured_without_an_instruction(pmu: str) -> None:
    run = deep(60)
    filled = {address for step in run.steps for address in step.filled}
    captured = [data_ear(pmu, sample.pmds) for sample in sampled(run, pmu, [LOADS], [1]).samples]
    assert len(captured) > 5 and {one.data for one in captured} <= filled
    assert {(one.instruction, one.status) for one in captured} == {(None, int(pmu != "itanium"))}


# --- what constrains captures


@pytest.mark.parametrize("pmu", first_quick(PMUS))
def test_ranges_constrain_what_is_captured(pmu: str) -> None:
    run = chase(256, 3)
    start = DATA + 64 * LINE
    inside = [(place, address) for place, address in loads(run) if start <= address < start + 32 * LINE]
    event = "DATA_EAR_EVENTS" if pmu == "itanium" else LOADS  # Itanium's others are not constrained by data ranges
    limits = RangeRequest(((start, start + 32 * LINE),))
    found = sampled(run, pmu, [event], [1], drange=limits, dear=EarRequest("cache", 0, 8))
    captured = [data_ear(pmu, sample.pmds) for sample in found.samples]
    assert [(one.instruction, one.data) for one in captured] == inside
    (place, _), *_ = loads(run)
    for begin, wanted in ((place & ~63, 768), ((place & ~63) + 64, 0)):
        limits = RangeRequest(((begin, begin + 64),))
        assert sampled(run, pmu, [LOADS], [None], irange=limits).counts[LOADS] == wanted


# --- the instruction of a sample


def check_places(run: Program, pmu: str) -> int:
    """Captures are of the step that the stamp names: its address, its line; how many there were."""
    total = 0
    tlb = ("DATA_EAR_TLB_L2", "DATA_EAR_TLB_SW") if pmu == "itanium" else ("DATA_EAR_TLB_ALL",)
    for event in (LOADS, *tlb):
        for sample in sampled(run, pmu, [event], [1]).samples:
            one, step = data_ear(pmu, sample.pmds), run.steps[sample.stamp - 1]
            assert sample.iip == step.bundle | step.number
            if one.instruction is None:
                assert one.data in step.filled + step.spilled
            else:
                assert (one.instruction, one.data) == (sample.iip, step.address)
            total += 1
    line = int(load(pmu)["l1i.line"])
    prefix = "INSTRUCTION_EAR" if pmu == "itanium" else "L1I_EAR"
    last = ("TLB_VHPT", "TLB_SW") if pmu == "itanium" else ("CACHE_LAT0", "TLB_ALL")
    for event in (f"{prefix}_CACHE_LAT4", *(f"{prefix}_{name}" for name in last)):
        for sample in sampled(run, pmu, [event], [1]).samples:
            step = run.steps[sample.stamp - 1]
            assert sample.iip == step.bundle | step.number
            assert instruction_ear(pmu, sample.pmds).line == step.bundle // line * line
            total += 1
    return total


@pytest.mark.slow
@pytest.mark.parametrize("pmu", PMUS)
def test_captures_are_of_the_instruction_that_the_stamp_names(pmu: str) -> None:
    assert check_places(example("hashmap", "100"), pmu) > 50


@pytest.mark.slow
@diagonal
@pytest.mark.parametrize("pmu", PMUS)
@pytest.mark.parametrize("name", ["sort 200", "lz 300", "matmul 8", "nbody 2", "epic", "stream 4 1", "strings 40"])
def test_captures_of_more_examples_are_too(name: str, pmu: str) -> None:
    program, *arguments = name.split()
    assert check_places(example(program, *arguments), pmu) > 20


@pytest.mark.slow
def test_the_seed_of_a_run_chooses_among_overlapping_loads() -> None:
    def samples(**options: int) -> list[tuple[int, int]]:
        command = [str(EXAMPLES / "ia64" / "stream"), "4", "1"]
        run = pfmon.run(command, events=LOADS, long_smpl_periods=1, stdout=pfmon.DEVNULL, **options)
        assert run.samples is not None
        return [(sample.iip, sample.stamp) for sample in run.samples]

    assert samples() == samples(ear_seed=1) != samples(ear_seed=2)
