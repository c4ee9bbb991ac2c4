"""Progress of a run: counts so far, and by function. Watching does not affect the run.

Any thread may request counts; the engine's thread reads them between two buffers of the stream
(stream/progress_probe.pyx).
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, cast

from pfmon.engine.api import Engine, ExitReport
from pfmon.engine.guest_pmu import PerformanceData
from pfmon.report.run_snapshot import RunSnapshot
from pfmon.session.run.monitored_run import Session
from pfmon.session.run.monitoring import Monitoring
from pfmon.session.run.programmed_pmu import Value
from pfmon.stream._stream import Consumer, ProgressProbe

if TYPE_CHECKING:
    from pfmon.session.profile.code_profile import ProfileRow


PAGE = os.sysconf("SC_PAGE_SIZE")


class ProbedEngine:
    """Wraps an engine to insert a Glance in front of its stream's reader."""

    def __init__(self, engine: Engine, watch: RunMonitor) -> None:
        self._engine, self._watch = engine, watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def run(self, consumer: Consumer, performance_data: PerformanceData | None = None) -> ExitReport | None:
        """Run the engine with the Glance inserted."""
        try:
            return self._engine.run(self._watch.began(consumer, performance_data), performance_data)
        finally:
            self._watch.ended()


class RunMonitor:
    """Watches a session from before its run. ``functions``: count by function, too."""

    def __init__(self, session: Session, functions: bool = False) -> None:
        self._session = session
        self._engine = session.engine
        self._functions = functions
        self._monitoring: Monitoring | None = None
        self._probe: ProgressProbe | None = None
        self._began = time.monotonic()
        self._counted: tuple[tuple[tuple[str, Value], ...], tuple[ProfileRow, ...]] = (), ()
        session.engine = ProbedEngine(session.engine, self)

    def began(self, consumer: Consumer, data: PerformanceData | None) -> Consumer:
        """Begin the run; return the consumer that the engine writes to."""
        self._began = time.monotonic()
        self._monitoring = data if isinstance(data, Monitoring) and len(self._session.groups) == 1 else None
        self._probe = ProgressProbe(consumer, self._take_snapshot)
        return self._probe

    def ended(self) -> None:
        """End the run; drop references that would form cycles."""
        self._probe = self._monitoring = None

    def request_snapshot(self) -> None:
        """Request the counts; the engine's thread reads them between two buffers, some ten milliseconds apart."""
        if probe := self._probe:
            probe.request_snapshot()

    @property
    def so_far(self) -> RunSnapshot:
        """The current progress; the counts are those of the last read."""
        seconds = time.monotonic() - self._began
        of_system = cast(Any, self._engine).system_seconds if self._engine.capabilities.system else None
        return RunSnapshot(seconds, self._engine.retired, _memory(), *self._counted, system_seconds=of_system)

    def _take_snapshot(self) -> None:
        """Read the counts, in the engine's thread between two buffers."""
        monitoring = self._monitoring
        if monitoring is None:
            return
        seen = monitoring.seen()
        if seen.records:
            assert isinstance(monitoring.running, _machine_run())
            seen = monitoring.running.so_far(seen)
        group = self._session.groups[0]
        names = [count.name for count in group.counts()]
        counts = tuple(zip(names, group.values(group.totals(seen)), strict=True))
        rows: tuple[ProfileRow, ...] = ()
        if self._functions:
            from pfmon.session.profile.code_profile import Profile

            profile = Profile(group, self._session.objects, seen, self._session.plan.demangle)
            rows = tuple(profile.by_function())
        self._counted = counts, rows


def _machine_run() -> type[Any]:
    from pfmon.session.run.machine_run import MachineRun

    return MachineRun


def _memory() -> int:
    """Return the resident memory of this process in bytes (proc(5), statm)."""
    try:
        with open("/proc/self/statm", encoding="utf-8") as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, ValueError, IndexError):
        return 0
