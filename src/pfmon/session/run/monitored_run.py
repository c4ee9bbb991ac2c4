"""One monitored run: a program, an event set, a time limit."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Timer
from typing import TYPE_CHECKING

from pfmon.counting._counting import SampleListener
from pfmon.debug_log import log_phase
from pfmon.engine import registry
from pfmon.engine.api import Engine, ExitReport, FollowRules, Interruptible, StartRequest, TimedSystem
from pfmon.engine.guest_pmu import PerformanceData
from pfmon.errors import LostError, PfmonError
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.session.run.collected_data import CollectedData
from pfmon.session.run.monitoring import Interval, Monitoring
from pfmon.session.run.programmed_plan import ProgrammedPlan
from pfmon.session.run.programmed_pmu import Count, ProgrammedPmu, RunData, ThreadCounts
from pfmon.session.run.run_outcome import RunOutcome, Times
from pfmon.session.run.run_plan import RunPlan
from pfmon.session.run.system_task_counts import SystemTaskCounts
from pfmon.stream._stream import Consumer

if TYPE_CHECKING:
    from pfmon.program.loaded_objects import LoadedObjects, ObjectFile
    from pfmon.program.source_texts import SourceFile
    from pfmon.session.profile.code_profile import Profile
    from pfmon.session.profile.finding import Finding
    from pfmon.session.profile.python_profile import PythonProfile
    from pfmon.session.run.followed_tasks import FollowedTasks, OnTask
    from pfmon.session.run.report_collector import ObservedRun
    from pfmon.session.run.run_recording import RunRecording
    from pfmon.session.sampling.sampled_run import SampledRun
    from pfmon.session.sampling.sampling_period import Sample
    from pfmon.session.triggers.regions import RegionCounts


FAILED = "failed"
"""Why a run is stopped that nobody will have counts of: the one beside it has failed. Its recording is not kept."""
INTERRUPTED = 128 + 2
STATUSES = {"timeout": 124, "interrupt": INTERRUPTED, "terminate": 128 + 15, "hangup": 128 + 1}
"""Exit status by the cause that stopped a run: --session-timeout, as of timeout(1); SIGINT, SIGTERM, SIGHUP, as of a
shell. Of other causes: `INTERRUPTED`."""


class Session:
    """A plan, programmed and loaded. The constructor raises PfmonError for all mistakes in the plan.

    It can be run once, in any thread, beside other sessions; ``on_notice`` is called with messages during the run,
    ``on_detail`` with those that only --verbose prints.
    """

    def __init__(
        self,
        plan: RunPlan,
        on_notice: Callable[[str], None] = lambda _: None,
        on_detail: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.plan = plan
        self._on_notice = on_notice
        self._on_detail = on_detail
        self._notices: list[str] = []
        self._programmed = programmed = ProgrammedPlan(plan)
        self.groups = programmed.groups
        self.counting = self.groups[0] if self.groups else None
        self._tasks = self._make_tasks() if plan.following else None
        self.engine: Engine = self._open()
        self.generated = _perf_map(plan)
        """Names of code that the program generates; None: they are not known."""
        self._recording: RunRecording | None = None
        self.unrecorded: LostError | None = None
        """The error of a recording that could not be written; the counts are complete."""
        try:
            programmed.check_engine(self.engine)
            programmed.import_needed()
            self._recording = self._record() if plan.record else None
        except BaseException:
            self.close()
            raise
        self._stopped = ""
        self._collected: CollectedData | None = None
        self._at_work: Monitoring | SampledRun | None = None
        self._misplaced: BaseException | None = None

    @property
    def sets(self) -> list[ProgrammedPmu]:
        """All programmed PMUs."""
        return self._programmed.sets

    @property
    def machine(self) -> MachineFigures | None:
        """The figures of the machine that the program runs on; None: none is wanted."""
        return self._programmed.machine

    def _open(self) -> Engine:
        return self.plan.hardware_thread.open(self._open_alone) if self.plan.hardware_thread else self._open_alone()

    def _open_alone(self) -> Engine:
        plan = self.plan
        if plan.replay:
            made = self._programmed
            return registry.replay(
                plan.replay, partial=plan.partial, addresses=made.wants_addresses, listing=made.lists_code
            )
        return registry.start(self._start())

    def _start(self) -> StartRequest:
        plan = self.plan
        if plan.program is None:
            raise ValueError("there is no program to run")
        return StartRequest(
            plan.program,
            plan.arguments,
            plan.environment,
            plan.settings,
            memory_limit=plan.memory_limit,
            processor=plan.model.name,
            slow=plan.slow,
            addresses=self._programmed.wants_addresses,
            totals=self._programmed.adds_up,
            listing=self._programmed.lists_code,
            on_notice=self._notice,
            on_detail=self._on_detail,
            follow=self._tasks.follow if self._tasks else self._monitoring(),
            on_mapped=self._mapped if plan.deferred else None,
            engine=plan.engine,
            python=plan.python,
            anew=plan.anew,
            waiting=plan.waiting,
            system=plan.system,
            regions=bool(plan.record) or plan.controls.of_regions,
            regions_alone=self._programmed.adds_up_regions,
        )

    def _monitoring(self) -> FollowRules | None:
        """Return the rules of an x86-64 program that uses the PMU, whose processes have one each; None: of others."""
        plan = self.plan
        if not plan.guest_pmu or plan.model.architecture != "x86" or plan.settings.confined:
            return None
        from pfmon.session.run.monitoring_tasks import monitoring_tasks

        return monitoring_tasks(plan, self._programmed.machine)

    def _make_tasks(self) -> FollowedTasks:
        from pfmon.session.run.followed_tasks import FollowedTasks
        from pfmon.session.run.task_run import TaskMonitors

        made = self._programmed
        return FollowedTasks(self.plan, TaskMonitors(made.machine, made.trigger, made.surveyed_machine, made.live))

    def _mapped(self) -> None:
        """Resolve ranges and triggers in newly mapped files; an error ends the run."""
        assert self.plan.deferred
        try:
            placed = self.plan.deferred(self.engine.mapped)
            if placed and self._at_work:
                self._at_work.requalify(placed)
                wanted = [
                    request._replace(irange=irange, drange=drange)
                    for request, (irange, drange) in zip(self.plan.requests, placed.ranges, strict=True)
                ]
                controls = self.plan.controls._replace(triggers=placed.triggers)
                self.plan = self.plan._replace(requests=wanted, controls=controls)
        except BaseException as error:
            self._misplaced = error
            self.stop()

    def _notice(self, text: str) -> None:
        self._notices.append(text)
        self._on_notice(text)

    def _record(self) -> RunRecording:
        from pfmon.session.run.run_recording import RunRecording

        return RunRecording(self.plan.record, self._start(), self.engine)

    def run(
        self,
        on_interval: Callable[[Interval], None] = lambda _: None,
        on_samples: Callable[[Sequence[Sample]], None] | SampleListener = lambda _: None,
        on_task: OnTask | None = None,
    ) -> RunOutcome:
        """Run the program to its end and read the counters. ``on_interval`` gets the counts of each interval,
        ``on_samples`` the samples of each buffer, a SampleListener each sample, in the thread that reads the stream.
        Of what is followed ``on_task`` gets each task and the files that its code is from, when it begins, and gives
        what takes its samples."""
        try:
            return self._run_any(on_interval, on_samples, on_task)
        except PfmonError as error:
            error.during_run = True
            raise

    def _run_any(
        self,
        on_interval: Callable[[Interval], None],
        on_samples: Callable[[Sequence[Sample]], None] | SampleListener,
        on_task: OnTask | None,
    ) -> RunOutcome:
        try:
            if self.plan.guest_pmu:
                return self._run_for_system() if self.plan.system else self._run_for_program()
            if self._tasks:
                return self._run_followed(self._tasks, on_task)
            outcome = self._run_sampled(on_samples) if self._programmed.live else self._run(on_interval)
        finally:
            self.close()
        if self._misplaced:
            raise self._misplaced
        return outcome

    def close(self) -> None:
        """Release host resources; `run` does so in any case."""
        self.engine.close()
        if self._recording:
            self._recording.abandon()

    @property
    def objects(self) -> LoadedObjects:
        """The object files of its code, including those mapped so far."""
        from pfmon.program.loaded_objects import LoadedObjects

        return LoadedObjects(self.plan.program, lambda: self.engine.mapped, self.plan.debug, self.generated)

    def take_interrupt(self) -> bool:
        """Ctrl-C was typed: whether what runs gets it, and the run goes on."""
        return isinstance(self.engine, Interruptible) and self.engine.take_interrupt()

    def stop(self, why: str = "stop") -> None:
        """End the run soon, keeping the counts so far; callable from any thread or a signal handler."""
        self._stopped = self._stopped or why
        self.engine.stop()

    def _run_sampled(self, on_samples: Callable[[Sequence[Sample]], None] | SampleListener) -> RunOutcome:
        from pfmon.session.sampling.sampled_run import SampledRun
        from pfmon.session.sampling.sampling_period import Sampling, SetSampling

        plan = self.plan
        sampling = plan.sampling or Sampling(tuple(SetSampling((None,) * len(one.plan.names)) for one in self.sets))
        sampled = SampledRun(
            *(plan.model, self.sets, self.engine, sampling, on_samples, self._programmed.machine, self._traced),
            *(plan.controls, plan.settings.nanoseconds_per_instruction, self._programmed.trigger, plan.hardware_thread),
        )
        self._at_work = sampled
        ending, times = self._execute(sampled.consumer, sampled.running, sampled)
        self._at_work = None
        sampled.finish()
        outcome = self._outcome(ending, times, sampled.counts(), sampled.notes())
        return outcome._replace(exact=sampled.exact(), exact_edges=sampled.exact_edges())

    def _run_for_program(self) -> RunOutcome:
        """Run a program that uses the PMU; pfmon counts nothing."""
        from pfmon.session.run.program_pmu import ProgramPmu

        pmu = ProgramPmu(self.plan.model, self.engine, self._programmed.machine, self.plan.controls.ear_seed)
        self.engine.set_monitoring(on=False, locked=True)
        ending, times = self._execute(pmu.consumer, pmu.running, pmu)
        pmu.finish()
        return self._outcome(ending, times, [], [])

    def _run_for_system(self) -> RunOutcome:
        """Run a whole processor's code, which uses the PMU; pfmon counts beside."""
        from pfmon.session.run.system_pmu import SystemPmu, counted_beside

        beside = counted_beside(self.plan, self.groups)
        pmu = SystemPmu(self.plan.model, self.engine, self._programmed.machine, self.plan.controls.ear_seed, beside)
        ending, times = self._execute(pmu.consumer, pmu.running, pmu)
        pmu.finish()
        return self._outcome(ending, times, pmu.counts(), pmu.notes())

    @property
    def _traced(self) -> bool:
        """Whether the counted stream has addresses."""
        return self._programmed.counts_addresses if self._recording else self.engine.traced

    def _execute(
        self, reader: Consumer, running: AbstractContextManager[object], data: PerformanceData | None = None
    ) -> tuple[ExitReport | None, Times]:
        """Run the program, recording it if requested; return its ending and its times."""
        figures = None if self._tasks else self._programmed.surveyed_machine  # each task has its own
        self._collected = collected = CollectedData(self.plan, self.engine, figures)
        reader = collected.beside(reader)
        if self._recording:
            reader = self._recording.consumer(reader, self._traced)
        log_phase("load")
        before = _now()
        with self._limited(), collected.running, running as machine:
            self._connect_clock(machine)
            ending = self.engine.run(reader, data)
        log_phase("run")
        if self._recording and self._stopped != FAILED:
            self.unrecorded = self._recording.finish(ending)
        times = Times(*(after - first for after, first in zip(_now(), before, strict=True)))
        collected.finish(lambda: self.objects)
        return ending, times

    def _connect_clock(self, machine: object) -> None:
        """Let the interval timer of a system count the cycles of its machine, if the plan says so."""
        if not self.plan.counts_time_in_cycles or self.plan.hardware_thread:
            return
        from pfmon.session.run.machine_run import MachineRun

        assert isinstance(machine, MachineRun) and isinstance(self.engine, TimedSystem)
        self.engine.set_clock(machine.cycles_before)

    def _run(self, on_interval: Callable[[Interval], None]) -> RunOutcome:
        scale = self.plan.settings.nanoseconds_per_instruction
        traced = self._traced
        monitoring = (
            Monitoring(
                *(self.groups, self.plan.controls, self.engine, scale, on_interval, self._programmed.machine),
                threaded=self.plan.threaded,
                traced=traced,
                hardware_thread=self.plan.hardware_thread,
                python=self.plan.python is not None and self.plan.split_python,
            )
            if self.groups
            else None
        )
        self._at_work = monitoring
        observer = self._observer() if self._programmed.machine and not monitoring else None
        reader = observer.consumer if observer else monitoring.consumer if monitoring else Consumer()
        ending, times = self._execute(reader, observer.running if observer else _running(monitoring), monitoring)
        counts: list[Count] = []
        threads: list[ThreadCounts] | None = None
        system_tasks: list[SystemTaskCounts] | None = None
        notes = observer.notes() if observer else [] if monitoring else self._notes_on_report()
        regions: list[RegionCounts] | None = None
        profile: Profile | None = None
        lines: Sequence[tuple[int, str]] | SourceFile = ()
        finding: Finding | None = None
        python: PythonProfile | None = None
        if monitoring:
            monitoring.check()
            monitoring.finish_interval()
            counts = monitoring.counts()
            threads = monitoring.threads() if self.plan.controls.per_thread else None
            if self.plan.controls.tasks_apart and not self.plan.controls.task_name:
                system_tasks = monitoring.tasks()
            regions = monitoring.regions() if self.plan.controls.per_region else None
            notes = monitoring.notes()
            if self.plan.profile:
                profile, lines = self._profile(monitoring.seen(), notes)
                python = monitoring.python()
            if self.plan.finding:
                finding = self._finding(monitoring.seen())
            monitoring.close()
            self._at_work = None
        return self._outcome(ending, times, counts, notes)._replace(
            profile=profile,
            threads=threads,
            system_tasks=system_tasks,
            regions=regions,
            listing=lines,
            python=python,
            cpi=observer.breakdown(self.plan, self.objects) if observer else None,
            finding=observer.finding(self.plan, self.objects) if observer else finding,
        )

    def _notes_on_report(self) -> list[str]:
        """Notes of a run that is for a report alone."""
        return self._collected.region_notes() if self._collected else []

    def _observer(self) -> ObservedRun:
        from pfmon.session.run.report_collector import ObservedRun

        assert self._programmed.machine
        return ObservedRun(
            *(self._programmed.machine, self.engine, self.plan.threaded, self.plan.hardware_thread),
            python=self.plan.python is not None,
            parts=self.plan.controls.parts_alone,
        )

    def _run_followed(self, tasks: FollowedTasks, on_task: OnTask | None) -> RunOutcome:
        """Run the program with all that it starts; what all tasks come to."""
        first = tasks.first_of(self.engine, self.groups, on_task)
        ending, times = self._execute(first.run.consumer, first.run.running, first.run.data)
        counts = first.finish()
        return self._outcome(ending, times, counts, tasks.notes())._replace(
            retired=tasks.retired, tasks=tasks.in_order(), cpi=tasks.cpi()
        )

    def _outcome(
        self, ending: ExitReport | None, times: Times, counts: list[Count], notes: Sequence[str]
    ) -> RunOutcome:
        assert self._collected
        notes = [*notes, *self._collected.notes]
        if self._damage:
            notes = [*notes, f"{self._damage}; the counts are those up to there"]
        return RunOutcome(
            status=self._status(ending),
            counts=counts,
            times=times,
            retired=self.engine.retired,
            death=ending if ending and ending.signal else None,
            stopped=self._stopped,
            notes=notes,
            notices=self._notices,
            surveyed=self._collected.report,
            calls=self._collected.calls,
            shared=self._collected.shared,
            timeline=self._collected.timeline,
            sources=getattr(self.engine, "sources", {}),
        )

    def _profile(
        self, seen: RunData, notes: list[str]
    ) -> tuple[Profile | None, Sequence[tuple[int, str]] | SourceFile]:
        from pfmon.session.profile.code_profile import Profile

        if self.counting is None:
            return None, []
        profile = Profile(self.counting, self.objects, seen, self.plan.demangle)
        if self.plan.annotate is None:
            return profile, []
        from pfmon.session.profile.annotated_code import listed

        return profile, listed(self.plan.annotate, profile, self.engine, self.objects, notes)

    def _finding(self, seen: RunData) -> Finding | None:
        from pfmon.session.profile.finding import finding

        return finding(seen, self.objects, self.plan.demangle) if seen.records else None

    def _status(self, ending: ExitReport | None) -> int:
        still_ran = self._tasks is not None and self._stopped  # what the first program started
        if ending is not None and not still_ran:
            return ending.status & 0xFF
        if self._damage:
            return 0
        return STATUSES.get(self._stopped, INTERRUPTED)

    @property
    def _damage(self) -> str:
        """The position of damage in a recording that is replayed up to there."""
        return str(getattr(self.engine, "damage", ""))

    @contextmanager
    def _limited(self) -> Iterator[None]:
        """Stop the run at the time limit within this context."""
        if self.plan.timeout is None:
            yield
            return
        timer = Timer(self.plan.timeout, self.stop, ("timeout",))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def _perf_map(plan: RunPlan) -> ObjectFile | None:
    names = plan.profile or plan.surveyed or plan.report or plan.finding or plan.sampling or plan.timeline
    if not names or plan.replay or plan.engine not in ("x86_64", "qemu"):
        return None
    from pfmon.program.perf_map import PerfMap

    settings = plan.settings
    is_fixed = plan.engine == "x86_64" and not settings.host_ids
    return PerfMap(settings.process_id if is_fixed else None)


def _running(monitoring: Monitoring | None) -> AbstractContextManager[object]:
    return monitoring.running if monitoring else nullcontext()


def _now() -> tuple[float, float, float]:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return time.monotonic(), usage.ru_utime, usage.ru_stime
