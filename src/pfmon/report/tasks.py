"""The counts of each program in each process that was followed, and of all together."""

from __future__ import annotations

import os
import shlex

from pfmon.report.counts import count_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pfmon.session.tasks import TaskCounts
    from pfmon.session.thread_counts import ThreadCounts

MOST_COMMAND = 100
"""Characters of a command that are shown; JSON has it whole."""


def task_text(tasks: Sequence[TaskCounts], style: str) -> str:
    """A line on each task, with its counts below, and one on what comes then: all of them."""
    parts = [f"# {task.name} {_command(task)}{_end(task)}\n{count_lines(task.counts, style)}" for task in tasks]
    return "".join([*parts, f"# all {len(tasks)} tasks\n"])


def thread_text(threads: Sequence[ThreadCounts], style: str) -> str:
    """A line on each thread, with its counts below, and one on what comes then: all of them."""
    parts = [f"# thread {thread.place}\n{count_lines(thread.counts, style)}" for thread in threads]
    return "".join([*parts, f"# all {len(threads)} threads\n"])


def _command(task: TaskCounts) -> str:
    """What it is, on one line."""
    text = os.fsencode(shlex.join(task.command)).decode(errors="replace").replace("\n", " ")
    return text if len(text) <= MOST_COMMAND else f"{text[:MOST_COMMAND]}..."


def _end(task: TaskCounts) -> str:
    """How it ended, if that needs a word."""
    if task.signal:
        return f" (killed by signal {task.signal})"
    return f" (exit status {task.status})" if task.status else ""
