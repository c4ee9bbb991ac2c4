"""Options are resolved once: with what the program is and what its processor has they become the parts of a run, which
nothing edits. Each reader gets the part that it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from pfmon.engine import registry
from pfmon.engine.api import Recording
from pfmon.errors import PfmonError
from pfmon.library.options.run_options import Options
from pfmon.library.options.set_options import SetOptions
from pfmon.library.resolving.command_program import Guest, find_program, guest_of, interpreted
from pfmon.library.resolving.counted_events import counted_sets, counts_default_events
from pfmon.library.resolving.ineffective_options import environment_notes, ia64_notes, notes_on_options, qemu_notes
from pfmon.library.resolving.machine_selection import Processor, cpu_model, processor_of
from pfmon.library.resolving.request_builder import Qualification, qualification_of
from pfmon.library.resolving.sampling_setup import buffer_of
from pfmon.library.resolving.triggers import TriggerOptions, trigger_options_of
from pfmon.session.run.controls import Controls
from pfmon.session.sampling.sampling_period import Sampling
from pfmon.stream._stream import InstructionSet

if TYPE_CHECKING:
    from pfmon.session.run.run_plan import FollowOptions


class Counting(NamedTuple):
    """What is counted. ``sets``: the event sets, with the names of their events; ``of_all``: what holds for all events;
    ``unlimited``: on as many PMUs as they need; ``usual``: cycles and instructions, since no event is given."""

    sets: Sequence[SetOptions]
    of_all: Qualification
    unlimited: bool
    usual: bool

    @property
    def events(self) -> list[str]:
        """Those of all event sets."""
        return [event for one in self.sets for event in one.events]


class Results(NamedTuple):
    """What is to be known after the run. ``report``: cpi, derived, or ""; ``page``: the data of an HTML report;
    ``functions``, ``blocks``: counts split by them; ``annotate``: the function whose instructions are listed, or "";
    ``demangle``: C++ names as programmers write them."""

    report: str
    page: bool
    functions: bool
    blocks: bool
    annotate: str
    demangle: bool

    @property
    def split(self) -> bool:
        """Whether counts are split."""
        return self.functions or self.blocks or bool(self.annotate)


class RecordingFiles(NamedTuple):
    """Files of recordings, or "". ``partial``: replay a damaged one as far as it is whole."""

    record: str
    replay: str
    partial: bool


class Execution(NamedTuple):
    """How the program is run. ``engine``: its name, or "" for the usual one; ``slow``: instruction by instruction; ``guest_pmu``: which PMU it has itself, or "";
    ``timeout``: seconds, None: as long as it takes; ``rules_of_two_threads``: those of two threads on one core hold."""

    engine: str
    slow: bool
    guest_pmu: str
    timeout: float | None
    rules_of_two_threads: bool


class Resolved(NamedTuple):
    """The parts of a run. ``command``: the program and its arguments, as given or as recorded; ``controls``: without
    triggers; ``buffer``: how samples are taken, without periods, None: none are; ``following``: what is counted of what
    the program starts, None: nothing; ``notes``: notices about options and the environment."""

    command: Sequence[str]
    guest: Guest
    processor: Processor
    counting: Counting
    triggers: TriggerOptions
    controls: Controls
    buffer: Sampling | None
    following: FollowOptions | None
    recordings: RecordingFiles
    results: Results
    execution: Execution
    notes: Sequence[str]


def resolve(options: Options, command: Sequence[str], stacks: bool = False) -> tuple[Resolved, Recording | None]:
    """Return what is to be run, and the recording that is replayed. ``stacks``: samples are taken with the calls that
    the program is in. Raises PfmonError."""
    if not command and not options.replay:
        raise PfmonError("no program given")
    recording = registry.replay(options.replay) if options.replay else None
    command = tuple(recording.command if recording else command)
    words = command if recording else interpreted(command)
    instructions = recording.instruction_set if recording else _instruction_set(words[0])
    if instructions is None or recording:
        registry.check_name(options.engine)
    else:
        registry.chosen(instructions, options.engine)
    processor = processor_of(options, instructions)
    cpu = "" if recording else cpu_model(processor, instructions)
    notes = notes_on_options(options)
    if not recording:
        notes += _notes_on_program(options, instructions)
    if options.machine_settings:
        processor.figures()  # whatever is wrong with them shows now
    resolved = Resolved(
        command,
        guest_of(options, words, cpu),
        processor,
        counting_of(options, processor),
        trigger_options_of(options, processor.pmu),
        _controls(options),
        buffer_of(options, stacks),
        _following(options),
        RecordingFiles(options.record, options.replay, options.partial),
        _results(options),
        _execution(options),
        notes,
    )
    return resolved, recording


def counting_of(options: Options, processor: Processor) -> Counting:
    """Return what is counted on a processor. PfmonError: there is nothing to count, or no such event."""
    return Counting(
        counted_sets(options, processor.model),
        qualification_of(options),
        options.unlimited or options.report == "derived",
        counts_default_events(options),
    )


def _notes_on_program(options: Options, instructions: InstructionSet | None) -> list[str]:
    if instructions is None:
        return environment_notes(options)
    said = ia64_notes(options) if instructions == InstructionSet.IA64 else qemu_notes(options)
    return [*environment_notes(options), *said]


def _controls(options: Options) -> Controls:
    return Controls(
        switch=options.switch_timeout,
        true_values=options.true_values,
        interval=options.print_interval,
        insecure=options.insecure,
        dont_start=options.dont_start,
        ear_seed=options.ear_seed,
        per_thread=options.per_thread,
    )


def _following(options: Options) -> FollowOptions | None:
    if not options.follows:
        return None
    from pfmon.library.resolving.follow_request import following

    return following(options)


def _results(options: Options) -> Results:
    return Results(
        options.report,
        options.collect_report,
        options.per_function,
        options.per_block,
        options.annotate,
        options.demangle,
    )


def _execution(options: Options) -> Execution:
    one_core = options.cores == 1 and options.smt_rules
    return Execution(options.engine, options.slow, options.guest_pmu, options.session_timeout, one_core)


def _instruction_set(name: str) -> InstructionSet | None:
    """Return a program's instruction set; None if unknown."""
    try:
        return registry.instruction_set_of(find_program(name))
    except PfmonError:  # reported when it is loaded
        return None
