"""Monitoring of a running program by event sets.

The stream passes a gate (triggers, PSR.up, the active set) to a tally for each set. A machine keeps its records
separately for each event set, and for the time when none counts. All counts are computed by EventSets.totals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from pfmon.counting._counting import CallTree, DataRangeTally, Gate, RecordCounts, Tally
from pfmon.counting.totals.counting_unit import MachineRecords
from pfmon.engine.api import Engine, TaskedEngine
from pfmon.engine.system_settings import TASKS_APART, SystemTask
from pfmon.errors import LostError
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.session.coupled.coupled_run import HardwareThread
from pfmon.session.run.controls import Controls
from pfmon.session.run.event_sets import EventSets
from pfmon.session.run.programmed_pmu import Count, Estimate, RunData, ThreadCounts, Value
from pfmon.session.run.run_plan import ResolvedAddresses
from pfmon.session.run.system_task_counts import SystemTaskCounts
from pfmon.session.sampling.timers import PeriodicTimer, Timers
from pfmon.session.triggers.regions import REGION_SETS, RegionCounts, check_region_sets, region_counts
from pfmon.session.triggers.trigger_gate import event_start, gate, move, unreached
from pfmon.stream._stream import Consumer, Failure, Tee

if TYPE_CHECKING:
    from pfmon.session.profile.python_profile import PythonProfile
    from pfmon.session.run.machine_run import MachineRun


MAX_TREE_MONITORS = 7
"""Monitors whose counts each call path has (call_tree.pxd)."""
THREADS_APART = 64
"""Maximum number of threads counted separately; the last ones are counted together."""

Interval = tuple[int, list[Value]]
"""The end of an interval, in nanoseconds of the program's processor time, and its counts."""


class Monitoring:
    """The monitoring of one run. ``consumer`` is for the engine; `read_data` serves the program's reads of counters."""

    pmu = None
    """None: pfmon, not the program, uses the PMU."""

    def __init__(
        self,
        groups: Sequence[EventSets],
        controls: Controls,
        engine: Engine,
        nanoseconds: int = 1,
        on_interval: Callable[[Interval], None] = lambda _: None,
        machine: MachineFigures | None = None,
        threaded: bool = True,
        memo: bool = True,
        traced: bool | None = None,
        hardware_thread: HardwareThread | None = None,
        python: bool = False,
    ) -> None:
        """``nanoseconds``: per instruction; ``on_interval``: called with the counts of every interval; ``machine``: its
        figures, if its events are counted; ``threaded``: in its own thread; ``memo``: with replay of blocks;
        ``traced``: whether its stream has addresses (None: as the engine's); ``hardware_thread``: the hardware thread
        of a shared core; ``python``: also by Python function, of one event set that counts all the time."""
        self._groups = groups
        self._hardware_thread = hardware_thread
        self._controls = controls
        self._engine = engine
        self._nanoseconds = nanoseconds
        self._on_interval = on_interval
        self._turn = 0
        self.totals: Sequence[int] = ()
        """The total of each monitor of the first set, once known."""
        self._printed: list[int] = []
        self._reported = 0
        table = engine.table
        self._traced = traced = engine.traced if traced is None else traced
        self._apart = self._readers_apart(controls)
        readers = [groups[0]] * self._apart if self._apart else groups
        self._tallies = [group.tally(table, traced) for group in readers]
        self._witness = groups[0].tally(table, traced) if controls.true_values else None
        self._timers = self._make_timers()
        gated = len(groups) > 1 or controls.gates or bool(self._timers)
        self._python = python and not gated and len(self._tallies) == 1 and len(groups[0].sets) == 1
        self._machine = self._make_machine(machine, memo, gated, threaded) if machine else None
        self._calls = self._call_tree() if self._python else None
        self._gate = self._make_gate() if gated else None
        self._start = event_start(controls, groups[0].model, table, traced, self._gate, self._timers)
        engine.set_monitoring(on=not controls.dont_start, locked=not controls.insecure)
        for group in groups:
            group.set_secure(not controls.insecure)
        self.consumer: Consumer = self._feed()

    @property
    def running(self) -> AbstractContextManager[object]:
        """The context of the program's run."""
        return self._machine or nullcontext()

    @staticmethod
    def _readers_apart(controls: Controls) -> int:
        """Return the number of readers that threads, tasks or sets of regions have; 0: event sets have them."""
        if controls.per_thread:
            return THREADS_APART
        return TASKS_APART if controls.tasks_apart else REGION_SETS if controls.per_region else 0

    def _make_machine(self, figures: MachineFigures, memo: bool, gated: bool, threaded: bool) -> MachineRun:
        from pfmon.session.run.machine_run import MachineRun

        event_sets = len(self._tallies) + gated
        threaded = threaded and not self._engine.capabilities.apart
        ranges = self._groups[0].data_ranges
        timed = gated or self._python or self._controls.true_values or any(group.wants_time for group in self._groups)
        units = [one.unit for group in self._groups for one in group.sets]
        run = MachineRun(figures, self._engine.table, ranges, memo, event_sets, threaded, self._hardware_thread, timed)
        if not run.timed:
            return run
        run.record_for(units)
        self._watch(run)
        if not any(unit.counts_levels for unit in units):
            run.forget_levels()
        return run

    def _call_tree(self) -> CallTree | None:
        """Return what counts by call path, which Python functions are part of; None: there are too many monitors."""
        from pfmon.counting.totals.counting_unit import stack_rate

        unit, table, cycles = self._groups[0].sets[0].unit, self._engine.table, None
        if len(unit.everyone) > MAX_TREE_MONITORS:
            return None
        if self._machine:
            records, rate = self._machine.machine.records, stack_rate(self._machine.figures)
            cycles = RecordCounts(unit.queries(), unit.query_increments(), table, records, rate)
        tree = CallTree(table, unit.increments(), cycles, self._traced, counts_words=True)
        if self._machine:
            self._machine.machine.set_observer(tree)
        return tree

    def python(self) -> PythonProfile | None:
        """Return the counts by Python function; None: the program has called none."""
        tree, functions, group = self._calls, self._engine.functions, self._groups[0]
        if tree is None or not functions:
            return None
        from pfmon.session.profile.python_profile import python_profile

        if tree.lost:
            raise LostError("cannot be counted by Python function: memory ran out")
        ordered = group.sets[0].ordered

        def values(counts: Sequence[int]) -> Sequence[Value]:
            return group.values(ordered(counts[:-1]))

        return python_profile(tree.nodes(), tree.python_lines(), functions, values)

    def _watch(self, run: MachineRun) -> None:
        """Connect the machine to the event address registers and trace buffers of each event set while it counts; for
        true values to those of all sets always."""
        from pfmon.machine._machine import combined_listener

        first = 0
        for group in self._groups:
            first = group.number(first)
        captures = [group.captures(self._engine.table, self._controls.ear_seed) for group in self._groups]
        if self._apart:
            captures *= self._apart  # one PMU for all threads
        everyone = [one for own in captures for one in own]
        for number, own in enumerate(captures):
            run.machine.listen(combined_listener(everyone if self._controls.true_values else own), number)
        own_conditions = [group.conditions(self._engine.table) for group in self._groups]
        for number, conditions in enumerate(own_conditions):
            if self._controls.true_values:
                conditions = [one for group in self._groups for one in group.conditions(self._engine.table)]
            run.listen_to_cycles(conditions, number)

    def _feed(self) -> Consumer:
        """Return the engine's consumer: the gate, which passes the stream to the tallies and the machine."""
        gate = self._start.consumer if self._start else self._gate
        if self._machine is None:
            tally = self._tallies[0]
            return gate or (Tee(tally, self._calls) if self._calls else tally)
        if gate:
            return self._machine.feed(gate)
        beside = self._tallies[0] if self._groups[0].wants_tally else None
        return self._machine.feed(beside=beside)

    @property
    def tally(self) -> Tally:
        """The tally of the first set."""
        return self._tallies[0]

    def seen(self, turn: int = 0) -> RunData:
        """Return the data that one set has counted."""
        return RunData(self._engine.table, self._tallies[turn], self._records([turn]))

    def _records(self, event_sets: Sequence[int]) -> MachineRecords | None:
        return self._machine.records(event_sets) if self._machine else None

    def check(self) -> None:
        """Raise errors of the run; LostError: the counts would be incomplete."""
        if self._gate and self._gate.error:
            raise self._gate.error
        nothing_is_lost(self._failures())
        check_region_sets(self._gate)

    def _failures(self) -> Iterable[Failure]:
        yield self._engine.table.failure
        readers: list[Consumer | None] = [*self._tallies, self._witness, self._gate]
        yield from (reader.failure for reader in readers if reader is not None)
        if self._machine:
            yield from self._machine.failures

    def counts(self) -> list[Count]:
        """Return the events' counts, set by set, and load the counters with them."""
        if self._apart:
            return self._counts_of_all_threads()
        totals = [group.totals(self.seen(number)) for number, group in enumerate(self._groups)]
        if self._hardware_thread:
            totals[0] = self._hardware_thread.of_both(totals[0], self._groups[0].monitors_in_order)
        for group, counted in zip(self._groups, totals, strict=True):
            group.load(counted)
        self.totals = totals[0]
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
                records = self._records(range(len(self._groups)))
                trues = group.values(group.totals(RunData(self._engine.table, self._witness, records)))
            share = active[number] / sum(active) if any(active) else 0.0
            for count, value, raw, true in zip(group.counts(), values, raws, trues, strict=True):
                counts.append(count._replace(value=value, estimate=Estimate(number, share, raw, true)))
        return counts

    def threads(self) -> list[ThreadCounts]:
        """Return the counts of each thread that ran, in the order in which they began."""
        group, found = self._groups[0], []
        for place, tally in enumerate(self._tallies):
            if retired := tally.instructions():
                totals = group.totals(self.seen(place))
                values = group.values(totals)
                counts = [one._replace(value=value) for one, value in zip(group.counts(), values, strict=True)]
                found.append(ThreadCounts(place, retired, counts, totals))
        return found

    def regions(self) -> list[RegionCounts]:
        """Return the counts of each region that counts, then, unless options name regions, those outside of all."""
        assert self._gate
        return region_counts(self._gate, self._region_counts, bool(self._controls.regions))

    def _region_counts(self, name: str, entered: int, places: Sequence[int]) -> RegionCounts:
        """Return the counts of a region whose instructions these of the readers have."""
        group = self._groups[0]
        totals = [sum(column) for column in zip(*(group.totals(self.seen(place)) for place in places), strict=True)]
        values = group.values(totals or [0] * group.monitors)
        counts = [one._replace(value=value) for one, value in zip(group.counts(), values, strict=True)]
        return RegionCounts(name, entered, sum(self._tallies[place].instructions() for place in places), counts)

    def _counts_of_all_threads(self) -> list[Count]:
        group = self._groups[0]
        wanted = self._controls.task_name
        places = {place for place, one in enumerate(self._system_tasks()) if one.name == wanted} if wanted else None
        found = [one.totals for one in self.threads() if places is None or one.place in places]
        self.totals = [sum(column) for column in zip(*found, strict=True)]
        group.load(self.totals or [0] * group.monitors)
        return group.counts()

    def _system_tasks(self) -> Sequence[SystemTask]:
        return self._engine.tasks if isinstance(self._engine, TaskedEngine) else ()

    def tasks(self) -> list[SystemTaskCounts]:
        """Return the counts of each task of a system that ran, in the order in which they began."""
        known = self._system_tasks()
        return [SystemTaskCounts(known[one.place], one.retired, one.counts) for one in self.threads()]

    def close(self) -> None:
        """Drop references to this object, so that the memory of a run is freed at its end."""
        self._gate, self._machine, self._timers, self.consumer = None, None, Timers(()), Consumer()
        self._start = None

    def finish_interval(self) -> None:
        """Report the last interval, cut by the end of the program."""
        if self._controls.interval is not None and self._gate and self._gate.retired != self._reported:
            self._report_interval(self._gate.retired)

    def notes(self) -> list[str]:
        """Notes on the run: triggers that were never reached, the cycles of several cores."""
        said = unreached(self._controls, self._gate) + (self._start.notes() if self._start else [])
        return said + (self._machine.notes() if self._machine else [])

    def _make_gate(self) -> Gate:
        return gate(
            self._controls,
            self._engine.table,
            self._traced,
            self._tallies,
            witness=self._witness,
            machine=self._machine.machine if self._machine else None,
            due=self._timers.next_stop(),
            on_due=self._due,
        )

    def _make_timers(self) -> Timers:
        timers = []
        if self._controls.switch is not None:
            timers.append(PeriodicTimer(self._period(self._controls.switch), self._switch))
        if self._controls.interval is not None:
            timers.append(PeriodicTimer(self._period(self._controls.interval), self._interval))
        return Timers(timers)

    def _due(self) -> int | None:
        """Fire the due timers; the gate stands before an instruction."""
        assert self._gate
        self._timers.fire(self._gate.retired)
        return self._timers.next_stop()

    def _period(self, time: int) -> int:
        """Convert a time to instructions."""
        return max(1, time // self._nanoseconds)

    def _switch(self) -> None:
        assert self._gate
        before = self._groups[self._turn]
        self._turn = (self._turn + 1) % len(self._groups)
        self._gate.choose(self._turn)
        if self._machine:
            self._machine.change_ranges(before.data_ranges, self._groups[self._turn].data_ranges, self._gate)

    def _ranges_of(self, reader: int) -> Sequence[tuple[int, int]]:
        """The data ranges of what a reader of the stream counts for: an event set, or a thread."""
        return self._groups[0 if self._apart else reader].data_ranges

    def _interval(self) -> None:
        assert self._gate
        if self._machine:
            self._machine.update_records(self._gate.next_address)
        self._report_interval(self._gate.retired)

    def _report_interval(self, retired: int) -> None:
        group = self._groups[0]
        self._reported = retired
        now = group.totals(self.seen())
        before = self._printed or [0] * len(now)
        self._printed = now
        deltas = [after - earlier for after, earlier in zip(now, before, strict=True)]
        self._on_interval((retired * self._nanoseconds, group.values(deltas)))

    def requalify(self, placed: ResolvedAddresses) -> None:
        """Set the resolved addresses of ranges and triggers, which do not occur in the stream so far."""
        if self._machine:
            self._machine.drain()
        for group, ranges in zip(self._groups, placed.ranges, strict=True):
            group.requalify(*ranges)
        for number, tally in enumerate(self._tallies):
            set_ranges(self._ranges_of(number), tally)
        set_ranges(self._groups[0].data_ranges, self._witness)
        if self._machine and any(group.data_ranges for group in self._groups):
            self._machine.set_ranges(self._groups[self._turn].data_ranges)
        if self._gate:
            move(self._gate, placed.triggers)
        self._controls = self._controls._replace(triggers=placed.triggers)

    def read_data(self, number: int) -> int:
        """Return the current counter of the active set, as the program reads it. With two threads on a core PSR.sp is
        set (library/checks/coupled_checks.py), so that nothing is read: neither thread could be stopped for it."""
        if self._hardware_thread:
            return self._groups[self._turn].sets[0].counters.registers.read_data(number, cpl=3)
        if self._machine:
            self._machine.drain()
            self._machine.update_records(self._engine.ip)
        return self._groups[self._turn].read_pmd(number, self.seen(self._turn))


LOST = {
    Failure.OUT_OF_MEMORY: "memory ran out",
    Failure.TOO_MANY_BLOCKS: "the program has more basic blocks than the block table takes",
    Failure.TOO_MANY_MARKS: "more happened in one block than there was room for",
    Failure.TOO_MANY_OCCURRENCES: "more happened in one cycle than there was room for",
    Failure.TOO_MANY_WORDS: "a piece of the stream did not fit into the ring",
    Failure.BAD_STREAM: "the stream holds a word that means nothing",
    Failure.CANNOT_WRITE: "the recording could not be written",
    Failure.TOO_MANY_ENTRIES: "more was under way in the machine than its queues hold",
    Failure.BLOCK_TOO_LONG: "a block is longer than the machine takes",
    Failure.TOO_MANY_REGIONS: "the program uses more regions of 4 GB than the machine's caches tell apart",
}
"""Description of each failure."""


def nothing_is_lost(failures: Iterable[Failure]) -> None:
    """Raise LostError if data was lost: incomplete counts are not shown."""
    for failure in failures:
        if failure != Failure.NO_FAILURE:
            raise LostError(f"{LOST[failure]}: the run's counts would lack something, so there are none")


def set_ranges(ranges: Sequence[tuple[int, int]], tally: Consumer | None) -> None:
    """The data ranges from here on of what looks at addresses."""
    if ranges and isinstance(tally, DataRangeTally):
        tally.set_ranges(ranges)


def scaled(total: int, active: int, whole: int) -> int:
    """Scale a count taken for ``active`` of ``whole`` time to the whole time, rounded."""
    return (2 * total * whole + active) // (2 * active) if active else 0
