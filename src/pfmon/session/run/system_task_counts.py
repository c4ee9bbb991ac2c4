"""The counts of one task of a system, or of one processor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pfmon.engine.system_settings import SystemTask
from pfmon.session.run.programmed_pmu import Count


class SystemTaskCounts(NamedTuple):
    """``task``: what was counted; ``retired``: instructions."""

    task: SystemTask
    retired: int
    counts: Sequence[Count]

    def to_dict(self) -> dict[str, Any]:
        """Return pid, process and name of the task (null, null and "" of a processor alone), idle (bool), processor
        (null: all), rest (bool: of all tasks for which there was no room), instructions, events (Count.to_dict)."""
        task = self.task
        return {
            "pid": task.pid,
            "process": task.process,
            "name": task.name,
            "idle": task.is_idle,
            "processor": task.processor,
            "rest": task.is_rest,
            "instructions": self.retired,
            "events": [count.to_dict() for count in self.counts],
        }
