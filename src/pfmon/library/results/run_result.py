"""The results of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pfmon.errors import PfmonError
from pfmon.library.resolving.run_parts import Processor, Results
from pfmon.library.results.event_counts import Counts
from pfmon.needed_modules import import_needed
from pfmon.report.derived_report import DerivedReport
from pfmon.report.html.sample_tree import SampleTree
from pfmon.report.programming_record import ProgrammingRecord
from pfmon.session.run.followed_tasks import TaskCounts
from pfmon.session.run.monitoring import Interval
from pfmon.session.run.run_outcome import RunOutcome
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.library.results.result_tables import Annotated, Intervals, Table
    from pfmon.library.results.samples import Samples
    from pfmon.library.results.source_counts import SourceCounts
    from pfmon.program.source_texts import SourceTexts
    from pfmon.report.html.tasks_page import TaskPage


def import_results(results: Results, intervals: bool, sampled: bool, followed: object) -> None:
    """Import what `Run` needs after such a run."""
    import_needed(
        {
            "pfmon.library.results.derived_run": results.report == "derived",
            "pfmon.library.results.result_tables": results.split or intervals,
            "pfmon.library.results.samples": sampled,
            "pfmon.library.results.source_counts": results.annotate,
            "pfmon.report.html.run_page": results.page,
            "pfmon.report.html.tasks_page": results.page and followed,
            "pfmon.report.task_report": results.page and followed,
            "pfmon.version": True,
        }
    )


class Run:
    """A run that has ended. ``counts``: by event; ``status``: exit status for the shell; ``death``: the signal that
    killed the program (None: none did); ``stopped``: the cause that ended it from outside ("": none; timeout,
    interrupt, terminate, hangup, stop); ``retired``: instructions; ``times``: seconds of the host; ``programming``:
    registers, ranges, matchers, machine.

    ``tasks`` (None without follow_fork, follow_exec, follow_all): the counts of each program in each process
    (session.tasks.TaskCounts); ``threads`` (None without per_thread): the counts of each thread
    (session.programmed_pmu.ThreadCounts); ``system_tasks`` (None without per_task, per_processor): those of each
    task or processor of a system (session.run.system_task_counts.SystemTaskCounts); ``counts`` and ``retired`` are
    then sums. ``regions`` (None without per_region): those of each region that the program marks, regions within it
    included (session.triggers.regions.RegionCounts).

    None without their options: ``functions`` (per_function), ``blocks`` (per_block), ``lines`` (per_line),
    ``annotated`` (annotate with a function), ``source`` (annotate with a source file), ``intervals`` (print_interval),
    ``cpi`` (report="cpi"), ``derived`` (report="derived"), ``shared`` (report="c2c"), ``timeline`` (timeline; None,
    too: its code did not run), ``output`` and ``error_output`` (capture). ``samples`` (long_smpl_periods; none if
    on_samples took them), ``exact`` (smpl_truth): true counts of the sampled event by instruction, address | slot, and
    with branch_filter ``exact_edges``: of the taken branches that it lets through, by (source, target); ``surveyed``
    (report="html"): the data of `to_html`. ``finding``: the largest cause of stalls, if the default events were
    counted, or report="cpi", and it has more than a third of the cycles (session.profile.finding). ``notes``: options
    without, or with approximate, effect, and messages about the program. ``calls``: all of them, for exports of the
    command line. ``sources``: the texts of source files by path, of a recording that keeps them. ``python``
    (per_function, per_line; None: the program has no Python functions): the counts by Python function and line
    (session.profile.python_profile)."""

    def __init__(
        self,
        command: Sequence[str],
        processor: Processor,
        results: Results,
        outcome: RunOutcome,
        intervals: Sequence[Interval] | None,
        programming: ProgrammingRecord,
        notes: Sequence[str],
        captured: tuple[bytes, bytes] | None,
        samples: Sequence[Sample] | None = None,
        samples_of_tasks: Mapping[str, Sequence[Sample]] | None = None,
    ) -> None:
        """Store the results of an outcome. ``intervals``, ``samples``: None where there are to be none."""
        self.pmu = processor.pmu
        self.command = tuple(command)
        self.counts = Counts(outcome.counts)
        self.status = outcome.status
        self.death = outcome.death
        self.stopped = outcome.stopped
        self.retired = outcome.retired
        self.times = outcome.times
        self.functions, self.blocks, self.lines = _profiles(results, outcome)
        self.annotated, self.source = _annotated(results, outcome)
        self.intervals = None if intervals is None else _intervals(self.counts, intervals)
        self.cpi = outcome.cpi
        self.derived = _derived(processor, self.counts) if results.report == "derived" else None
        self.surveyed = outcome.surveyed
        self.finding = outcome.finding
        self.calls = outcome.calls
        self.shared = outcome.shared
        self.timeline = outcome.timeline
        self.sources = outcome.sources
        self.python = outcome.python
        self._by_function = outcome.profile.by_function() if outcome.surveyed and outcome.profile else ()
        self.sampled = samples is not None
        self.samples = None if samples is None or outcome.tasks is not None else _samples(samples)
        self.exact = outcome.exact
        self.exact_edges = outcome.exact_edges
        of_tasks = samples_of_tasks or {} if self.sampled else None
        derive = partial(_derived, processor) if results.report == "derived" else None
        self.tasks = None if outcome.tasks is None else _tasks(outcome.tasks, of_tasks, derive)
        self.threads = None if outcome.threads is None else tuple(outcome.threads)
        self.regions = None if outcome.regions is None else tuple(outcome.regions)
        self.system_tasks = None if outcome.system_tasks is None else tuple(outcome.system_tasks)
        self.programming = programming
        self.notes = (*notes, *(self.source.notes if self.source else ()))
        self.output = captured[0] if captured else None
        self.error_output = captured[1] if captured else None

    def __repr__(self) -> str:
        return f"<Run of {self.command[0]}: status {self.status}, {self.counts}>"

    @property
    def signal(self) -> int | None:
        """The signal that killed the program."""
        return self.death.signal if self.death else None

    def to_dict(self, header: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return the object that --json prints. Keys: pfmon (version), pmu, command, exit_status, signal, stopped
        (null, "timeout", "interrupt", "terminate" (SIGTERM), "hangup" (SIGHUP) or "stop"), instructions, seconds (real,
        user, system), events (Count.to_dict); intervals (null without print_interval); header is null, or has date,
        hostname and system (--with-header); machine (name, and changes: FIGURE=VALUE), engine (null for a recording)
        and programming as ProgrammingRecord.to_dict has them; notes (texts); profile (null, or events, functions,
        blocks, lines, annotated, source, each null if not requested); report (null, Cpi.to_dict or
        DerivedReport.to_dict); timeline (null, or BlockTimeline.to_dict); finding (null, or share, cause, place);
        samples (null, or Sample.to_dict of each); tasks (null, or TaskCounts.to_dict of each); threads (null, or
        ThreadCounts.to_dict of each); regions (null, or RegionCounts.to_dict of each); system_tasks (null, or
        SystemTaskCounts.to_dict of each)."""
        from pfmon.version import VERSION

        return {
            "pfmon": VERSION,
            "pmu": self.pmu,
            "command": list(self.command),
            "exit_status": self.status,
            "signal": self.signal,
            "stopped": self.stopped or None,
            "instructions": self.retired,
            "seconds": self.times._asdict(),
            "events": self.counts.to_dict(),
            "intervals": (self.intervals.to_dict() if self.intervals else None) or None,
            "header": dict(header) if header else None,
            **self.programming.to_dict(),
            "notes": list(self.notes),
            "profile": self._profile(),
            "report": self._report(),
            "timeline": self.timeline.to_dict() if self.timeline else None,
            "finding": self.finding._asdict() if self.finding else None,
            "samples": None if self.samples is None else self.samples.to_dict(),
            "tasks": None if self.tasks is None else [task.to_dict() for task in self.tasks],
            "threads": None if self.threads is None else [thread.to_dict() for thread in self.threads],
            "regions": None if self.regions is None else [region.to_dict() for region in self.regions],
            "system_tasks": None if self.system_tasks is None else [task.to_dict() for task in self.system_tasks],
        }

    def _report(self) -> dict[str, Any] | None:
        if self.cpi:
            return self.cpi.to_dict(self._texts().text)
        report = self.derived or self.shared or (self.surveyed.cpi if self.surveyed else None)
        return report.to_dict() if report else None

    def _texts(self) -> SourceTexts:
        """The program's sources: those of a recording, or those that are there."""
        from pfmon.program.source_texts import SourceTexts

        return SourceTexts("", self.command[0].rpartition("/")[0], kept=self.sources)

    def _profile(self) -> dict[str, Any] | None:
        tables = {"functions": self.functions, "blocks": self.blocks, "lines": self.lines}
        parts = {**tables, "annotated": self.annotated, "source": self.source}
        if all(part is None for part in parts.values()):
            return None
        made = {name: None if part is None else part.to_dict() for name, part in parts.items()}
        return {"events": self.counts.names, **made, "python": self.python and self.python.to_dict()}

    def to_html(self, samples: SampleTree | None = None, of_tasks: Mapping[str, SampleTree] | None = None) -> str:
        """The page of the run (report="html"): a file of its own. ``samples``: what took them while it ran;
        ``of_tasks``: the same of tasks, by name."""
        from pfmon.report.html.run_page import run_page

        if self.tasks is not None:
            from pfmon.report.html.tasks_page import tasks_page
            from pfmon.report.task_report import shown_command

            trees = of_tasks or {}
            pages = [self._task_page(task, trees.get(task.name)) for task in self.tasks if task.surveyed]
            return tasks_page(shown_command(self.command), pages, self.counts)
        if self.surveyed is None:
            raise PfmonError('to_html() shows what report="html" has seen: give it to the run')
        return run_page(
            self.surveyed,
            self.command,
            self.pmu,
            self._ending(),
            self.notes,
            self.programming,
            self.counts,
            self.counts.names,
            self._by_function,
            self.intervals,
            self._descriptions(),
            samples,
            self.threads,
            self.sources,
        )

    def task_to_html(self, task: TaskCounts, samples: SampleTree | None = None) -> str:
        """The page of one of the tasks."""
        from pfmon.report.html.page import D3, FLAME, PLOT, page
        from pfmon.report.html.run_page import SCRIPTS

        data = self._task_page(task, samples).data()
        return page(f"pfmon: {data['title']}", data, SCRIPTS, (D3, PLOT, FLAME))

    def _task_page(self, task: TaskCounts, samples: SampleTree | None) -> TaskPage:
        from pfmon.report.html.run_page import run_data
        from pfmon.report.html.tasks_page import TaskPage

        surveyed = task.surveyed
        if surveyed is None:
            raise PfmonError('to_html() shows what report="html" has seen: give it to the run')
        ending = _ending(task.signal, task.status)

        def data() -> dict[str, Any]:
            return run_data(
                *(surveyed, task.command, self.pmu, ending, task.notes, self.programming, task.counts),
                descriptions=self._descriptions(),
                samples=samples,
            )

        return TaskPage(task, ending, data)

    def _descriptions(self) -> dict[str, str]:
        from pfmon.pmu import get

        events = get(self.pmu).events
        return {count.name: events[count.name].description for count in self.counts if count.name in events}

    def _ending(self) -> str:
        if self.death:
            return f"killed by signal {self.death.signal}"
        return f"{self.status} ({self.stopped})" if self.stopped else str(self.status)

    def plot(self, what: str = "", *, ax: Any | None = None) -> Any:
        """Draw a picture by matplotlib, and return its axes. ``what``: "intervals", "cycles" (by cause), "slots"
        (top-down), "functions", "lines", "counts"; by default the first of these that the run has the data for.
        ``ax``: axes to draw into. PfmonError: the run lacks the data, or matplotlib is missing (pfmon[plot])."""
        from pfmon.library.results.run_pictures import plot_run

        return plot_run(self, what, ax)

    def _repr_html_(self) -> str:
        """Return the run for a notebook: command, ending, and its tables."""
        from pfmon.library.results.run_pictures import run_html

        return run_html(self)

    def to_pandas(self) -> Any:
        """Return the counts as a DataFrame; the other tables have their own to_pandas."""
        return self.counts.to_pandas()


def _ending(signal: int, status: int | None) -> str:
    if signal:
        return f"killed by signal {signal}"
    return "executed another program, or was stopped" if status is None else str(status)


def _derived(processor: Processor, counts: Counts) -> DerivedReport:
    from pfmon.library.results.derived_run import derived_report

    return derived_report(processor, counts)


def _tasks(
    tasks: Sequence[TaskCounts],
    samples: Mapping[str, Sequence[Sample]] | None,
    derive: Callable[[Counts], DerivedReport] | None,
) -> tuple[TaskCounts, ...]:
    """The tasks with what the library makes of what they came to."""
    return tuple(
        task._replace(
            samples=None if samples is None else _samples(samples.get(task.name, ())),
            derived=derive(Counts(task.counts)) if derive else None,
        )
        for task in tasks
    )


def _samples(samples: Sequence[Sample]) -> Samples:
    from pfmon.library.results.samples import Samples

    return Samples(samples)


def _profiles(results: Results, outcome: RunOutcome) -> tuple[Table | None, Table | None, Table | None]:
    """Return the tables by function, by block and by line, as far as requested."""
    profile = outcome.profile
    if profile is None:
        return None, None, None
    from pfmon.library.results.result_tables import Table

    return (
        Table(profile.names, profile.by_function()) if results.functions else None,
        Table(profile.names, profile.by_block()) if results.blocks else None,
        Table(profile.names, profile.by_line()) if results.lines else None,
    )


def _annotated(results: Results, outcome: RunOutcome) -> tuple[Annotated | None, SourceCounts | None]:
    """Return the table by instruction of a function, or by line of a source file, if requested."""
    profile = outcome.profile
    if profile is None or not results.annotate:
        return None, None
    from pfmon.library.results.result_tables import Annotated
    from pfmon.library.results.source_counts import SourceCounts
    from pfmon.program.source_texts import SourceFile

    if isinstance(outcome.listing, SourceFile):
        return None, SourceCounts(outcome.listing, profile, outcome.sources)
    return Annotated(results.annotate, profile, outcome.listing), None


def _intervals(counts: Counts, intervals: Sequence[Interval]) -> Intervals:
    from pfmon.library.results.result_tables import Intervals

    return Intervals(counts.names, intervals)
