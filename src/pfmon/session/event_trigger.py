"""Counting that starts when another event has happened so often (IBM's event-triggered monitoring, for every PMU).

The trigger event has a PMU of its own. One that architecture decides counts live in front of the gate: the instruction
at which its counter overflows is known before the gate passes it on, and the gate opens behind it. What happens on a
machine is only known behind the gate: such an event counts beside the counters that it starts, which count live then.
"""

from __future__ import annotations

from pfmon.counting.live_unit import LiveUnit
from pfmon.errors import PfmonError
from pfmon.light_typing import NamedTuple
from pfmon.pmu.request import EventRequest, Request
from pfmon.session.agenda import Once
from pfmon.session.counting import Counting
from pfmon.session.steering import counts_at_the_end
from pfmon.stream.tee import Tee

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.counting.gate import Gate
    from pfmon.counting.live_unit import Overflow
    from pfmon.pmu.model import PmuModel
    from pfmon.pmu.programming import Monitor
    from pfmon.session.agenda import Alarms
    from pfmon.session.controls import EventTrigger
    from pfmon.stream.consumer import Consumer
    from pfmon.stream.table import BlockTable


class MachineTrigger(NamedTuple):
    """An event that the machine decides, as a monitor, and how often it has to happen. It counts beside the counters
    that it starts, as the machine shows its records."""

    monitor: Monitor
    times: int
    text: str

    def note(self, reached: bool) -> list[str]:
        """What there is to say of it."""
        return note(self.text, reached)


def machine_trigger(model: PmuModel, trigger: EventTrigger | None) -> MachineTrigger | None:
    """The trigger, if the machine decides when it happens. PfmonError: the PMU cannot count it, or its machine cannot
    show it to counters at once."""
    if trigger is None:
        return None
    counting = Counting(model, Request((EventRequest(trigger.event),)))
    if not counting.unit.wants_machine:
        return None
    (monitor,) = counting.programming.monitors
    if model.architecture == "ia64":
        raise PfmonError(
            f"--trigger-event={trigger.text}: the machine decides when {trigger.event} happens, and that of an Itanium "
            "tells it by block; events that architecture decides can trigger (pfmon -i says which)"
        )
    if counts_at_the_end(monitor.signal):
        raise PfmonError(f"--trigger-event={trigger.text}: the reference clock counts at the end of the run")
    return MachineTrigger(monitor, trigger.times, trigger.text)


def note(text: str, reached: bool) -> list[str]:
    """What there is to say of a trigger that was reached or not."""
    return [] if reached else [f"--trigger-event: {text} was never reached, so nothing counted"]


class EventStart:
    """Waits for the trigger event, and opens a gate then."""

    def __init__(
        self, model: PmuModel, trigger: EventTrigger, table: BlockTable, traced: bool, gate: Gate, alarms: Alarms
    ) -> None:
        """PfmonError: the PMU cannot count the event. No machine decides when it happens."""
        self.trigger = trigger
        self.reached = False
        self._gate, self._alarms = gate, alarms
        counting = Counting(model, Request((EventRequest(trigger.event),)))
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
        return note(self.trigger.text, self.reached)
