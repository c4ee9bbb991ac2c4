"""The progress of a run."""

from __future__ import annotations

from typing import NamedTuple

from pfmon.session.profile.code_profile import ProfileRow
from pfmon.session.run.programmed_pmu import Value


class RunSnapshot(NamedTuple):
    """The progress of a run: seconds since it began, instructions retired, bytes of pfmon's memory; counts as last
    read, by event, and by function, largest first (none: not requested, or several event sets); seconds of a whole
    system's own time (None: a program runs)."""

    seconds: float
    instructions: int
    memory: int
    counts: tuple[tuple[str, Value], ...] = ()
    functions: tuple[ProfileRow, ...] = ()
    system_seconds: float | None = None
