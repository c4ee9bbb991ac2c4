"""The HTML page of a program and of all that it started: a table of the tasks, and the page of the chosen one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pfmon.report.html.page import D3, FLAME, PLOT, page
from pfmon.report.html.run_page import SCRIPTS
from pfmon.report.task_report import shown_command
from pfmon.session.run.followed_tasks import TaskCounts
from pfmon.session.run.programmed_pmu import Count

MAX_TASKS = 40
"""Tasks that have a page in the file at most: those with most cycles."""


class TaskPage(NamedTuple):
    """A task that was surveyed, and what gives the data of its page."""

    task: TaskCounts
    ending: str
    data: Callable[[], dict[str, Any]]

    @property
    def cycles(self) -> int:
        """Of its machine."""
        return self.task.surveyed.cpi.cycles if self.task.surveyed else 0


def tasks_page(title: str, pages: Sequence[TaskPage], counts: Sequence[Count]) -> str:
    """The file's text; ``counts``: of all tasks together."""
    largest = sorted(range(len(pages)), key=lambda number: (-pages[number].cycles, number))[:MAX_TASKS]
    places = {number: place for place, number in enumerate(sorted(largest))}
    data = {
        "title": title,
        "events": [count.name for count in counts],
        "totals": [count.value for count in counts],
        "rows": [_row(one, places.get(number)) for number, one in enumerate(pages)],
        "shown": places[largest[0]] if largest else None,
        "tasks": [pages[number].data() for number in places],
    }
    return page(f"pfmon: {title}", data, ("tasks.js", *SCRIPTS), (D3, PLOT, FLAME))


def _row(one: TaskPage, place: int | None) -> list[Any]:
    """name, command, ending, cycles, instructions, place of its page (None: it is not in the file), counts."""
    task = one.task
    return [
        *(task.name, shown_command(task.command), one.ending, one.cycles, task.retired, place),
        [count.value for count in task.counts],
    ]
