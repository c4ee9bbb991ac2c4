"""Counting that starts, or stops, when another event has happened so often (IBM's event-triggered monitoring, for every
PMU).

Such an event has a PMU of its own. One that architecture decides counts live in front of the gate: the instruction at
which its counter overflows is known before the gate passes it on, and the gate opens, or closes, behind it. What
happens on a machine is only known behind the gate: such an event counts beside the counters that it starts and stops,
which count live then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pfmon.counting._counting import Gate, LiveCounting
from pfmon.errors import PfmonError
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.programming import Monitor
from pfmon.pmu.model.request import Request, event_requests
from pfmon.session.run.controls import Controls, EventTrigger
from pfmon.session.run.programmed_pmu import ProgrammedPmu
from pfmon.session.sampling.timers import OneShotTimer, Timers
from pfmon.session.triggers.event_triggered import counts_at_the_end
from pfmon.stream._stream import BlockTable, Consumer, Tee

if TYPE_CHECKING:
    Watched = tuple[Monitor, int]
    """A monitor, and how often its event has to happen."""


class MachineTrigger(NamedTuple):
    """Events that start and stop counting and of which the machine decides one. They count beside the counters that
    they start, as the machine shows its records. None: counting starts, or stops, by itself."""

    start: EventTrigger | None
    starting: Watched | None
    stop: EventTrigger | None
    stopping: Watched | None

    def notes(self, live: LiveCounting) -> list[str]:
        """Notes on the event triggers."""
        return notes(self.start, live.triggered, self.stop, live.stopped)


def machine_trigger(model: PmuModel, controls: Controls) -> MachineTrigger | None:
    """The events, if the machine decides when one happens. PfmonError: the PMU cannot count it, or its machine cannot
    show it to counters at once."""
    start, stop = controls.event_trigger, controls.stop_event
    counting = {one: _counting(model, one) for one in (start, stop) if one}
    if not any(one.unit.wants_machine for one in counting.values()):
        return None
    for one, made in counting.items():
        if made.unit.wants_machine:
            _check_machine(model, one, made)

    def watched(one: EventTrigger | None) -> Watched | None:
        return (counting[one].programming.monitors[0], one.times) if one else None

    return MachineTrigger(start, watched(start), stop, watched(stop))


def _counting(model: PmuModel, trigger: EventTrigger) -> ProgrammedPmu:
    return ProgrammedPmu(model, Request(event_requests([trigger.event])))


def _check_machine(model: PmuModel, trigger: EventTrigger, counting: ProgrammedPmu) -> None:
    option = f"--{trigger.option}={trigger.text}"
    (monitor,) = counting.programming.monitors
    if model.architecture == "ia64":
        raise PfmonError(
            f"{option}: the machine decides when {trigger.event} happens, and that of an Itanium "
            "tells it by block; events that architecture decides can trigger (pfmon -i says which)"
        )
    if counts_at_the_end(monitor.signal):
        raise PfmonError(f"{option}: the reference clock counts at the end of the run")


def notes(start: EventTrigger | None, started: bool, stop: EventTrigger | None, stopped: bool) -> list[str]:
    """Notes on trigger events that did not occur often enough."""
    if start and not started:
        return [f"--{start.option}: {start.text} was never reached, so nothing counted"]
    if stop and not stopped:
        return [f"--{stop.option}: {stop.text} was never reached, so all counted to the end"]
    return []


class EventGate:
    """Waits for the event that starts counting, then for the one that stops it, and opens and closes a gate then."""

    def __init__(
        self, model: PmuModel, controls: Controls, table: BlockTable, traced: bool, gate: Gate, timers: Timers
    ) -> None:
        """PfmonError: the PMU cannot count an event. No machine decides when it happens."""
        self._start, self._stop = controls.event_trigger, controls.stop_event
        self._gate, self._timers = gate, timers
        wanted = [one for one in (self._start, self._stop) if one]
        self._waiting = [(one, _counting(model, one).unit.increments()) for one in wanted]
        first, increments = self._waiting[0]
        self._live = LiveCounting(table, increments, traced, self._overflowed)
        self._live.load(0, first.times)

    @property
    def consumer(self) -> Consumer:
        """The consumer of the stream in front of the gate."""
        return Tee(self._live, self._gate)

    def _overflowed(self, _monitors: list[int], _address: int, retired: int) -> None:
        """The event that is waited for has happened. The gate has yet to pass on the block in which it did."""
        happened, _ = self._waiting.pop(0)
        self._timers.add(OneShotTimer(retired, self._gate.start if happened is self._start else self._gate.stop))
        self._gate.set_due(retired)
        if self._waiting:
            following, increments = self._waiting[0]
            self._live.program(increments)
            self._live.load(0, following.times)
        else:
            self._live.freeze(True)

    def notes(self) -> list[str]:
        """Notes on the trigger events. Raises the error of their counting."""
        if self._live.error:
            raise self._live.error
        waiting = [one for one, _ in self._waiting]
        return notes(self._start, self._start not in waiting, self._stop, self._stop not in waiting)
