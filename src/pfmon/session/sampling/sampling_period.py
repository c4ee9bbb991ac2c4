"""Sampling: at each overflow of an event's counter with a period, the PMU's registers are kept as a sample.

The driver's part (perfmon) is in counting/sampling/sampler.pyx: it loads counters so that they overflow after a period,
handles the overflow, stores a sample (sample_buffer.pyx), and loads the next period.
"""

from __future__ import annotations

from typing import Any, NamedTuple

ENTRIES = 2048
"""Default number of samples in a buffer."""


class Period(NamedTuple):
    """The events from one overflow of a counter to the next: ``short`` at first and within a buffer, ``long`` after a
    full buffer was delivered. Each is increased by a random number masked by ``mask``, from ``seed`` on."""

    long: int
    short: int
    mask: int = 0
    seed: int = 1


class SetSampling(NamedTuple):
    """The sampling of an event set. ``periods``: by event, None for one that only counts; ``extra``: further
    PMDs in every sample; ``reset``: the PMDs of counters without a period that begin at 0 again with every sample,
    None: all of these."""

    periods: tuple[Period | None, ...]
    extra: tuple[int, ...] = ()
    reset: tuple[int, ...] | None = ()


class Sampling(NamedTuple):
    """The sampling of a run. ``sets``: by event set; ``entries``: samples in a buffer; ``saturate``: none are taken
    after the first full one; ``truth``: count as well where the sampled event happens; ``stacks``: with the calls that
    the program is in; ``skid``: cycles from an overflow to its interrupt."""

    sets: tuple[SetSampling, ...]
    entries: int = ENTRIES
    saturate: bool = False
    truth: bool = False
    stacks: bool = False
    skid: int = 0


class Sample(NamedTuple):
    """``iip``: address | slot of the instruction that made a counter overflow (0: none did), with a skid the bundle
    that the interrupt came before; ``stamp``: cycles of the machine so far, or where none runs instructions
    that had retired, itself included; ``overflowed``: PMDs;
    ``last``: the period that ended, of the first of them; ``set``: the event set; ``pmds``: by number, the counters
    without a period and what they had counted, and the other registers that were asked for as they were;
    ``calls``: the instructions that called, the latest first, if stacks were asked for; ``thread``: the number of the
    one that ran (0: not known); ``retired``: instructions that had retired, itself included."""

    iip: int
    stamp: int
    overflowed: tuple[int, ...]
    last: int
    set: int
    pmds: tuple[tuple[int, int], ...]
    calls: tuple[int, ...] = ()
    thread: int = 0
    retired: int = 0

    def to_dict(self) -> dict[str, Any]:
        """iip, stamp, overflowed (PMDs), last_val, set, pmds (number: value), calls (addresses), thread (null: not
        known), instructions (that had retired)."""
        return {
            "iip": self.iip,
            "stamp": self.stamp,
            "overflowed": list(self.overflowed),
            "last_val": self.last,
            "set": self.set,
            "pmds": {str(number): value for number, value in self.pmds},
            "calls": list(self.calls),
            "thread": self.thread or None,
            "instructions": self.retired,
        }
