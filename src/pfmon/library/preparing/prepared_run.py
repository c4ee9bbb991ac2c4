"""Preparation of a run from options: the PMU is programmed, the program loaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Self

from pfmon.counting._counting import SampleListener
from pfmon.engine import registry
from pfmon.engine.api import ExecutedError, Recording, Task, WaitingProcess
from pfmon.errors import LostError, PfmonError, UnsupportedError
from pfmon.library.options.run_options import Options
from pfmon.library.preparing.plan import ALONE, LoadedProgram, RunContext, plan_of
from pfmon.library.preparing.standard_streams import Files
from pfmon.library.preparing.symbol_lookup import SharedObjects, symbols_of, with_kernel_symbols, with_symbol_file
from pfmon.library.resolving.command_program import find_program
from pfmon.library.resolving.request_builder import BuiltRequest, Symbols, qualifies, request
from pfmon.library.resolving.resolve import resolve
from pfmon.library.resolving.run_parts import Counting, Guest, Resolved, TriggerOptions
from pfmon.library.resolving.triggers import triggers
from pfmon.library.results.run_result import Run, import_results
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.request import Request
from pfmon.pmu.qualify.effects import effects, inexact
from pfmon.program import image, system_image
from pfmon.program.image import Program
from pfmon.program.mapped_files import MappedFile
from pfmon.report.programming_record import EngineRecord, MachineRecord, ProgrammingRecord
from pfmon.session.run.monitored_run import Session
from pfmon.session.run.monitoring import Interval
from pfmon.session.run.run_plan import ResolvedAddresses
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.library.preparing.deferred_symbols import DeferredSymbols
    from pfmon.program.loaded_objects import LoadedObjects
    from pfmon.session.run.followed_tasks import OnTask, Taker


INTERRUPT = "interrupt"
"""Why a run is to be stopped when Ctrl-C was typed (run_termination.py)."""


class Launcher(NamedTuple):
    """The programs that executed another one in their own process, one behind the other: their instructions, the
    processes that they made, and the last executed program."""

    instructions: int = 0
    children: int = 0
    executed: str = ""

    def and_then(self, executed: ExecutedError) -> Launcher:
        """Return it with one more."""
        return Launcher(self.instructions + executed.retired, self.children + executed.children, executed.path)

    @property
    def line(self) -> str:
        """The line for the user."""
        made = ""
        if self.children:
            made = f", nor {self.children} process{'es' if self.children > 1 else ''} that it started"
        return f"launcher: {self.instructions:,} instructions before exec of {self.executed} are not counted{made}"


class Prepared:
    """A program, or a recording, ready to be run once: the PMU is programmed, the program loaded.

    `resolve` and the constructor raise PfmonError for all mistakes in the options. A run writes no output of its own
    and changes no signal handler; several can run at once, each in its own thread.
    """

    def __init__(
        self,
        parts: Resolved,
        recording: Recording | None,
        context: RunContext = ALONE,
        otherwise: Callable[[], Resolved] | None = None,
    ) -> None:
        """``parts``, ``recording``: of `resolve`; ``context``: what the run has of this process; ``otherwise``: the
        parts under the engine that takes over what the chosen one does not support, None: none does."""
        self._files = context.files or Files()
        self._context, self._otherwise = context, otherwise
        self._stopped = self._in_use = False
        self._why = ""
        self._waiting: WaitingProcess | None = None
        self._parts = parts
        self._launcher = Launcher()
        self._named: list[LoadedObjects] = []
        """The object files whose symbols names are looked up in."""
        try:
            self._prepare(parts, recording, context)
        except BaseException:
            self._files.close()
            raise

    def _prepare(self, parts: Resolved, recording: Recording | None, context: RunContext) -> None:
        self.command, self.processor, self.results = parts.command, parts.processor, parts.results
        guest = parts.guest
        self.engine = None if recording else EngineRecord(guest.engine, guest.settings.cpu, guest.masked)
        """The engine of the run; None for a recording."""
        self.events, self.usual = parts.counting.events, parts.counting.usual
        self.summary = parts.counting.summary
        """Whether the default events of a whole run are counted."""
        self._load = _loader(parts.guest, recording)
        loaded, asked = self._loaded(parts, recording)
        if recording:
            recording.close()
        import_results(parts.results, parts.controls.interval is not None, parts.buffer is not None, parts.following)
        plan = plan_of(parts, loaded, context, self._files.numbers)
        plan = plan._replace(anew=_begins_anew(parts, context), waiting=self._waiting)
        if loaded.program and _counts_python(parts, context):
            from pfmon.program.python_interpreter import find_loop

            tables = parts.results.functions or parts.results.lines
            plan = plan._replace(python=find_loop(loaded.program, self._objects.find), split_python=tables)
        self.session = Session(plan, context.on_notice, context.on_detail)
        self._awaited = loaded.awaited
        self.said = asked.said
        """Lines about ranges and matchers, as --verbose says them, by event set."""
        self.notes = [*asked.warnings, *parts.notes]
        """Notes on options without effect."""
        for group, wanted in zip(self.session.groups, asked.requests, strict=False):  # without events there is none
            self.notes += effects(group.model, wanted, [one.programming for one in group.sets])
            if group.model.architecture == "ia64":
                ia32 = parts.processor.ia32
                self.notes += [note for one in group.sets for note in one.instruction_set_notes(ia32)]
        self.inexact = inexact([one.programming for one in self.session.sets])
        """Notes on options that are not exactly in force."""

    def _loaded(self, parts: Resolved, recording: Recording | None) -> tuple[LoadedProgram, BuiltRequest]:
        """Load the program, as far as it is needed, and program the PMU."""
        counting, guest, load = parts.counting, parts.guest, self._load
        self._objects = _shared_objects(guest, parts.processor.pmu, load, recording)
        symbols = linked = symbols_of(load, self._objects, guest.debug)
        awaited = None if recording else _deferred_symbols(parts, load, self._objects)
        if awaited:
            symbols = awaited.symbols(symbols)
        asked = request(counting.sets, counting.of_all, parts.processor.model, symbols)
        options_need_events(counting.events, asked.requests)
        needed = not recording or parts.results.split or parts.results.report or parts.results.page
        needed = needed or parts.results.timeline is not None
        return LoadedProgram(load() if needed else None, asked.requests, symbols, linked, awaited), asked

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
                    self._in_use = True
                    on_interval(interval)
            except BaseException:  # the session raises it after its end
                self.stop()
                raise

        def take_samples(buffer: Sequence[Sample]) -> None:
            try:
                if callable(on_samples):
                    self._in_use = True
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
        if listener and self.session.plan.following:
            raise PfmonError("a SampleListener takes the samples of one task: give on_task with what is followed")
        takers = take, listener or take_samples, on_task or keep_of_task
        try:
            outcome = None
            while outcome is None:
                try:
                    outcome = self.session.run(*takers)
                except UnsupportedError as unsupported:
                    self._begin_anew(unsupported, listener is not None)
                except ExecutedError as executed:
                    self._go_on_with(executed)
                if outcome is None:
                    kept.clear()
                    samples.clear()
            said = self._tell_launcher()
            if error := self.session.unrecorded:
                if on_unrecorded is None:
                    raise error
                on_unrecorded(error)
            self._objects.check(lambda: self.session.engine.mapped)
            notes = [*self.notes, *self._inexact(), *outcome.notes, *outcome.notices, *said]
            notes += self._awaited.notes() if self._awaited else []
            return Run(
                self.command,
                self.processor,
                self.results,
                outcome,
                None if self.session.plan.controls.interval is None else kept,
                self.programming,
                notes,
                self._files.captured(),
                samples if self.session.plan.sampling else None,
                of_tasks,
            )
        finally:
            self._files.close()

    def _begin_anew(self, error: UnsupportedError, listened: bool) -> None:
        """Prepare the run under the engine that supports what the program did. ``listened``: a SampleListener has its
        samples. Raises ``error`` where none does, where the program was active outside of it, or where results were
        given away already."""
        if self._otherwise is None or error.outside or self._in_use or listened or self._stopped:
            raise error
        self.session.close()
        self._parts = parts = self._otherwise()
        self._otherwise = None
        self._context.on_notice(f"begins anew under {parts.guest.engine}: {error.why}")
        self._prepare(parts, None, self._context)
        for objects in self._named:
            objects.place(self.program())

    def _go_on_with(self, executed: ExecutedError) -> None:
        """Prepare the run of the program that the process executes now: counting begins anew with it."""
        self.session.close()
        self._launcher = self._launcher.and_then(executed)
        self._waiting, self._otherwise = executed.waiting, None
        guest = self._parts.guest
        try:
            self._parts = self._parts._replace(guest=guest._replace(words=(executed.path, *guest.words[1:])))
            self._prepare(self._parts, None, self._context)
            for objects in self._named:
                objects.place(self.program())
        except BaseException as error:
            executed.waiting.close()
            if isinstance(error, PfmonError):
                raise LostError(f"the program executed another one, which cannot be counted: {error}") from None
            raise
        if self._stopped:
            self.session.stop(self._why)

    def _tell_launcher(self) -> list[str]:
        """Say what the totals do not have; returns the line, if there is one."""
        if not self._launcher.instructions:
            return []
        self._context.on_notice(self._launcher.line)
        return [self._launcher.line]

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

        session = self.session
        made = LoadedObjects(self.program(), lambda: self.session.engine.mapped, session.plan.debug, session.generated)
        self._named.append(made)
        return made

    def stop(self, why: str = "stop") -> None:
        """End the run soon, keeping the counts so far; callable from any thread or a signal handler. Ctrl-C may be for
        a system that has the terminal."""
        if why == INTERRUPT and self.session.take_interrupt():
            return
        self._stopped, self._why = True, why
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
            MachineRecord(self.processor.machine_name, self.processor.settings),
            self.engine,
        )


def _begins_anew(parts: Resolved, context: RunContext) -> bool:
    """Whether counting begins anew with what the program executes in its own process; not where samples, intervals or
    live counts were given away before, nor where the program has the PMU, whose events go on."""
    given = parts.buffer or parts.controls.interval is not None or context.watched or parts.execution.guest_pmu
    other = parts.following or parts.recordings.replay or context.hardware_thread or parts.guest.settings.confined
    return not (given or other) and parts.guest.engine == "x86_64"


def _counts_python(parts: Resolved, context: RunContext) -> bool:
    """Whether Python functions are wanted, and the engine can tell which one executes."""
    recorded = parts.recordings.record or parts.recordings.replay
    results, alone = parts.results, not (parts.following or parts.buffer or recorded or context.hardware_thread)
    by_place = results.functions or results.lines or results.page or results.report == "cpi"
    wanted = by_place or (context.stacks and parts.buffer is None)
    return bool(alone and wanted and parts.guest.engine == "x86_64")


def _deferred_symbols(parts: Resolved, load: Callable[[], Program], objects: SharedObjects) -> DeferredSymbols | None:
    """The names in objects that the program opens itself, resolved when it does; None: there are none."""
    counting, addresses = parts.counting, parts.triggers.addresses
    given = [text for one in counting.sets for text in (one.irange, one.drange, one.checkpoint_func)]
    if not any(":" in text for text in [*given, *(one for texts in addresses.values() for one in texts)]):
        return None
    from pfmon.library.preparing.deferred_symbols import DeferredSymbols

    resolved = partial(_addresses, counting, parts.triggers, parts.processor.model)
    return DeferredSymbols(load, objects, parts.guest.debug, resolved, parts.following is not None)


def _addresses(counting: Counting, wanted: TriggerOptions, model: PmuModel, symbols: Symbols) -> ResolvedAddresses:
    """Return the ranges and triggers with the addresses of names as they are known now."""
    asked = request(counting.sets, counting.of_all, model, symbols).requests
    return ResolvedAddresses([(one.irange, one.drange) for one in asked], triggers(wanted, symbols.code, symbols.data))


def prepare_run(options: Options, command: Sequence[str], context: RunContext = ALONE) -> Prepared:
    """Return what the options have run, ready to be run. Raises PfmonError."""

    def otherwise() -> Resolved:
        return resolve(options.replaced(engine="qemu"), command, context.stacks)[0]

    try:
        parts, recording = resolve(options, command, context.stacks)
    except BaseException:
        if context.files:
            context.files.close()
        raise
    stays = options.engine or options.confine or options.system or recording
    return Prepared(parts, recording, context, None if stays else otherwise)


def _loader(guest: Guest, recording: Recording | None) -> Callable[[], Program]:
    """Return a function that loads the program on first use."""
    sysroot, confined = guest.settings.sysroot, guest.settings.confined

    def load() -> Program:
        if recording:
            return recording.program(sysroot)
        if guest.system:
            return with_kernel_symbols(system_image.load(guest.words[0]), guest.sysmap_file)
        return registry.placed(image.load(find_program(guest.words[0]), sysroot, confined), guest.engine)

    return with_symbol_file(load, guest.symbol_file)


def _shared_objects(guest: Guest, pmu: str, load: Callable[[], Program], recording: Recording | None) -> SharedObjects:
    """Return the addresses of shared objects, found on first use; a recording holds them all."""
    if recording:
        return SharedObjects(recording.everything_mapped)

    def look() -> Sequence[MappedFile]:
        from pfmon.library.preparing.linked_objects import linked_objects, packed_program

        if guest.system:
            return packed_program(guest.system)
        return linked_objects(guest, pmu, load())

    return SharedObjects(look)


def options_need_events(events: Sequence[str], wanted: Sequence[Request]) -> None:
    """PfmonError for qualification without an event to qualify."""
    if qualifies(wanted[0]) and not events:
        raise PfmonError("ranges, levels, matchers and filters say how events count: give -e EVENT,... too")
