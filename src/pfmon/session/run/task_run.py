"""The monitor of one program in one followed process: counters, samples, a report; and its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from pfmon.engine.api import Engine
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.program.mapped_files import MappedFile
from pfmon.session.profile.cpi_stack import CpiStack
from pfmon.session.run.event_sets import EventSets
from pfmon.session.run.monitoring import Monitoring
from pfmon.session.run.programmed_pmu import Count
from pfmon.session.run.run_plan import RunPlan, TaskStart
from pfmon.session.triggers.event_trigger import MachineTrigger
from pfmon.stream._stream import Consumer

if TYPE_CHECKING:
    from pfmon.session.run.report_collector import CollectedReport
    from pfmon.session.sampling.sampled_run import SampledRun
    from pfmon.session.sampling.sampling_period import Sample


class TaskMonitors(NamedTuple):
    """The monitoring of each task by a plan: the machine that it runs on, if that is wanted, with the events of the
    machine that start and stop counting; the one of a survey; whether counters count live."""

    machine: MachineFigures | None
    trigger: MachineTrigger | None
    surveyed: MachineFigures | None
    live: bool


class TaskSeen(NamedTuple):
    """The result of a task; ``totals``: the counts of its monitors."""

    counts: Sequence[Count] = ()
    totals: Sequence[int] = ()
    notes: Sequence[str] = ()
    exact: Mapping[int, int] | None = None
    exact_edges: Mapping[tuple[int, int], int] | None = None
    cpi: CpiStack | None = None
    surveyed: CollectedReport | None = None


class MappedSoFar:
    """The files that a task has mapped, also when its engine is gone."""

    def __init__(self, engine: Engine) -> None:
        self._engine: Engine | None = engine
        self._kept: Sequence[MappedFile] = ()

    def __call__(self) -> Sequence[MappedFile]:
        return self._engine.mapped if self._engine is not None else self._kept

    def keep(self) -> None:
        """The task has ended."""
        self._kept, self._engine = list(self()), None


class TaskRun:
    """One task at work: its ``consumer`` gets the stream within ``running``."""

    def __init__(
        self,
        plan: RunPlan,
        groups: Sequence[EventSets],
        parts: TaskMonitors,
        engine: Engine,
        start: TaskStart,
        on_samples: Callable[[Sequence[Sample]], None],
    ) -> None:
        self._engine, self._start, self._demangle = engine, start, plan.demangle
        self._plan = plan = plan._replace(controls=plan.controls._replace(triggers=tuple(start.triggers)))
        self.data: Monitoring | SampledRun | None = None
        self._sampled: SampledRun | None = None
        self._monitoring: Monitoring | None = None
        self._observer = self._survey = None
        counted = plan.controls.parts_alone
        if parts.live:
            self.data = self._sampled = self._sample(groups, parts, on_samples)
        elif groups:
            scale, machine = plan.settings.nanoseconds_per_instruction, parts.machine
            self.data = self._monitoring = Monitoring(
                groups, plan.controls, engine, scale, machine=machine, threaded=plan.threaded
            )
        elif parts.machine:
            from pfmon.session.run.report_collector import ObservedRun

            self._observer = ObservedRun(parts.machine, engine, plan.threaded, parts=counted)
        looking = self.data or self._observer
        self.consumer: Consumer = looking.consumer if looking else Consumer()
        if parts.surveyed:
            from pfmon.session.run.report_collector import ReportCollector

            self._survey = ReportCollector(parts.surveyed, engine, plan.threaded, parts=counted)
            self.consumer = self._survey.beside(self.consumer)
        self._query_increments = [one.running for one in (self._survey, looking) if one]

    def _sample(
        self,
        groups: Sequence[EventSets],
        parts: TaskMonitors,
        on_samples: Callable[[Sequence[Sample]], None],
    ) -> SampledRun:
        from pfmon.session.sampling.sampled_run import SampledRun
        from pfmon.session.sampling.sampling_period import Sampling, SetSampling

        plan = self._plan
        sets = [one for group in groups for one in group.sets]
        sampling = plan.sampling or Sampling(tuple(SetSampling((None,) * len(one.plan.names)) for one in sets))
        return SampledRun(
            *(plan.model, sets, self._engine, sampling, on_samples, parts.machine, self._engine.traced),
            *(plan.controls, plan.settings.nanoseconds_per_instruction, parts.trigger),
        )

    @property
    @contextmanager
    def running(self) -> Iterator[None]:
        """The stream comes within it."""
        stack = ExitStack()
        try:
            for one in self._query_increments:
                stack.enter_context(one)
            yield
        finally:
            stack.close()

    def finish(self) -> TaskSeen:
        """The task has ended. LostError when something could not be recorded."""
        objects = self._start.objects
        seen = TaskSeen()
        if self._sampled:
            run = self._sampled
            run.finish()
            seen = TaskSeen(run.counts(), run.totals, run.notes(), run.exact(), run.exact_edges())
        elif self._monitoring:
            counting = self._monitoring
            counting.check()
            seen = TaskSeen(counting.counts(), counting.totals, counting.notes())
            counting.close()
        elif self._observer:
            seen = TaskSeen(cpi=self._observer.breakdown(self._plan, objects))
        if self._survey:
            seen = seen._replace(surveyed=self._survey.finish(self._engine, objects, self._demangle))
        self.data = self._sampled = self._monitoring = self._observer = self._survey = None
        self._query_increments = []
        return seen
