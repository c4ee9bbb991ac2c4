"""Turns of a system's two processors by the machines that read their streams: two hardware threads of a core, which its
switches give the core, or two cores, whose order is that of their cycles.

The machines ask for the stream of one processor when they need it. It then executes a part of at most PART
instructions, which ends before an access to its clock. So both processors execute at the machine's time, and the order
of what they do to each other is the machine's, as exactly as a part is short.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pfmon.engine.api import StreamDemand
from pfmon.engine.ia64.system.logical_processor import LogicalProcessor, next_processor
from pfmon.engine.ia64.system.system_clock import SystemClock

PART = 1000
"""Instructions: at most some thousand cycles."""


class CoupledTurns:
    """``processors``: two. ``on_idle``: as of `next_processor`."""

    def __init__(
        self, processors: Sequence[LogicalProcessor], demand: StreamDemand, on_idle: Callable[[int], None]
    ) -> None:
        self._processors, self._demand, self._on_idle = processors, demand, on_idle
        self._asleep = [False, True]
        """As the machines have it: the second one begins when it is woken."""
        self._told = [False, False]
        """Whether the machine knows of the interrupt that has arrived at a processor."""
        for one in processors:
            one.clock = SystemClock(one.processor)

    def begin(self) -> LogicalProcessor | None:
        """Return the processor whose stream is needed, at its time; it may wait. None: neither can ever wake."""
        number, cycle = self._demand.wait()
        chosen, other = self._processors[number], self._processors[1 - number]
        chosen.catch_up(cycle)
        assert other.clock
        if (other.waits or self._demand.shares_core) and other.clock.cycles < cycle:
            other.catch_up(cycle)
        other.wake()
        if chosen.waits and other.waits and next_processor(self._processors, self._on_idle) is None:
            return None
        assert chosen.clock
        if not chosen.waits:
            self._told[number] = False
            chosen.clock.answer()
        return chosen

    def end(self, chosen: LogicalProcessor) -> None:
        """Hand over what the processor has executed."""
        other = self._processors[1 - chosen.number]
        other.wake()
        sleeps = chosen.waits and not other.waits
        wakes = self._asleep[other.number] and not other.waits
        arrived = other.processor.interrupt_due and not (other.waits or self._told[other.number])
        self._told[other.number] |= arrived
        self._demand.end_part(chosen.processor.ip, sleeps, wakes, arrived and self._demand.shares_core)
        self._asleep[chosen.number] = sleeps
        self._asleep[other.number] &= not wakes
