"""The processes of a program that have the PMU: each has one of its own (engine/tasks/)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from pfmon.engine import api
from pfmon.engine.api import ExitReport, FollowRules, TaskReader
from pfmon.engine.guest_pmu import ProgramPmu
from pfmon.engine.x86_64.program_events import ProgramEvents, RunEvents
from pfmon.stream._stream import Consumer

if TYPE_CHECKING:
    from pfmon.engine.tasks.running_task import RunningTask


class MonitoredReader(TaskReader, Protocol):
    """A reader of a task that has a PMU."""

    @property
    def pmu(self) -> ProgramPmu:
        """Its PMU."""


class _Reader:
    """A task's reader, which tells its events when it ends."""

    def __init__(self, reader: MonitoredReader, events: ProgramEvents) -> None:
        self._reader, self._events = reader, events
        self.consumer: Consumer = reader.consumer

    @property
    def running(self) -> AbstractContextManager[object]:
        """As the reader has it."""
        return self._reader.running

    def ended(self, ending: ExitReport | None, retired: int) -> None:
        """The process has ended, or executes another program (None)."""
        self._events.leave(ending is not None)
        self._reader.ended(ending, retired)


class MonitoredTasks:
    """The tasks of a run; ``first``: the events of the first process."""

    def __init__(self, run: RunEvents, first: ProgramEvents, notice: Callable[[str], None]) -> None:
        self._run, self._first, self._notice = run, first, notice

    def rules(self, wanted: FollowRules) -> FollowRules:
        """Follow so that each task's requests are answered."""

        def first_begins(task: api.Task) -> None:
            self._run.processes[task.pid] = self._run.by_task[task.process] = self._first
            wanted.first_begins(task)

        def watch(task: api.Task, engine: api.Engine) -> TaskReader:
            return self._watch(task, engine, wanted.watch(task, engine))  # type: ignore[arg-type]  # a RunningTask, and a reader with a PMU

        return wanted._replace(watch=watch, first_begins=first_begins)

    def _watch(self, task: api.Task, engine: RunningTask, reader: MonitoredReader) -> TaskReader:
        def is_settled() -> bool:
            return not engine.is_dead and engine.reader.is_read

        events = self._run.processes.get(task.pid)
        if task.image == 1 and events is self._first and not events.over.is_set():
            events.settle()  # the runtime hands its words over before it executes
            events.leave(False)
        if task.image and events:
            events.execute(reader.pmu, engine, is_settled)
        else:
            events = ProgramEvents(reader.pmu, engine, self._notice, self._run, is_settled)
            self._run.processes[task.pid] = self._run.by_task[task.process] = events
            events.begin_in_child(self._run.by_task[task.process[:-1]])
        engine.reader.on_request = events.answer
        return _Reader(reader, events)
