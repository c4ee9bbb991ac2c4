"""Preparation of a run from options: the PMU is programmed, the program loaded."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self

from pfmon.counting._counting import SampleListener
from pfmon.engine.api import Recording, Task
from pfmon.errors import LostError, PfmonError, UnknownObjectError
from pfmon.library.checks.ineffective_options import privilege_notes, range_notes, session_notes
from pfmon.library.checks.option_checks import profile_needs_events, report_stands_alone, wants_profile
from pfmon.library.options.run_options import Options
from pfmon.library.preparing.result_modules import import_result_modules
from pfmon.library.preparing.standard_streams import Files
from pfmon.library.preparing.symbol_lookup import SharedObjects, symbols_of, with_symbol_file
from pfmon.library.resolving.command_program import debug_directories, environment, find_program, settings_of
from pfmon.library.resolving.machine_selection import machine_of
from pfmon.library.resolving.request_builder import Symbols, qualifies, request
from pfmon.library.resolving.resolve import resolve
from pfmon.library.resolving.triggers import event_trigger, triggers
from pfmon.library.results.run_result import Run
from pfmon.pmu import get
from pfmon.pmu.model.request import Request
from pfmon.pmu.qualify.effects import effects, inexact
from pfmon.program import image
from pfmon.program.image import Program
from pfmon.program.mapped_files import MappedFile
from pfmon.report.programming_record import MachineRecord, ProgrammingRecord
from pfmon.session.coupled.coupled_run import HardwareThread
from pfmon.session.run.controls import Controls, Trigger
from pfmon.session.run.monitored_run import Session
from pfmon.session.run.monitoring import Interval
from pfmon.session.run.run_plan import RunPlan, default_memory_limit
from pfmon.session.sampling.sampling_period import Sample, Sampling

if TYPE_CHECKING:
    from pfmon.library.preparing.deferred_symbols import DeferredSymbols
    from pfmon.library.preparing.task_starts import TaskStarts
    from pfmon.program.loaded_objects import LoadedObjects
    from pfmon.session.run.followed_tasks import FollowOptions, OnTask, Taker


def _nobody(_: object) -> None:
    pass


class Prepared:
    """A program, or a recording, ready to be run once: the PMU is programmed, the program loaded.

    The constructor raises PfmonError for all mistakes in the options. A run writes no output of its own and changes no
    signal handler; several can run at once, each in its own thread.
    """

    def __init__(
        self,
        options: Options,
        command: Sequence[str],
        files: Files | None = None,
        on_notice: Callable[[str], None] = _nobody,
        hardware_thread: HardwareThread | None = None,
        timed: bool = True,
    ) -> None:
        """``files``: the program's standard files; ``on_notice``: called with messages during the run;
        ``hardware_thread``: the hardware thread of a shared core that the program runs on; ``timed``: end the run after
        the time of the options."""
        self.options = options
        """Those of the run, which nothing edits; ``usual``: whether cycles and instructions are counted by default."""
        self._timed = timed
        self._hardware_thread = hardware_thread
        self._files = files or Files()
        try:
            self._prepare(command, on_notice)
        except BaseException:
            self._files.close()
            raise

    def _prepare(self, command: Sequence[str], on_notice: Callable[[str], None]) -> None:
        resolved = resolve(self.options, command)
        self.options, self.command, self.ia32 = resolved.options, resolved.command, resolved.ia32
        options, words, recording = resolved.options, resolved.words, resolved.recording
        self._cpu, self.usual = resolved.cpu, resolved.usual
        load = _loader(options, words, recording)
        self._load = load
        self._objects = _shared_objects(options, words, load, recording)
        symbols = linked = symbols_of(load, self._objects, debug_directories(options))
        self._awaited = None if recording else _deferred_symbols(options, load, self._objects)
        if self._awaited:
            symbols = self._awaited.symbols(symbols)
        asked = request(options, get(options.pmu), symbols)
        options_need_events(options, asked.requests)
        profile_needs_events(options)
        if options.report != "derived":
            report_stands_alone(options)
        needed = not recording or wants_profile(options) or options.report or options.collect_report
        program = load() if needed else None
        if recording:
            recording.close()
        import_result_modules(options)
        self.session = Session(self._plan(words, program, asked.requests, symbols, linked), on_notice)
        self.said = asked.said
        """Lines about ranges and matchers, as --verbose says them, by event set."""
        self.notes = [*asked.warnings, *session_notes(options), *privilege_notes(options), *range_notes(options)]
        self.notes += resolved.notes
        """Notes on options without effect."""
        for group, wanted in zip(self.session.groups, asked.requests, strict=False):  # without events there is none
            self.notes += effects(group.model, wanted, [one.programming for one in group.sets])
            if get(options.pmu).architecture == "ia64":
                self.notes += [note for one in group.sets for note in one.instruction_set_notes(self.ia32)]
        self.inexact = inexact([one.programming for one in self.session.sets])
        """Notes on options that are not exactly in force."""

    def run(
        self,
        on_interval: Callable[[Interval], None] | None = None,
        on_samples: Callable[[Sequence[Sample]], None] | SampleListener | None = None,
        on_task: OnTask | None = None,
        on_unrecorded: Callable[[LostError], object] | None = None,
    ) -> Run:
        """Run it to its end, or until `stop`. ``on_interval`` gets the counts of each interval when it has ended,
        ``on_samples`` the samples of each buffer when it is full, and at the end; `Run.samples` has them if it is None.
        A SampleListener (counting/sampling/sampler.pxd) gets each sample without the GIL. Of what is followed
        ``on_task`` gets each task that begins, and gives what takes its samples instead, in the threads that read what
        tasks retire; `TaskCounts.samples` has them if it is None. ``on_unrecorded`` gets the
        error of a recording that could not be written beside complete counts, which is raised if it is None. LostError:
        something could not be recorded."""
        kept: list[Interval] = []
        samples: list[Sample] = []
        of_tasks: dict[str, list[Sample]] = {}

        def take(interval: Interval) -> None:
            kept.append(interval)
            try:
                if on_interval:
                    on_interval(interval)
            except BaseException:  # the session raises it after its end
                self.stop()
                raise

        def take_samples(buffer: Sequence[Sample]) -> None:
            try:
                if callable(on_samples):
                    on_samples(buffer)
                else:
                    samples.extend(buffer)
            except BaseException:  # as above
                self.stop()
                raise

        def keep_of_task(task: Task, _: LoadedObjects) -> Taker:
            from pfmon.session.run.followed_tasks import Taker

            return Taker(of_tasks.setdefault(task.name, []).extend)

        listener = None if on_samples is None or callable(on_samples) else on_samples
        if listener and self.options.follows:
            raise PfmonError("a SampleListener takes the samples of one task: give on_task with what is followed")
        try:
            outcome = self.session.run(take, listener or take_samples, on_task or keep_of_task)
            if error := self.session.unrecorded:
                if on_unrecorded is None:
                    raise error
                on_unrecorded(error)
            self._objects.check(lambda: self.session.engine.mapped)
            notes = [*self.notes, *self._inexact(), *outcome.notes, *outcome.notices]
            notes += self._awaited.notes() if self._awaited else []
            return Run(
                self.options,
                self.command,
                outcome,
                kept,
                self.programming,
                notes,
                self._files.captured(),
                samples,
                of_tasks,
            )
        finally:
            self._files.close()

    def _inexact(self) -> list[str]:
        """Return the notes on approximations, including ranges that were resolved during the run."""
        if self.session.plan.deferred:
            self.inexact = inexact([one.programming for one in self.session.sets])
        return self.inexact

    def program(self) -> Program:
        """Return the program, or the recorded one, for its names. PfmonError: its file is missing or was changed."""
        return self.session.plan.program or self._load()

    def objects(self) -> LoadedObjects:
        """Return the object files of its code, for their names, including those mapped during the run. PfmonError as
        for `program`."""
        from pfmon.program.loaded_objects import LoadedObjects

        return LoadedObjects(self.program(), lambda: self.session.engine.mapped, self.session.plan.debug)

    def stop(self, why: str = "stop") -> None:
        """End the run soon, keeping the counts so far; callable from any thread or a signal handler."""
        self.session.stop(why)

    def close(self) -> None:
        """Release host resources without running."""
        self.session.close()
        self._files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def programming(self) -> ProgrammingRecord:
        """The PMU's programming and the machine."""
        session = self.session
        return ProgrammingRecord(
            session.plan.requests,
            [[one.programming for one in group.sets] for group in session.groups],
            session.plan.model.target.matchers.pmcs,
            MachineRecord(self.options.machine or self.options.pmu, self.options.machine_settings),
        )

    def _plan(
        self,
        words: Sequence[str],
        program: Program | None,
        wanted: Sequence[Request],
        symbols: Symbols,
        linked: Symbols,
    ) -> RunPlan:
        options, ia32 = self.options, self.ia32  # the plan does not refer back to this
        code, data = symbols.code, symbols.data
        if options.follow_exec and options.triggers:
            from pfmon.library.preparing.task_starts import somewhere

            code, data = somewhere(code), somewhere(data)  # another program may have the name
        planned = triggers(options, code, data)
        both = self._hardware_thread is not None and options.cores == 1 and options.smt_rules
        return RunPlan(
            program=program,
            arguments=[os.fsencode(word) for word in words],
            environment=[os.fsencode(entry) for entry in environment(options)],
            settings=settings_of(options, self._files.numbers, self._cpu),
            model=get(options.pmu),
            requests=[one._replace(ia32_program=ia32, two_threads=both) for one in wanted],
            memory_limit=options.memory_limit or default_memory_limit(),
            timeout=options.session_timeout if self._timed else None,
            engine=options.engine,
            slow=options.slow,
            unlimited=options.unlimited,
            profile=wants_profile(options) or _surveys_counts(options),
            annotate=_annotated(options.annotate, linked),
            controls=Controls(
                triggers=planned,
                event_trigger=event_trigger("trigger-event", options.trigger_event, get(options.pmu)),
                stop_event=event_trigger("stop-event", options.stop_event, get(options.pmu)),
                switch=options.switch_timeout,
                true_values=options.true_values,
                interval=options.print_interval,
                insecure=options.insecure,
                dont_start=options.dont_start,
                ear_seed=options.ear_seed,
                per_thread=options.per_thread,
            ),
            machine=lambda: machine_of(options, ia32),
            report=options.report == "cpi",
            record=options.record,
            replay=options.replay,
            partial=options.partial,
            sampling=_sampling(options),
            demangle=options.demangle,
            following=_following(options),
            debug=debug_directories(options),
            collect_report=options.collect_report,
            threaded=not options.one_thread,
            guest_pmu=options.guest_pmu,
            watched=options.watched,
            hardware_thread=self._hardware_thread,
            deferred=self._awaited.place if self._awaited and self._awaited.waits else None,
            begin=_task_starts(options, program, planned),
        )


def _deferred_symbols(options: Options, load: Callable[[], Program], objects: SharedObjects) -> DeferredSymbols | None:
    """The names in objects that the program opens itself, resolved when it does; None: there are none."""
    given = [text for one in options.sets for text in (one.irange, one.drange, one.checkpoint_func)]
    if not any(":" in text for text in [*given, *(one for texts in options.triggers.values() for one in texts)]):
        return None
    from pfmon.library.preparing.deferred_symbols import DeferredSymbols

    return DeferredSymbols(options, load, objects)


def _annotated(name: str, symbols: Symbols) -> tuple[int, int] | str | None:
    """Return the address range of the code to list; its name, if it may be in a shared object that the program
    opens."""
    try:
        return symbols.code(name) if name else None
    except UnknownObjectError:
        return name


def _surveys_counts(options: Options) -> bool:
    """Whether the counts are to be split for the page of a survey."""
    return options.collect_report and bool(options.events) and not (options.sampled or options.several_sets)


def _task_starts(options: Options, program: Program | None, planned: Sequence[Trigger]) -> TaskStarts | None:
    if not options.follows:
        return None
    from pfmon.library.preparing.task_starts import TaskStarts

    return TaskStarts(options, program, planned)


def _following(options: Options) -> FollowOptions | None:
    if not options.follows:
        return None
    from pfmon.library.resolving.follow_request import following

    return following(options)


def _sampling(options: Options) -> Sampling | None:
    if not options.sampled:
        return None
    from pfmon.library.resolving.sampling_setup import sampling

    return sampling(options, get(options.pmu))


def _loader(options: Options, command: Sequence[str], recording: Recording | None) -> Callable[[], Program]:
    """Return a function that loads the program on first use."""

    def load() -> Program:
        if recording:
            return recording.program(options.sysroot)
        return image.load(find_program(command[0]), options.sysroot, options.confine)

    return with_symbol_file(load, options.symbol_file)


def _shared_objects(
    options: Options, words: Sequence[str], load: Callable[[], Program], recording: Recording | None
) -> SharedObjects:
    """Return the addresses of shared objects, found on first use; a recording holds them all."""
    if recording:
        return SharedObjects(recording.everything_mapped)

    def look() -> Sequence[MappedFile]:
        from pfmon.library.preparing.linked_objects import linked_objects

        return linked_objects(options, words, load())

    return SharedObjects(look)


def options_need_events(options: Options, wanted: Sequence[Request]) -> None:
    """PfmonError for qualification without an event to qualify."""
    if qualifies(wanted[0]) and not options.events:
        raise PfmonError("ranges, levels, matchers and filters say how events count: give -e EVENT,... too")
