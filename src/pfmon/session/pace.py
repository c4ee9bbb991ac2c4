"""How far a program runs before it is looked whether a counter has wrapped.

The engine executes ahead of what is counted. The overflow itself is exact: what counts stops and starts at its
instruction. Only the signal that tells the program of it waits for the next look. An instruction adds little to an
exact event, so that the program can run as far as the counter has to go; cycles have no such bound, and the pace
follows what the last stretch took.
"""

from __future__ import annotations

from pfmon.counting.countable import counts_machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pfmon.pmu.programming import Monitor

WIDEST_ISSUE = 6
"""Instructions that retire in a cycle at most: what an event adds in a cycle is theirs together."""
FURTHEST = 4096
"""Instructions: what a signal may come late, where that saves looks."""
CYCLES = 4.0
"""An instruction takes about so many, if nothing is known yet."""
MARGIN = 1.5


class Pace:
    """Remembers what counters did since the last look."""

    def __init__(self) -> None:
        self._before: dict[int, tuple[int, int]] = {}

    def forget(self) -> None:
        """The counters were loaded."""
        self._before = {}

    def next_look(self, counters: Sequence[tuple[Monitor, int]], retired: int, least: int = 1) -> int | None:
        """The count of retired instructions at which to look again, ``least`` from here on; ``counters``: with what is
        left until each wraps."""
        steps = [self._step(monitor, left, retired) for monitor, left in counters]
        self._before = {monitor.pmd: (left, retired) for monitor, left in counters}
        return retired + max(least, min(steps)) if steps else None

    def _step(self, monitor: Monitor, left: int, retired: int) -> int:
        rate = self._rate(monitor.pmd, left, retired)
        if counts_machine(monitor):
            return max(1, min(FURTHEST, int(left / max(CYCLES, MARGIN * rate))))
        most = max(1, -(-monitor.event.max_increment // WIDEST_ISSUE))
        soon = min(FURTHEST, int(left / (MARGIN * rate))) if rate else 1
        return max(1, left // most, soon)

    def _rate(self, pmd: int, left: int, retired: int) -> float:
        """Events an instruction, since the last look; 0: nothing is known."""
        before, then = self._before.get(pmd, (0, retired))
        return (before - left) / (retired - then) if retired > then and before > left else 0.0
