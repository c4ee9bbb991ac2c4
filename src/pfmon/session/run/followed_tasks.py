"""Counting of a program's children and executed programs by task, each with its own PMU and machine, and their sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from pfmon.engine import api
from pfmon.engine.api import Engine, ExitReport, FollowRules
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.session.run.event_sets import EventSets
from pfmon.session.run.programmed_pmu import Count
from pfmon.session.run.report_collector import CollectedReport
from pfmon.session.run.run_plan import RunPlan, TaskStart, event_groups
from pfmon.session.run.task_run import MappedSoFar, TaskMonitors, TaskRun, TaskSeen
from pfmon.session.sampling.sampling_period import Sample
from pfmon.session.triggers.regions import OF_OPTION
from pfmon.stream._stream import Consumer

if TYPE_CHECKING:
    from pfmon.session.profile.cpi_stack import CpiStack

    Take = Callable[[Sequence[Sample]], None]
    OnTask = Callable[[api.Task, LoadedObjects], "Taker"]


MAX_NAMES = 5
"""Of tasks that a note is about."""


class TaskCounts(NamedTuple):
    """The result of one task. ``name``: 1.2 is the second child of 1, and 1.2:1 what it executed then; ``status`` is
    the exit status, None where it executed another program or was stopped; ``signal`` killed it (0: none). None without
    their options: ``samples`` (none if somebody took them), ``exact``, ``exact_edges``, ``cpi``, ``derived``,
    ``surveyed``, as Run has them. ``notes``: notes on its counts."""

    name: str
    pid: int
    command: Sequence[str]
    status: int | None
    signal: int
    retired: int
    counts: Sequence[Count]
    notes: Sequence[str] = ()
    samples: Any = None
    exact: Mapping[int, int] | None = None
    exact_edges: Mapping[tuple[int, int], int] | None = None
    cpi: CpiStack | None = None
    derived: Any = None
    surveyed: CollectedReport | None = None

    def to_dict(self) -> dict[str, Any]:
        """task (its name), pid, command, exit_status, signal (null: none), instructions, events (Count.to_dict), notes
        (texts), report and samples as Run.to_dict has them."""
        report = self.cpi or self.derived or (self.surveyed.cpi if self.surveyed else None)
        return {
            "task": self.name,
            "pid": self.pid,
            "command": list(self.command),
            "exit_status": self.status,
            "signal": self.signal or None,
            "instructions": self.retired,
            "events": [count.to_dict() for count in self.counts],
            "notes": list(self.notes),
            "report": report.to_dict() if report else None,
            "samples": None if self.samples is None else self.samples.to_dict(),
        }


class _TaskReader:
    """Looks at one task (api.Watch)."""

    def __init__(self, family: FollowedTasks, task: api.Task, run: TaskRun, mapped: MappedSoFar, taker: Taker) -> None:
        self._family, self._task, self._mapped, self._taker = family, task, mapped, taker
        self._run: TaskRun | None = run
        self.consumer = run.consumer

    @property
    def running(self) -> AbstractContextManager[object]:
        """Its machine's thread, if it has one."""
        return self._run.running if self._run else nullcontext()

    def ended(self, ending: ExitReport | None, retired: int) -> None:
        """Read the counters."""
        assert self._run
        self._mapped.keep()
        seen = self._run.finish()
        self._taker.ended(seen.exact, seen.exact_edges)
        self._run = None
        self._family.add(self._task, ending, retired, seen)


class _UncountedReader:
    """Discards the stream of a task that is not counted."""

    consumer = Consumer()
    running = nullcontext()

    def ended(self, ending: ExitReport | None, retired: int) -> None:
        """Ignore the end."""


def _nothing(*_: object) -> None:
    pass


class Taker(NamedTuple):
    """The consumer of a task's samples: ``take`` those of a buffer, ``ended`` how often the event happened where, and
    taken branches by source and target (None: nobody asked), when all have come."""

    take: Take = _nothing
    ended: Callable[[Mapping[int, int] | None, Mapping[tuple[int, int], int] | None], None] = _nothing


def _of_tasks(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MAX_NAMES])
    return f" (task{'s' * (len(names) > 1)} {shown}{', ...' * (len(names) > MAX_NAMES)})"


class FirstTask:
    """The task that the session itself runs: the program that was named."""

    def __init__(self, family: FollowedTasks, engine: Engine, groups: Sequence[EventSets]) -> None:
        self._family, self._engine, self._groups = family, engine, groups
        self._mapped = MappedSoFar(engine)
        start = family.begin(None, self._mapped)
        self._objects = start.objects
        self._takes: Taker | None = None
        self.run = family.monitor_task(engine, groups, start, self._take_samples)

    def _take_samples(self, samples: Sequence[Sample]) -> None:
        self._taker().take(samples)

    def _taker(self) -> Taker:
        """The consumer of its samples, once its process is known."""
        if self._takes is None:
            assert self._family.first_task
            self._takes = self._family.on_task(self._family.first_task, self._objects)
        return self._takes

    def finish(self) -> list[Count]:
        """Everything has ended; what the events came to in all tasks together."""
        self._mapped.keep()
        seen = self.run.finish()
        if self._family.first_task:
            self._taker().ended(seen.exact, seen.exact_edges)
        self._family.add_first(self._engine.retired, seen)
        return self._family.counts(self._groups[0], seen.counts) if self._groups else []


class FollowedTasks:
    """All tasks of one run. ``on_task`` is called when one that is counted begins, with the files that its code is
    from, and gives what takes its samples."""

    def __init__(self, plan: RunPlan, monitors: TaskMonitors) -> None:
        assert plan.following
        self._plan, self._monitors = plan, monitors
        self._following = plan.following
        self._lock = Lock()
        self._ended: list[tuple[tuple[tuple[int, ...], int], TaskCounts]] = []
        self._totals: list[Sequence[int]] = []
        self._first: tuple[api.Task, ExitReport | None] | None = None
        self.on_task: OnTask = lambda _task, _objects: Taker()
        self.first_task: api.Task | None = None
        self.retired = 0
        """Instructions of all counted tasks."""

    @property
    def follow(self) -> FollowRules:
        """The engine's settings for following."""
        following = self._following
        return FollowRules(
            following.forks, following.execs, following.most, self._watch, self._first_ended, self._first_begins
        )

    def _first_begins(self, task: api.Task) -> None:
        self.first_task = task

    def _first_ended(self, task: api.Task, ending: ExitReport | None) -> None:
        self._first = task, ending

    def add_first(self, retired: int, seen: TaskSeen) -> None:
        """The result of the first task."""
        if self._first:
            self.add(*self._first, retired, seen)

    def _watch(self, task: api.Task, engine: Engine) -> _TaskReader | _UncountedReader:
        if not self._following.counts(task):
            return _UncountedReader()
        mapped = MappedSoFar(engine)
        start = self.begin(task, mapped)
        taker = self.on_task(task, start.objects)
        run = self.monitor_task(engine, event_groups(self._plan), start, taker.take)
        return _TaskReader(self, task, run, mapped, taker)

    def first_of(self, engine: Engine, groups: Sequence[EventSets], on_task: OnTask | None) -> FirstTask:
        """The first one, which ``engine`` is to run."""
        self.on_task = on_task or self.on_task
        return FirstTask(self, engine, groups)

    def begin(self, task: api.Task | None, mapped: MappedSoFar) -> TaskStart:
        """The start of a task (None: the first one)."""
        plan = self._plan
        if plan.begin:
            return plan.begin(task, mapped)
        return TaskStart(LoadedObjects(plan.program, mapped, plan.debug), plan.controls.triggers)

    def monitor_task(self, engine: Engine, groups: Sequence[EventSets], start: TaskStart, take: Take) -> TaskRun:
        """The monitor of a task."""
        return TaskRun(self._plan, groups, self._monitors, engine, start, take)

    def add(self, task: api.Task, ending: ExitReport | None, retired: int, seen: TaskSeen) -> None:
        """A task has ended; from any thread. One that was killed before its first instruction is none: whether it began
        would depend on the host."""
        status, signal = (ending.status, ending.signal) if ending else (None, 0)
        if signal and not retired:
            return
        done = TaskCounts(
            *(task.name, task.pid, task.command, status, signal, retired, seen.counts, seen.notes),
            exact=seen.exact,
            exact_edges=seen.exact_edges,
            cpi=seen.cpi,
            surveyed=seen.surveyed,
        )
        with self._lock:
            self._ended.append(((task.process, task.image), done))
            self._totals.append(seen.totals)
            self.retired += retired

    def counts(self, group: EventSets, first: Sequence[Count]) -> list[Count]:
        """Return the events' counts summed over all tasks; ``first``: the counts of one of them."""
        if not self._totals:  # stopped before anything ran
            return list(first)
        sums = [sum(column) for column in zip(*self._totals, strict=True)]
        values = group.values(sums)
        return [count._replace(value=value) for count, value in zip(first, values, strict=True)]

    def notes(self) -> list[str]:
        """Notes on tasks; a note on all of them is given once. Regions need not be entered by each task."""
        found: dict[str, list[str]] = {}
        tasks = self.in_order()
        for task in tasks:
            for note in task.notes:
                found.setdefault(note, []).append(task.name)
        return [
            f"{note}{'' if len(names) == len(tasks) else _of_tasks(names)}"
            for note, names in found.items()
            if len(names) == len(tasks) or not note.startswith(OF_OPTION)
        ]

    def cpi(self) -> CpiStack | None:
        """The breakdown of all tasks together; None: none was asked for."""
        found = [(task.command[0], task.cpi) for task in self.in_order() if task.cpi]
        if not found:
            return None
        from pfmon.session.profile.cpi_stack import of_all

        return of_all(found)

    def in_order(self) -> list[TaskCounts]:
        """Return the tasks in the order of the process tree, which does not depend on their speed."""
        return [done for _, done in sorted(self._ended, key=lambda one: one[0])]
