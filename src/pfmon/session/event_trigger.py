"""Counting that starts when another event has happened so often (IBM's event-triggered monitoring, for every PMU).

The trigger event has a PMU of its own, and counts live in front of the gate: the instruction at which its counter
overflows is known before the gate passes it on, and the gate opens behind it.
"""

from __future__ import annotations

from pfmon.counting.live_unit import LiveUnit
from pfmon.errors import PfmonError
from pfmon.pmu.request import EventRequest, Request
from pfmon.session.counting import Counting
from pfmon.stream.tee import Tee

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from pfmon.counting.live_unit import Overflow
    from pfmon.pmu.model import PmuModel
    from pfmon.session.controls import EventTrigger
    from pfmon.stream.consumer import Consumer
    from pfmon.stream.table import BlockTable


class EventStart:
    """Waits for the trigger event. ``on_reached`` gets the number of instructions that have retired then."""

    def __init__(
        self, model: PmuModel, trigger: EventTrigger, table: BlockTable, traced: bool, on_reached: Callable[[int], None]
    ) -> None:
        """PfmonError: the PMU cannot count the event, or only a machine can."""
        self.trigger = trigger
        self.reached = False
        self._on_reached = on_reached
        counting = Counting(model, Request((EventRequest(trigger.event),)))
        if counting.unit.wants_machine:
            raise PfmonError(
                f"--trigger-event={trigger.text}: the machine decides when {trigger.event} happens; events that "
                "architecture decides can trigger (pfmon -i says which)"
            )
        registers = counting.counters.registers
        (pmd,) = counting.programming.counters
        registers.write(f"pmd{pmd}", (1 << registers.bank.width) - trigger.times)
        self._unit = LiveUnit(model, registers, table, traced, self._overflowed)

    def before(self, reader: Consumer) -> Consumer:
        """What gets the stream, and hands it on to ``reader``."""
        return Tee(self._unit.consumer, reader)

    def _overflowed(self, overflow: Overflow) -> None:
        """The PMU stays frozen: once is enough."""
        self.reached = True
        self._unit.registers.set_field("pmc0", "fr", 1)
        self._on_reached(overflow.retired)

    def note(self) -> list[str]:
        """What there is to say of it."""
        return [] if self.reached else [f"--trigger-event: {self.trigger.text} was never reached, so nothing counted"]
