"""Event address registers: what is captured, and that it is what the machine did, by the log and by its figures."""

import struct
from functools import cache
from itertools import accumulate
from random import Random

import pytest
from captured import CYCLES, Program, assembled, sampled
from ear_registers import data_ear
from ia64_program import DATA, EXIT
from instruction_log import is_load

from pfmon.machine.config import load
from pfmon.pmu import get

PMUS = tuple(CYCLES)
READ_MISSES = {"itanium": "L1D_READ_MISSES_RETIRED"}
LINE = 128
LOADS = "DATA_EAR_CACHE_LAT4"
GAP = 7
"""Cycles between captured misses (Montecito manual, 3.3.9.1); Itanium's manual has no such rule."""


@cache
def chase(nodes: int, passes: int, together: int = 1, between: int = 4) -> Program:
    """Loads that each need what the one before loaded: ``passes`` times through a random cycle of lines, ``together``
    in a turn of the loop, with so many dependent additions between two."""
    order = list(range(nodes))
    Random(1).shuffle(order)
    data = bytearray(nodes * LINE)
    for node, following in zip(order, order[1:] + order[:1], strict=True):
        struct.pack_into("<Q", data, node * LINE, DATA + following * LINE)
    step = ["ld8 r8=[r8]", *["adds r8=0,r8"] * between]
    return assembled(
        [
            f"movl r8={DATA + order[0] * LINE}",
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


def latencies(pmu: str, nodes: int, passes: int) -> list[int]:
    """Of a chase by the machine's figures: lines come from memory at first, then from L2 or from L3."""
    figures = load(pmu)
    second = "l2d" if pmu == "montecito" else "l2"
    size = int(figures[f"{second}.size"])
    again = figures[f"{second}.latency"] if nodes * LINE <= size // 2 else figures["l3.latency"]
    return [int(figures["memory.latency"])] * nodes + [int(again)] * (nodes * (passes - 1))


@pytest.mark.parametrize("memo", [True, False], ids=["memo", "simulated"])
@pytest.mark.parametrize("together", [1, 4])
@pytest.mark.parametrize("nodes", [256, pytest.param(4096, marks=pytest.mark.slow)])
@pytest.mark.parametrize("pmu", PMUS)
def test_dependent_misses_are_all_captured(pmu: str, nodes: int, together: int, memo: bool) -> None:
    run = chase(nodes, 3, together)
    events = [LOADS, READ_MISSES.get(pmu, "L1D_READ_MISSES_ALL")]
    found = sampled(run, pmu, events, [1, None], memo=memo)
    assert list(found.counts.values()) == [3 * nodes] * 2
    captured = [data_ear(pmu, sample.pmds) for sample in found.samples]
    assert [(one.instruction, one.data) for one in captured] == loads(run)
    assert [one.latency for one in captured] == latencies(pmu, nodes, 3)
    assert {(one.overflow, one.status) for one in captured} == {(False, int(pmu != "itanium"))}
    assert [sample.iip for sample in found.samples] == [instruction for instruction, _ in loads(run)]


@pytest.mark.parametrize("memo", [True, False], ids=["memo", "simulated"])
@pytest.mark.parametrize("together", [1, 4])
@pytest.mark.parametrize("pmu", PMUS)
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


@pytest.mark.parametrize("pmu", PMUS)
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


@pytest.mark.parametrize("pmu", PMUS)
def test_latencies_that_do_not_fit_say_so(pmu: str) -> None:
    found = sampled(chase(64, 1), pmu, [LOADS], [1], overrides=["memory.latency=9000"])
    captured = {data_ear(pmu, sample.pmds)[2:4] for sample in found.samples}
    assert captured == {(9000 & 0xFFF, False) if pmu == "itanium" else (9000 & 0x1FFF, True)}


def test_no_load_is_captured_where_the_threshold_is_none() -> None:
    assert sampled(chase(64, 1), "itanium", ["DATA_EAR_CACHE_LAT_NONE"], [None]).counts["DATA_EAR_CACHE_LAT_NONE"] == 0
