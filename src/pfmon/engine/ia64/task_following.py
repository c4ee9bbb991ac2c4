"""Selects the child processes and executed programs to count, with their readers (engine/api.py, Follow)."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pfmon.engine.api import ExitReport, FollowRules, Task
from pfmon.engine.ia64.execution import Execution
from pfmon.engine.linux.process.process import Process


class TaskFollowing:
    """The tasks of one run."""

    def __init__(self, follow: FollowRules | None, first: Process, execution: Execution) -> None:
        self._follow = follow
        self._children: dict[tuple[int, ...], int] = {}
        command = [os.fsdecode(first.paths.program), *map(os.fsdecode, first.arguments[1:])]
        self._first: Execution | None = execution
        execution.task = Task((1,), 0, first.process_id, command, True)
        if follow is not None:
            follow.first_begins(execution.task)

    def forked(self, parent: Execution, child: Process, execution: Execution) -> None:
        """A process has forked; the child continues with its program."""
        task = parent.task
        if task is None:
            return
        number = self._children.get(task.process, 0) + 1
        self._children[task.process] = number
        made = Task((*task.process, number), 0, child.process_id, task.command, task.named)
        execution.task = made
        if self._follow is not None and self._follow.forks:
            execution.set_reader(self._follow.watch(made, execution))

    def executed(self, process: Process, command: Sequence[str], old: Execution, execution: Execution) -> None:
        """A process executes another program; the previous reader is already notified."""
        task = old.task
        if old is self._first:
            self.first_ended(None)
        if task is None:
            return
        made = Task(task.process, task.image + 1, task.pid, command, False)
        execution.task = made
        is_child = len(task.process) > 1
        if self._follow is not None and self._follow.execs and (self._follow.forks or not is_child):
            execution.set_reader(self._follow.watch(made, execution))
        elif not is_child or (self._follow is not None and self._follow.forks):
            process.notice(
                f"task {task.name} ({task.command[0]}) executed another program, which was not counted; "
                "--follow-exec counts it"
            )

    def first_ended(self, ending: ExitReport | None) -> None:
        """The first program has ended, or executes another one."""
        if self._first is not None and self._follow is not None and self._first.task is not None:
            self._follow.first_ended(self._first.task, ending)
        self._first = None
