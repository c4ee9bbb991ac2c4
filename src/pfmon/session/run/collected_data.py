"""Readers of a run's stream beside its counts: of a report on the machine, of calls, of lines that threads share, of a
block's timeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from pfmon.engine.api import Engine
from pfmon.errors import LostError, PfmonError
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.session.run.run_plan import RunPlan, TimelineRequest, planned_machine
from pfmon.stream._stream import Consumer, Tee

if TYPE_CHECKING:
    from pfmon.counting._counting import SharedLines
    from pfmon.machine._machine import IntervalCores
    from pfmon.program.loaded_objects import LoadedObjects
    from pfmon.session.profile.call_rows import ExactCalls
    from pfmon.session.profile.shared_lines import SharedLinesReport
    from pfmon.session.profile.timeline import BlockTimeline
    from pfmon.session.run.report_collector import CollectedReport, ReportCollector
    from pfmon.session.run.timeline_collector import TimelineCollector


class CollectedData:
    """The reports that a plan requests beside its counts. ``figures``: figures of the machine whose cycles the reports
    show; None: no report needs a machine.

    Attributes: ``report``, ``calls``, ``shared`` and ``timeline``, as `RunOutcome` has them; None until `finish`, or
    unless the plan wants them; ``notes``: on these."""

    def __init__(self, plan: RunPlan, engine: Engine, figures: MachineFigures | None) -> None:
        self._plan, self._engine = plan, engine
        self._collector = self._make_collector(figures) if figures else None
        self._lines = self._make_lines() if plan.shared_lines else None
        self._cores = self._make_cores() if plan.shared_lines else None
        self.report: CollectedReport | None = None
        self.calls: ExactCalls | None = None
        self.shared: SharedLinesReport | None = None
        self._timeline = self._make_timeline() if plan.timeline else None
        self.timeline: BlockTimeline | None = None
        self.notes: list[str] = []

    def _make_collector(self, figures: MachineFigures) -> ReportCollector:
        from pfmon.session.run.report_collector import ReportCollector

        plan = self._plan
        return ReportCollector(figures, self._engine, plan.threaded, plan.collect_edges, plan.controls.parts_alone)

    def _make_lines(self) -> SharedLines:
        from pfmon.session.profile.shared_lines import reader

        return reader(self._engine.table)

    def _make_cores(self) -> IntervalCores | None:
        """Return the cores on which the threads run, which say whose lines others had modified; None: there is one."""
        from pfmon.session.run.machine_run import cores_of, machine_of

        figures = planned_machine(self._plan)
        if cores_of(figures) == 1:
            return None
        from pfmon.machine._machine import IntervalCores

        cores = machine_of(figures, self._engine.table, (), memo=True, event_sets=1)
        assert isinstance(cores, IntervalCores)
        cores.coherent.watch()
        return cores

    def _make_timeline(self) -> TimelineCollector:
        from pfmon.session.run.timeline_collector import TimelineCollector

        return TimelineCollector(planned_machine(self._plan), self._engine, self._plan)

    @property
    def running(self) -> AbstractContextManager[object]:
        """The machines' threads, if any run."""
        return self._running()

    @contextmanager
    def _running(self) -> Iterator[None]:
        report = self._collector.running if self._collector else nullcontext()
        with report, self._timeline.running if self._timeline else nullcontext():
            yield

    def region_notes(self) -> list[str]:
        """Notes on the regions that the report is of."""
        return self._collector.notes() if self._collector else []

    def beside(self, reader: Consumer) -> Consumer:
        """Return the consumer of the stream that lets ``reader`` read it too."""
        if self._collector:
            reader = self._collector.beside(reader)
        if self._cores:
            reader = Tee(self._cores, reader)
        if self._timeline:
            reader = self._timeline.beside(reader)
        return Tee(self._lines, reader) if self._lines else reader

    def finish(self, objects: Callable[[], LoadedObjects]) -> None:
        """The run has ended. LostError: data was lost. ``objects``: gives the object files of the code."""
        plan, engine = self._plan, self._engine
        if self._collector and plan.collect_report:
            self.report = self._collector.finish(engine, objects(), plan.demangle)
        if self._lines:
            from pfmon.session.profile.shared_lines import shared_lines_report

            if self._cores:
                self._cores.finish()
            self.shared = shared_lines_report(self._lines, objects(), plan.demangle, engine.table, self._cores)
        if self._timeline and plan.timeline:
            self._finish_timeline(self._timeline, plan.timeline, objects())
        if self._collector and plan.collect_calls:
            self.calls = self._collector.calls(engine)

    def _finish_timeline(self, collector: TimelineCollector, wanted: TimelineRequest, objects: LoadedObjects) -> None:
        from pfmon.session.run.timeline_collector import nothing_ran

        try:
            self.timeline = collector.finish(self._engine, objects)
        except LostError:
            raise
        except PfmonError as error:
            self.notes.append(f"--timeline={wanted.text}: {error}")
            return
        if self.timeline is None:
            self.notes.append(nothing_ran(wanted))
