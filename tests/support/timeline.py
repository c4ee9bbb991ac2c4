"""Which instructions of a run issued in which cycle: from a sample of every cycle, without skid."""

from bisect import bisect_left
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

import pytest
from captured import CYCLES, Program, example, sampled

SMALL = {"queens": ("5",), "sort": ("40",), "strings": ("20",)}
NAMES = pytest.mark.parametrize(
    "name", ["queens", *(pytest.param(name, marks=pytest.mark.slow) for name in SMALL if name != "queens")]
)


class Timeline(NamedTuple):
    """By cycle, from 1 on: how many instructions of the log have issued when it ends; the places of the log."""

    issued: list[int]
    places: list[int]

    def cycle(self, number: int) -> int:
        """The cycle in which the instruction of this number issued, counted from 1 on."""
        return bisect_left(self.issued, number)

    def interrupt(self, cycle: int) -> int | None:
        """The number of the first bundle that begins behind all that has issued when a cycle ends."""
        if cycle >= len(self.issued):
            return None
        behind = range(self.issued[cycle], len(self.places))
        return next((number for number in behind if self.places[number] & 15 == 0), None)


@cache
def timeline(name: str, pmu: str) -> Timeline:
    """From a sample of every cycle without skid. One in which something issued says what, the others do not count."""
    run = example(name, *SMALL[name])
    places = [step.bundle | step.number for step in run.steps]
    issued, busy = [0], 0
    for sample in every_cycle(run, pmu):
        if sample[1] > busy:
            busy = sample[1]
            issued.append(places.index(sample[0], issued[-1]) + 1)
        else:
            issued.append(issued[-1])
    assert issued[-1] == len(places)
    return Timeline(issued, places)


def every_cycle(run: Program, pmu: str) -> list[tuple[int, int]]:
    """Where each cycle was, and how many have issued something so far."""
    event = "INST_DISPERSED" if pmu == "itanium" else "BACK_END_BUBBLE_ALL"
    samples = sampled(run, pmu, [CYCLES[pmu], event], [1, None]).samples
    (counter,) = (number for number in samples[-1].pmds if samples[-1].pmds[number])
    counts = [one.pmds[counter] for one in samples]
    if pmu != "itanium":
        return [(one.iip, number - count) for number, (one, count) in enumerate(zip(samples, counts, strict=True), 1)]
    rises = accumulate(now > before for before, now in pairwise([0, *counts]))
    return [(one.iip, rise) for one, rise in zip(samples, rises, strict=True)]
