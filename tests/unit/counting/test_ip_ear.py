"""The IP-EAR of Montecito: which bundles retired when, up to so many cycles behind the overflow (3.3.10.2)."""

from functools import cache
from typing import NamedTuple

import pytest
from captured import example, sampled
from timeline import NAMES, SMALL, timeline

from pfmon.pmu.model.request import IpEarRequest

PMU, CYCLES, INSTRUCTIONS = "montecito", "CPU_OP_CYCLES_ALL", "IA64_INST_RETIRED"
ENTRIES = 16
MAX_ELAPSED_CYCLES = 63
"""Six bits count the cycles, and stay at all ones (table 3-31)."""


class Entry(NamedTuple):
    """A bundle that retired, cycles since the one before, whether the pipeline was flushed between, early freeze."""

    bundle: int
    cycles: int
    flush: bool
    early: bool


def entries_of(pmds: dict[int, int]) -> list[Entry]:
    """What the registers hold, the oldest first (figures 3-28 to 3-31, tables 3-31 to 3-33)."""
    index, full = pmds[38] & 15, pmds[38] >> 5 & 1
    found = []
    for number in range(ENTRIES):
        extension = pmds[39] >> 8 * (number % 8) + 4 * (number // 8) & 15
        value = pmds[48 + number]
        cycles = value >> 60 | (extension >> 2) << 4
        bundle = (value & (1 << 60) - 1) << 4
        found.append(Entry(bundle, cycles, bool(extension & 2), bool(extension & 1)))
    return found[index:] * full + found[:index]


@cache
def flushes(name: str) -> list[int]:
    """How many cycles were lost to flushes when each cycle ended."""
    run = example(name, *SMALL[name])
    samples = sampled(run, PMU, [CYCLES, "BE_FLUSH_BUBBLE_ALL"], [1, None]).samples
    (counter,) = (number for number in samples[-1].pmds if samples[-1].pmds[number])
    return [0, *(sample.pmds[counter] for sample in samples)]


def retired(name: str, first: int, last: int) -> list[Entry]:
    """What the log has between two cycles, the last included: for each in which something issued its first bundle."""
    line, lost = timeline(name, PMU), flushes(name)
    found, before = [], first
    for cycle in range(first + 1, min(last, len(line.issued) - 1) + 1):
        if line.issued[cycle] > line.issued[cycle - 1]:
            bundle = line.places[line.issued[cycle - 1]] & ~15
            found.append(Entry(bundle, min(cycle - before, MAX_ELAPSED_CYCLES), lost[cycle] > lost[before], False))
            before = cycle
    return found


@pytest.mark.slow
@NAMES
def test_the_buffer_ends_so_many_cycles_behind_the_overflow(name: str) -> None:
    run = example(name, *SMALL[name])
    for delay in (0, 1, 7, 100, 255):
        for period in (700, 1000, 1501, 2001, 2600):
            samples = sampled(run, PMU, [CYCLES], [period], ip_ear=IpEarRequest(delay, 8)).samples
            assert entries_of(samples[0].pmds) == retired(name, 0, period + delay)[-ENTRIES:], (delay, period)


def test_there_are_flushes_and_long_waits_among_the_entries() -> None:
    found = retired("queens", 0, 10_000)
    assert any(one.flush for one in found) and not all(one.flush for one in found)
    assert any(one.cycles == MAX_ELAPSED_CYCLES for one in found) and len({one.cycles for one in found}) > 5


@pytest.mark.slow
@NAMES
def test_the_buffer_ends_so_many_cycles_behind_an_instruction(name: str) -> None:
    line, run = timeline(name, PMU), example(name, *SMALL[name])
    for delay in (0, 1, 7, 100):
        for period in (30, 500, 997, 1500, 2501):
            cycle = next(number for number, issued in enumerate(line.issued) if issued >= period)
            samples = sampled(run, PMU, [INSTRUCTIONS], [period], ip_ear=IpEarRequest(delay, 8)).samples
            assert entries_of(samples[0].pmds) == retired(name, 0, cycle + delay)[-ENTRIES:], (delay, period)
