"""The IP-EAR of a hardware thread that loses its core: an early freeze (Montecito manual table 3-33)."""

from functools import cache

import pytest
from command import example

import pfmon

from .test_ip_ear import Entry, entries_of

MISSES = [example("chase"), "4800", "100"]
SWITCH = 15
"""Cycles from the start of a switch to the first retirement (Montecito manual 2.4.1)."""


@cache
def samples(delay: int, event: str, period: int) -> list[list[Entry]]:
    """What the buffers of thread 0 held, sample by sample, the oldest entry first."""
    both = pfmon.smt([MISSES, MISSES], events=[event], long_smpl_periods=[period], ip_ear=delay, capture=True)
    taken = both.threads[0].samples
    assert taken is not None
    return [entries_of(dict(sample.pmds)) for sample in taken]


@pytest.mark.slow
def test_a_switch_is_an_entry_and_what_follows_is_behind_a_flush() -> None:
    found = [entries for entries in samples(8, "ia64_inst_retired", 997) if any(one.early for one in entries[:-1])]
    behind = [entries[place + 1] for entries in found for place, one in enumerate(entries[:-1]) if one.early and place]
    assert len(behind) > 20
    assert all(one.flush and one.cycles >= SWITCH and not one.early for one in behind)
    assert min(one.cycles for one in behind) == SWITCH


@pytest.mark.slow
def test_nothing_is_captured_behind_a_switch_within_the_delay() -> None:
    cut = [entries for entries in samples(255, "l3_misses", 499) if any(one.early for one in entries)]
    assert len(cut) > 20
    ended = [entries for entries in cut if entries[-1].early]
    assert len(ended) > 20
    assert all(0 < entries[-1].bundle >> 4 & 0xFF <= 255 for entries in ended)  # so much of the delay was left


@pytest.mark.slow
def test_one_thread_alone_never_loses_its_core() -> None:
    alone = pfmon.run(
        MISSES, pmu="montecito", events=["ia64_inst_retired"], long_smpl_periods=[997], ip_ear=8, capture=True
    )
    assert alone.samples and not any(one.early for sample in alone.samples for one in entries_of(dict(sample.pmds)))
