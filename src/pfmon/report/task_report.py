"""The counts of each program in each followed process, and their sums."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from pfmon.engine.system_settings import SystemTask
from pfmon.report.count_text import count_lines
from pfmon.session.run.followed_tasks import TaskCounts
from pfmon.session.run.programmed_pmu import ThreadCounts
from pfmon.session.run.system_task_counts import SystemTaskCounts

MAX_COMMAND_LENGTH = 100
"""Maximum characters of a printed command; JSON has the whole command."""


def task_text(tasks: Sequence[TaskCounts], style: str) -> str:
    """A line on each task, with its counts below, and one on what comes then: all of them."""
    parts = [task_line(task) + counted(task, style) for task in tasks]
    return "".join([*parts, f"# all {len(tasks)} tasks\n"])


def task_line(task: TaskCounts) -> str:
    """The line above what a task came to."""
    return f"# {task.name} {shown_command(task.command)}{end_text(task.status, task.signal)}\n"


def counted(task: TaskCounts, style: str) -> str:
    """The counts or the report of a task."""
    if task.derived is not None:
        from pfmon.report.derived_report import derived_text

        return derived_text(task.derived, style)
    if task.cpi is not None:
        from pfmon.report.cpi_report import cpi_text

        return cpi_text(task.cpi, style)
    return count_lines(task.counts, style)


def thread_text(threads: Sequence[ThreadCounts], style: str) -> str:
    """Return a line for each thread with its counts below, then a line that introduces the sums."""
    parts = [f"# thread {thread.place}\n{count_lines(thread.counts, style)}" for thread in threads]
    return "".join([*parts, f"# all {len(threads)} threads\n"])


def system_task_text(tasks: Sequence[SystemTaskCounts], style: str) -> str:
    """Return a line for each task or processor of a system with its counts below, then a line that introduces the
    sums."""
    parts = [f"# {_of_system(one.task)}\n{count_lines(one.counts, style)}" for one in tasks]
    return "".join([*parts, f"# all {len(tasks)}\n"])


def _of_system(task: SystemTask) -> str:
    """What was counted: ``task 57 dash, processor 1``."""
    on = [] if task.processor is None else [f"processor {task.processor}"]
    if task.is_rest:
        return ", ".join(["all other tasks", *on])
    if task.pid is None:
        return ", ".join(on or ["a task of the boot"])
    name = "".join(letter if letter.isprintable() else "?" for letter in task.name)
    thread = "" if task.pid == task.process else f" of process {task.process}"
    return ", ".join(["idle" if task.is_idle else f"task {task.pid}{thread} {name}", *on])


def shown_command(command: Sequence[str]) -> str:
    """Return a program with its arguments on one line."""
    text = os.fsencode(shlex.join(command)).decode(errors="replace").replace("\n", " ")
    return text if len(text) <= MAX_COMMAND_LENGTH else f"{text[:MAX_COMMAND_LENGTH]}..."


def end_text(status: int | None, signal: int | None) -> str:
    """Return how a program ended; "" for success."""
    if signal:
        return f" (killed by signal {signal})"
    return f" (exit status {status})" if status else ""
