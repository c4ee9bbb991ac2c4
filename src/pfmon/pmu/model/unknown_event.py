"""The error for an event that a PMU does not have."""

from __future__ import annotations

from collections.abc import Iterable

from pfmon.errors import UnknownNameError

SOFTWARE = (
    *("task-clock", "cpu-clock", "page-faults", "faults", "minor-faults", "major-faults", "context-switches", "cs"),
    *("cpu-migrations", "migrations", "alignment-faults", "emulation-faults"),
    *("duration_time", "user_time", "system_time"),
)
"""perf's names of what the kernel counts (perf-list(1), software and tool events)."""


class UnknownEventError(UnknownNameError):
    """The PMU has no such event. The message says it of software events of perf's, which no PMU has."""

    def __init__(self, pmu: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"{pmu} event", name, known)
        if name.lower() in SOFTWARE:
            self.args = (
                f"{name}: perf has this from the kernel, and here only the program runs; without -e, pfmon counts what "
                "the processor does",
            )
