"""The interrupt comes so many cycles behind the overflow, at the next bundle that has not issued."""

import pytest
from captured import CYCLES, example, sampled
from timeline import SMALL, timeline

PMUS = tuple(CYCLES)
INSTRUCTIONS = "IA64_INST_RETIRED"


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


@pytest.mark.parametrize("pmu", PMUS)
@pytest.mark.parametrize("name", SMALL)
def test_an_interrupt_comes_so_many_cycles_behind_a_cycle(name: str, pmu: str) -> None:
    cycles = len(timeline(name, pmu).issued) - 1
    for period in (1, 1000, 2001, 3777, cycles - 30, cycles):
        for skid in (1, 2, 13, 100, 1000):
            check_first(name, pmu, CYCLES[pmu], period, skid, period)


@pytest.mark.parametrize("pmu", PMUS)
@pytest.mark.parametrize("name", SMALL)
def test_an_interrupt_comes_so_many_cycles_behind_an_instruction(name: str, pmu: str) -> None:
    line = timeline(name, pmu)
    for period in (1, 2, 50, 997, 1500, 2501, len(line.places) - 5, len(line.places)):
        cycle = next(number for number, issued in enumerate(line.issued) if issued >= period)
        for skid in (1, 2, 13, 100, 1000):
            check_first(name, pmu, INSTRUCTIONS, period, skid, cycle)
