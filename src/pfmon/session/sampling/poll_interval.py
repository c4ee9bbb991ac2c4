"""Poll intervals: the distance that a program runs before its counters are checked for overflow.

The engine executes ahead of the counters. The overflow itself is exact: counters stop and start at its instruction;
only the program's overflow signal waits for the next poll. An instruction adds a bounded number to an exact event, so
the program can run as far as the counter has left; cycles have no such bound, and the interval follows the rate of the
last one.
"""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.counting.totals.countable import counts_timing_model
from pfmon.pmu.model.programming import Monitor

WIDEST_ISSUE = 6
"""Maximum number of instructions retired in a cycle, which share the cycle's increment of an event."""
FURTHEST = 4096
"""Instructions by which a signal may be late, to save polls."""
CYCLES = 4.0
"""Assumed cycles per instruction until a rate is known."""
MARGIN = 1.5


class PollInterval:
    """Tracks the counters' rates since the last poll."""

    def __init__(self) -> None:
        self._before: dict[int, tuple[int, int]] = {}

    def forget(self) -> None:
        """Discard the rates after counters were loaded."""
        self._before = {}

    def next_poll(self, counters: Sequence[tuple[Monitor, int]], retired: int, least: int = 1) -> int | None:
        """Return the number of retired instructions at the next poll, at least ``least`` ahead; ``counters``: each with
        its distance from overflow."""
        steps = [self._step(monitor, left, retired) for monitor, left in counters]
        self._before = {monitor.pmd: (left, retired) for monitor, left in counters}
        return retired + max(least, min(steps)) if steps else None

    def _step(self, monitor: Monitor, left: int, retired: int) -> int:
        rate = self._rate(monitor.pmd, left, retired)
        if counts_timing_model(monitor):
            return max(1, min(FURTHEST, int(left / max(CYCLES, MARGIN * rate))))
        most = max(1, -(-monitor.event.max_increment // WIDEST_ISSUE))
        soon = min(FURTHEST, int(left / (MARGIN * rate))) if rate else 1
        return max(1, left // most, soon)

    def _rate(self, pmd: int, left: int, retired: int) -> float:
        """Return events per instruction since the last poll; 0: unknown."""
        before, then = self._before.get(pmd, (0, retired))
        return (before - left) / (retired - then) if retired > then and before > left else 0.0
