"""The tasks of a Linux kernel in the stream: a mark at each switch says whose instructions follow (Mark.TASK).

What a mark has is a number for readers that count tasks, or processors, apart; whether the processor idles; and whether
the task is among those to be counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pfmon.engine.ia64.system.snapshots.kept_fields import WORD, Range
from pfmon.engine.ia64.system.tasks.task_layout import (
    CHECKED,
    TASK_BYTES,
    KernelMemory,
    TaskFields,
    check_offsets,
    find_offsets,
    unknown_layout,
)
from pfmon.engine.system_settings import PROGRAM_TASKS, TASKS_APART, SystemTask, TaskOffsets, TaskSettings
from pfmon.errors import PfmonError
from pfmon.stream.marks import IDLE, UNCOUNTED

STACKS_APART = 1 << 14
"""Maximum number of tasks whose stacks of calls are told apart."""
MOST_HANDLING = 1024
"""In a snapshot: a kernel that has booted has some fifty tasks."""
Key = tuple[int | None, int | None, int | None]
"""Linux' pid of a task, or None; its address while that is not known; the processor, or None."""


class TaskSwitches:
    """``memory``: the kernel's; ``settings``: what is counted, and what apart. A snapshot keeps the place of the first
    task and of the fields of tasks, and the tasks that handle an interruption."""

    KEPT: ClassVar[Mapping[str, Range]] = {"first": WORD, "known_offsets": (0, TASK_BYTES), "handling_tasks": WORD}

    def __init__(self, memory: KernelMemory, settings: TaskSettings) -> None:
        self._memory, self._settings = memory, settings
        self._offsets: TaskOffsets | None = None
        self.first = 0
        """The address of the first task."""
        self.handling: set[int] = set()
        """The addresses of tasks that are switched out and handle an interruption: their PSR.pp."""
        self._early: list[int] = []
        """Tasks that ran on the first processor after the first task, until the offsets are known."""
        self._current: dict[int, int] = {}
        """The address of the task that each processor executes."""
        self._fields: dict[int, TaskFields] = {}
        """What a task was when it was last looked at, by its pid."""
        self._numbers: dict[Key, int] = {}
        self._keys: list[Key] = []
        """By number."""
        self._gave_up = False
        """Whether tasks are not understood, and need not be."""
        self._family: set[int] = set()
        """Processes of the program: itself, and those that it has started."""
        self._apart = settings.apart or settings.by_processor
        self._stacks = not self._apart
        """Whether each task has a number for its stack of calls alone."""

    @property
    def known_offsets(self) -> list[int]:
        """The offsets; all 0: not known yet."""
        return list(self._offsets or (0, 0, 0, 0))

    @known_offsets.setter
    def known_offsets(self, offsets: list[int]) -> None:
        self._offsets = self._settings.offsets or (TaskOffsets(*offsets) if any(offsets) else None)

    @property
    def handling_tasks(self) -> list[int]:
        """The tasks of `handling`, and zeros, MOST_HANDLING in all."""
        return [*sorted(self.handling), *[0] * MOST_HANDLING][:MOST_HANDLING]

    @handling_tasks.setter
    def handling_tasks(self, tasks: list[int]) -> None:
        self.handling = set(tasks) - {0}

    def current_task(self, processor: int) -> int | None:
        """The address of the task that a processor executes; None: it has not executed one yet."""
        return self._current.get(processor)

    def resume(self, processor: int, task: int) -> None:
        """A processor goes on from a snapshot with the task at an address."""
        self._current[processor] = task

    def switch(self, processor: int, task: int) -> int:
        """A processor goes on with the task at an address. Return the value of the mark. PfmonError: tasks of this
        kernel are not understood."""
        before = self._current.get(processor)
        if before is not None:
            self._look(before)
        self._current[processor] = task
        if self.first == 0:
            self.first = task
        if self._offsets is None:
            self._learn(processor, task)
        return self.value(processor)

    def value(self, processor: int) -> int:
        """The value of the mark for the task that a processor executes."""
        task = self._current.get(processor, 0)
        found = self._look(task)
        idle = found.thread == 0 if found else self._is_first(task)
        counted = self._is_counted(processor, task, found)
        number = self._number(processor, task, found) if self._stacks or (self._apart and counted) else 0
        return number | IDLE * idle | UNCOUNTED * (not counted)

    def begin_program(self, processor: int) -> None:
        """The current task of a processor is about to execute the program. PfmonError: tasks are not understood."""
        if self._offsets is None:
            if self._settings.stacks:
                return
            raise unknown_layout()
        found = self._look(self._current[processor])
        assert found
        self._family = {found.process}

    @property
    def offsets(self) -> TaskOffsets | None:
        """Where the fields of a task are; None: not known yet."""
        return self._offsets

    def finish(self) -> None:
        """Look at the tasks that are running at the end."""
        for task in self._current.values():
            self._look(task)

    @property
    def tasks(self) -> Sequence[SystemTask]:
        """What has been counted apart, by its number; names are the last ones."""
        made: list[SystemTask] = []
        for pid, _, processor in self._keys:
            found = self._fields.get(pid) if pid is not None else None
            last = len(self._keys) == TASKS_APART and len(made) == TASKS_APART - 1
            if last:
                made.append(SystemTask(None, None, "", processor, is_rest=True))
            elif found:
                made.append(SystemTask(found.thread, found.process, found.name, processor))
            elif pid == 0:
                made.append(SystemTask(0, 0, "", processor))
            else:
                made.append(SystemTask(None, None, "", processor))
        return made

    def _learn(self, processor: int, task: int) -> None:
        """Find the offsets as soon as enough tasks have run."""
        if self._gave_up:
            return
        if processor == 0 and task not in (self.first, *self._early):
            self._early.append(task)
        if len(self._early) < CHECKED:
            return
        given = self._settings.offsets
        try:
            found = given or find_offsets(self._memory, self.first, self._early)
            check_offsets(self._memory, self.first, self._early, found)
        except PfmonError:
            if not self._settings.stacks:
                raise
            self._gave_up = True  # stacks are told apart by the addresses of tasks
            return
        self._offsets = found
        for number, (pid, address, where) in enumerate(self._keys):
            task_found = self._look(address) if address is not None else None
            self._keys[number] = (task_found.thread if task_found else pid, None, where)
        self._numbers = {key: number for number, key in enumerate(self._keys)}

    def _look(self, task: int) -> TaskFields | None:
        """What a task is, which executes; None: that is not known yet."""
        if self._offsets is None or task == 0:
            return None
        found = self._memory.fields(task, self._offsets)
        self._fields[found.thread] = found
        return found

    def _is_first(self, task: int) -> bool:
        """Whether it is the first task, which becomes that of the first processor when it has nothing to do, or what
        comes before it."""
        return task in (0, self.first)

    def _is_counted(self, processor: int, task: int, found: TaskFields | None) -> bool:
        wanted, settings = self._settings.wanted, self._settings
        if settings.processors is not None and processor not in settings.processors:
            return False
        if wanted == PROGRAM_TASKS:
            return found is not None and self._is_of_program(found)
        if wanted.isdecimal():
            return found is not None and int(wanted) in (found.thread, found.process)
        return True

    def _is_of_program(self, found: TaskFields) -> bool:
        """Whether a task is of the program, or was started by it."""
        if found.process in self._family:
            return True
        if not self._family or self._offsets is None or found.thread == 0:
            return False
        if self._memory.fields(found.parent, self._offsets).process not in self._family:
            return False
        self._family.add(found.process)
        return True

    def _number(self, processor: int, task: int, found: TaskFields | None) -> int:
        where = processor if self._settings.by_processor else None
        key: Key = (None, None, where)
        if self._settings.apart or self._stacks:
            known = found.thread if found else 0 if self._is_first(task) else None
            key = (known, None if known is not None else task, where)
        if key not in self._numbers:
            most = TASKS_APART if self._apart else STACKS_APART
            if len(self._keys) == most:
                return most - 1
            self._numbers[key] = len(self._keys)
            self._keys.append(key)
        return self._numbers[key]
