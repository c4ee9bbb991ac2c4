"""What a program starts, counted task by task: each has a PMU, and a machine, of its own; and what all come to."""

from __future__ import annotations

import re
from contextlib import nullcontext
from threading import Lock

from pfmon.engine.api import Follow
from pfmon.light_typing import NamedTuple
from pfmon.stream.consumer import Consumer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from pfmon.engine import api
    from pfmon.engine.api import Ending, Engine
    from pfmon.session.counting import Count
    from pfmon.session.event_sets import EventSets
    from pfmon.session.monitoring import Monitoring


class Following(NamedTuple):
    """What is counted of what a program starts. ``only`` and ``never``: regular expressions that the path of a program
    that is executed must match, and must not, to be counted; "": all, none. ``most`` processes at a time."""

    forks: bool
    execs: bool
    most: int
    only: str = ""
    never: str = ""

    def counts(self, task: api.Task) -> bool:
        """Whether a task is counted; what it starts is followed in any case."""
        path = task.command[0]
        wanted = not self.only or re.search(self.only, path) is not None
        return task.named or (wanted and not (self.never and re.search(self.never, path)))


class TaskCounts(NamedTuple):
    """What one task came to. ``name``: 1.2 is the second child of 1, and 1.2:1 what it executed then; ``status`` is the
    exit status, None where it executed another program or was stopped; ``signal`` killed it (0: none)."""

    name: str
    pid: int
    command: Sequence[str]
    status: int | None
    signal: int
    retired: int
    counts: Sequence[Count]

    def to_dict(self) -> dict[str, Any]:
        """task (its name), pid, command, exit_status, signal (null: none), instructions, events (Count.to_dict)."""
        return {
            "task": self.name,
            "pid": self.pid,
            "command": list(self.command),
            "exit_status": self.status,
            "signal": self.signal or None,
            "instructions": self.retired,
            "events": [count.to_dict() for count in self.counts],
        }


class _Watch:
    """Counts one task (api.Watch)."""

    def __init__(self, family: Tasks, task: api.Task, monitoring: Monitoring | None) -> None:
        self._family, self._task, self._monitoring = family, task, monitoring
        self.consumer = monitoring.consumer if monitoring else Consumer()

    @property
    def running(self) -> AbstractContextManager[object]:
        """Its machine's thread, if it has one."""
        return self._monitoring.running if self._monitoring else nullcontext()

    def ended(self, ending: Ending | None, retired: int) -> None:
        """Read the counters."""
        counts: list[Count] = []
        totals: Sequence[int] = ()
        if self._monitoring:
            self._monitoring.check()
            counts = self._monitoring.counts()
            totals = self._monitoring.totals
            self._monitoring.close()
        self._family.add(self._task, ending, retired, counts, totals)
        self._monitoring = None


class _Unwatched:
    """Reads a task that is not counted."""

    consumer = Consumer()
    running = nullcontext()

    def ended(self, ending: Ending | None, retired: int) -> None:
        """Nobody wants to know."""


class Tasks:
    """All tasks of one run."""

    def __init__(self, following: Following, monitor: Callable[[Engine], Monitoring | None]) -> None:
        """``monitor`` makes what counts a task."""
        self._following = following
        self._monitor = monitor
        self._lock = Lock()
        self._ended: list[tuple[tuple[tuple[int, ...], int], TaskCounts]] = []
        self._totals: list[Sequence[int]] = []
        self._first: tuple[api.Task, Ending | None] | None = None
        self.retired = 0
        """Instructions of all tasks that are counted."""

    @property
    def follow(self) -> Follow:
        """What an engine wants to know."""
        following = self._following
        return Follow(following.forks, following.execs, following.most, self._watch, self._first_ended)

    def _first_ended(self, task: api.Task, ending: Ending | None) -> None:
        self._first = task, ending

    def add_first(self, retired: int, counts: Sequence[Count], totals: Sequence[int]) -> None:
        """What the first task came to."""
        if self._first:
            self.add(*self._first, retired, counts, totals)

    def _watch(self, task: api.Task, engine: Engine) -> _Watch | _Unwatched:
        return _Watch(self, task, self._monitor(engine)) if self._following.counts(task) else _Unwatched()

    def add(
        self, task: api.Task, ending: Ending | None, retired: int, counts: Sequence[Count], totals: Sequence[int]
    ) -> None:
        """A task has ended; from any thread."""
        status, signal = (ending.status, ending.signal) if ending else (None, 0)
        done = TaskCounts(task.name, task.pid, task.command, status, signal, retired, counts)
        with self._lock:
            self._ended.append(((task.process, task.image), done))
            self._totals.append(totals)
            self.retired += retired

    def counts(self, group: EventSets, first: Sequence[Count]) -> list[Count]:
        """What the events came to in all tasks together; ``first``: in one of them."""
        if not self._totals:  # stopped before anything ran
            return list(first)
        sums = [sum(column) for column in zip(*self._totals, strict=True)]
        values = group.values(sums)
        return [count._replace(value=value) for count, value in zip(first, values, strict=True)]

    def in_order(self) -> list[TaskCounts]:
        """The tasks by their places in the tree of processes, which does not depend on who was faster."""
        return [done for _, done in sorted(self._ended, key=lambda one: one[0])]
