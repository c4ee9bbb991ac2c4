"""Event sets at work on a running program: who counts when, and what it comes to.

The stream goes through a gate (triggers, PSR.up, the set whose turn it is) to a tally for each set. The machine, if one
runs, has a slot for each set, and one for what nobody counts. Whatever makes the counts of a stretch of the run, they
are asked for in one place, EventSets.totals.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from pfmon.engine.ia64.guest import Agenda, Guest
from pfmon.session.agenda import Alarm, Alarms
from pfmon.session.controls import Controls
from pfmon.session.counting import Count, Estimate, Value
from pfmon.session.event_sets import EventSets
from pfmon.stream.gate import Gate
from pfmon.stream.shapes import Consumer
from pfmon.stream.tally import Tally

if TYPE_CHECKING:
    from pfmon.machine.config import MachineFigures
    from pfmon.session.machine_run import MachineRun

PSR_UP = 1 << 2
CODE_GROUP, DATA_GROUP = 0, 1

Interval = tuple[int, list[Value]]
"""When an interval ended, in nanoseconds of the program's processor time, and its counts."""


class Monitoring:
    """One run's monitoring. ``consumer`` is for the engine; ``agenda`` is None when there is nothing to stop for."""

    def __init__(
        self,
        groups: Sequence[EventSets],
        controls: Controls,
        guest: Guest,
        nanoseconds: int = 1,
        on_interval: Callable[[Interval], None] = lambda _: None,
        machine: "MachineFigures | None" = None,
    ) -> None:
        """``nanoseconds``: what an instruction takes; ``on_interval``: gets the counts of every interval; ``machine``:
        what the program runs on, if that is counted."""
        self._groups = groups
        self._controls = controls
        self._processor = guest.processor
        self._nanoseconds = nanoseconds
        self._on_interval = on_interval
        self._turn = 0
        self._printed: list[int] = []
        self._reported = 0
        traced = self._processor.traced
        self._tallies = [group.tally(self._processor.shapes, traced) for group in groups]
        self._witness = groups[0].tally(self._processor.shapes, traced) if controls.true_values else None
        self._heeds_up = controls.insecure or controls.dont_start
        self._gate = self._make_gate() if len(groups) > 1 or controls.triggers or self._heeds_up else None
        self._prepare_processor()
        self._machine = self._make_machine(machine) if machine else None
        self.consumer: Consumer = self._machine.consumer if self._machine else self._gate or self._tallies[0]
        self.agenda = self._make_agenda()

    @property
    def running(self) -> "AbstractContextManager[object]":
        """The program runs within it."""
        return self._machine or nullcontext()

    def _make_machine(self, figures: "MachineFigures") -> "MachineRun":
        from pfmon.session.machine_run import MachineRun  # exact events alone do not need it

        group, gate = self._groups[0], self._gate
        beside = gate or (self._tallies[0] if group.wants_tally else None)
        slots = len(self._groups) + (1 if gate else 0)
        return MachineRun(figures, self._processor, group.data_ranges, beside, slots=slots, gate=gate)

    @property
    def tally(self) -> Tally:
        """The totals of the first set."""
        return self._tallies[0]

    def counts(self) -> list[Count]:
        """What the events came to, set by set; the counters are loaded with what they counted."""
        for number, group in enumerate(self._groups):
            self._attach(group, [number])
        totals = [group.take(self._processor, tally) for group, tally in zip(self._groups, self._tallies, strict=True)]
        if len(self._groups) == 1:
            return self._groups[0].counts()
        active = [tally.instructions() for tally in self._tallies]
        counts: list[Count] = []
        for number, group in enumerate(self._groups):
            estimates = [scaled(total, active[number], sum(active)) for total in totals[number]]
            values = group.values(estimates) if active[number] else [None] * len(group.values(estimates))
            raws = group.values(totals[number])
            trues: Sequence[Value] = [None] * len(values)
            if self._witness:
                self._attach(group, range(len(self._groups)))
                trues = group.values(group.totals(self._processor, self._witness))
            share = active[number] / sum(active) if any(active) else 0.0
            for count, value, raw, true in zip(group.counts(), values, raws, trues, strict=True):
                counts.append(count._replace(value=value, estimate=Estimate(number, share, raw, true)))
        return counts

    def finish_interval(self) -> None:
        """Report the last interval, which the end of the program cut."""
        if self._controls.interval is not None and self._processor.retired != self._reported:
            self._interval()

    def notes(self) -> list[str]:
        """What the user should know of the run: triggers that were never reached."""
        reached = self._gate.reached() if self._gate else []
        return [
            f"--{trigger.option}: {trigger.text} was never {'accessed' if trigger.data else 'reached'}"
            for trigger, hits in zip(self._controls.triggers, reached, strict=bool(reached))
            if not hits
        ]

    def _make_gate(self) -> Gate:
        triggers = self._controls.triggers
        return Gate(
            self._processor.shapes,
            self._tallies,
            traced=self._processor.traced,
            triggers=[(one.starts, DATA_GROUP if one.data else CODE_GROUP, one.repeats) for one in triggers],
            on=not any(one.starts for one in triggers),
            up=not self._controls.dont_start if self._heeds_up else None,
            witness=self._witness,
        )

    def _prepare_processor(self) -> None:
        """PSR.up, PSR.sp and the triggers."""
        cpu, triggers = self._processor, self._controls.triggers
        if not self._controls.dont_start:
            cpu.set_um(cpu.um | PSR_UP)
        cpu.set_secure(not self._controls.insecure)
        code = [one.address for one in triggers if not one.data]
        cpu.set_triggers(code, [(one.address, one.reads, one.writes) for one in triggers if one.data])
        for group in self._groups:
            group.set_secure(not self._controls.insecure)

    def _make_agenda(self) -> Agenda | None:
        alarms = []
        if self._controls.switch is not None:
            alarms.append(Alarm(self._period(self._controls.switch), self._switch))
        if self._controls.interval is not None:
            alarms.append(Alarm(self._period(self._controls.interval), self._interval))
        if not alarms and not self._controls.insecure:
            return None
        return Alarms(alarms, lambda: self._processor.retired, self._read_pmd)

    def _period(self, time: int) -> int:
        """A time in instructions."""
        return max(1, time // self._nanoseconds)

    def _switch(self) -> None:
        assert self._gate
        self._turn = (self._turn + 1) % len(self._groups)
        self._gate.choose(self._turn)
        if self._machine:
            self._machine.choose(self._turn)

    def _attach(self, group: EventSets, slots: Sequence[int]) -> None:
        """The group counts what the machine recorded in these slots."""
        if self._machine:
            group.attach(self._machine.counts(slots))

    def _catch_up(self, turn: int) -> None:
        """What a set has counted is known up to the next instruction."""
        if self._machine:
            self._machine.settle()
            self._attach(self._groups[turn], [turn])

    def _interval(self) -> None:
        group = self._groups[0]
        self._catch_up(0)
        self._reported = self._processor.retired
        now = group.totals(self._processor, self._tallies[0])
        before = self._printed or [0] * len(now)
        self._printed = now
        deltas = [after - earlier for after, earlier in zip(now, before, strict=True)]
        self._on_interval((self._processor.retired * self._nanoseconds, group.values(deltas)))

    def _read_pmd(self, number: int) -> int:
        """The counter of the set whose turn it is, as it stands."""
        self._catch_up(self._turn)
        group, tally = self._groups[self._turn], self._tallies[self._turn]
        return group.read_pmd(number, self._processor, tally)


def scaled(total: int, active: int, whole: int) -> int:
    """What a count is estimated to be that was taken for ``active`` out of ``whole`` time, rounded."""
    return (2 * total * whole + active) // (2 * active) if active else 0
