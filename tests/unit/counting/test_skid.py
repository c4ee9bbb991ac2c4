"""The interrupt comes so many cycles behind the overflow, at the next bundle that has not issued."""

from collections.abc import Sequence
from itertools import product
from random import Random

import pytest
from captured import CYCLES, example, sampled
from grids import diagonal, first_quick
from timeline import NAMES, SMALL, timeline

PMUS = tuple(CYCLES)
INSTRUCTIONS = "IA64_INST_RETIRED"
SKIDS = (1, 2, 13, 100, 1000)
PAIRS = pytest.mark.parametrize("pairs", [12, pytest.param(None, marks=pytest.mark.exhaustive)])
"""How many periods with a skid each are tried; None: all."""


def some(count: int | None, periods: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of a period and a skid: so many at random, of the same seed."""
    pairs = [*product(periods, SKIDS)]
    return pairs if count is None else Random(count).sample(pairs, count)


def check_first(name: str, pmu: str, event: str, period: int, skid: int, cycle: int) -> None:
    """The first sample, when its overflow ends a cycle."""
    line, run = timeline(name, pmu), example(name, *SMALL[name])
    samples = sampled(run, pmu, [event], [period], skid=skid).samples
    wanted = line.interrupt(cycle + skid)
    if wanted is None:
        assert not samples
        return
    assert (samples[0].stamp, samples[0].iip) == (wanted, line.places[wanted])
    stamps = [sample.stamp for sample in samples]
    assert stamps == sorted(stamps) and all(line.places[one.stamp] == one.iip for one in samples)
    assert all(one.iip & 15 == 0 for one in samples)


@pytest.mark.slow
@PAIRS
@pytest.mark.parametrize("pmu", PMUS)
@NAMES
def test_an_interrupt_comes_so_many_cycles_behind_a_cycle(name: str, pmu: str, pairs: int | None) -> None:
    cycles = len(timeline(name, pmu).issued) - 1
    for period, skid in some(pairs, (1, 1000, 2001, 3777, cycles - 30, cycles)):
        check_first(name, pmu, CYCLES[pmu], period, skid, period)


@PAIRS
@pytest.mark.parametrize("pmu", first_quick(PMUS))
@NAMES
def test_an_interrupt_comes_so_many_cycles_behind_an_instruction(name: str, pmu: str, pairs: int | None) -> None:
    line = timeline(name, pmu)
    for period, skid in some(pairs, (1, 2, 50, 997, 1500, 2501, len(line.places) - 5, len(line.places))):
        check_first(name, pmu, INSTRUCTIONS, period, skid, line.cycle(period))


@pytest.mark.parametrize("skid", [13, *(pytest.param(cycles, marks=pytest.mark.slow) for cycles in (1, 100))])
@pytest.mark.parametrize("pmu", PMUS)
@NAMES
def test_instructions_count_on_from_the_interrupt(name: str, pmu: str, skid: int) -> None:
    line = timeline(name, pmu)
    samples = sampled(example(name, *SMALL[name]), pmu, [INSTRUCTIONS], [50], skid=skid).samples
    begin = 0
    for sample in samples:
        cycle = line.cycle(begin + 50)
        assert sample.stamp == line.interrupt(cycle + skid)
        begin = sample.stamp
    assert len(samples) > 10


@diagonal
@pytest.mark.parametrize("skid", [13, *(pytest.param(cycles, marks=pytest.mark.slow) for cycles in (1, 100))])
@pytest.mark.parametrize("pmu", PMUS)
@NAMES
def test_cycles_count_on_from_the_interrupt(name: str, pmu: str, skid: int) -> None:
    """From the cycle in which it came or a later one, up to the issue of its bundle, which may be in a later block."""
    line = timeline(name, pmu)
    samples = sampled(example(name, *SMALL[name]), pmu, [CYCLES[pmu]], [70], skid=skid).samples
    begins = {0}
    for sample in samples:
        came = {begin + 70 + skid for begin in begins if line.interrupt(begin + 70 + skid) == sample.stamp}
        assert came
        issue = line.cycle(sample.stamp + 1)
        begins = {begin for first in came for begin in range(first, issue)}
    assert len(samples) > 10


@pytest.mark.slow
@diagonal
@pytest.mark.parametrize("pmu", PMUS)
@pytest.mark.parametrize("event", ["BRANCH_EVENT", "DATA_EAR_CACHE_LAT4"])
def test_nothing_is_captured_between_an_overflow_and_its_interrupt(event: str, pmu: str) -> None:
    run = example("hashmap", "100")
    for period in (1, 5, 11):
        plain = sampled(run, pmu, [event], [period]).samples[0]
        for skid in (1, 50, 1000):
            late = sampled(run, pmu, [event], [period], skid=skid).samples[0]
            assert late.pmds == plain.pmds and late.stamp >= plain.stamp
            assert late.iip & 15 == 0
