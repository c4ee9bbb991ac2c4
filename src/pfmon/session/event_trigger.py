"""Counting that starts when another event has happened so often (IBM's event-triggered monitoring, for every PMU).

The trigger event has a PMU of its own, and counts live in front of the gate: the instruction at which its counter
overflows is known before the gate passes it on, and the gate opens behind it.
"""

from __future__ import annotations

from pfmon.counting.live_unit import LiveUnit
from pfmon.errors import PfmonError
from pfmon.pmu.request import EventRequest, Request
from pfmon.session.agenda import Once
from pfmon.session.counting import Counting
from pfmon.stream.tee import Tee

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.counting.gate import Gate
    from pfmon.counting.live_unit import Overflow
    from pfmon.pmu.model import PmuModel
    from pfmon.session.agenda import Alarms
    from pfmon.session.controls import EventTrigger
    from pfmon.stream.consumer import Consumer
    from pfmon.stream.table import BlockTable


class EventStart:
    """Waits for the trigger event, and opens a gate then."""

    def __init__(
        self, model: PmuModel, trigger: EventTrigger, table: BlockTable, traced: bool, gate: Gate, alarms: Alarms
    ) -> None:
        """PfmonError: the PMU cannot count the event, or only a machine can."""
        self.trigger = trigger
        self.reached = False
        self._gate, self._alarms = gate, alarms
        counting = Counting(model, Request((EventRequest(trigger.event),)))
        if counting.unit.wants_machine:
            raise PfmonError(
                f"--trigger-event={trigger.text}: the machine decides when {trigger.event} happens; events that "
                "architecture decides can trigger (pfmon -i says which)"
            )
        registers = counting.counters.registers
        (pmd,) = counting.programming.counters
        registers.hold({pmd: (1 << registers.bank.width) - trigger.times})
        self._unit = LiveUnit(model, registers, table, traced, self._overflowed)

    @property
    def consumer(self) -> Consumer:
        """What gets the stream, and hands it on to the gate."""
        return Tee(self._unit.consumer, self._gate)

    def _overflowed(self, overflow: Overflow) -> None:
        """Once is enough. The gate has yet to pass on the block in which it happened."""
        self.reached = True
        self._unit.registers.stop()
        self._alarms.add(Once(overflow.retired, self._gate.start))
        self._gate.stop_at(overflow.retired)

    def note(self) -> list[str]:
        """What there is to say of it."""
        return [] if self.reached else [f"--trigger-event: {self.trigger.text} was never reached, so nothing counted"]
