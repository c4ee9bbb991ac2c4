"""Options are resolved once: with what the program is and what its processor has they become the options of a run,
which nothing edits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pfmon.engine import registry
from pfmon.engine.api import Recording
from pfmon.errors import PfmonError
from pfmon.library.checks.ineffective_options import environment_notes, ia64_notes, qemu_notes
from pfmon.library.checks.option_checks import profile_needs_events, report_stands_alone
from pfmon.library.options.run_options import Options
from pfmon.library.resolving.command_program import find_program, interpreted
from pfmon.library.resolving.default_events import counts_default_events, take_default_events
from pfmon.library.resolving.machine_selection import cpu_model, machine_of, take_pmu_of_program
from pfmon.pmu import get
from pfmon.stream._stream import InstructionSet


class Resolved(NamedTuple):
    """A run as its options say.

    ``options``: frozen, with the PMU and all events; ``command``: the program and its arguments, as given or as
    recorded; ``words``: with the interpreter of a script; ``ia32``: IA-32 code on an Itanium; ``cpu``: the processor
    that qemu models; ``usual``: cycles and instructions are counted, since no event is given; ``notes``: notices about
    options and the environment.
    """

    options: Options
    command: list[str]
    words: list[str]
    recording: Recording | None
    ia32: bool
    cpu: str
    usual: bool
    notes: list[str]


def resolve(given: Options, command: Sequence[str]) -> Resolved:
    """Return what is to be run; ``given`` stays as it is. Raises PfmonError."""
    options = given.copied()
    if not command and not options.replay:
        raise PfmonError("no program given")
    recording = registry.replay(options.replay) if options.replay else None
    command = list(recording.command if recording else command)
    words = command if recording else interpreted(command)
    instructions = recording.instruction_set if recording else _instruction_set(words[0])
    if instructions is None or recording:
        registry.check_name(options.engine)
    else:
        registry.chosen(instructions, options.engine)
    take_pmu_of_program(options, instructions)
    ia32 = instructions == InstructionSet.I386 and get(options.pmu).architecture == "ia64"
    cpu = "" if recording else cpu_model(options, instructions)
    notes = [] if recording else environment_notes(options)
    if not recording and instructions is not None:
        notes += ia64_notes(options) if instructions == InstructionSet.IA64 else qemu_notes(options)
    if options.machine_settings:
        machine_of(options, ia32)  # whatever is wrong with them shows now
    usual = counts_default_events(options)
    _take_events(options, usual)
    return Resolved(options.frozen(), command, words, recording, ia32, cpu, usual, notes)


def _take_events(options: Options, usual: bool) -> None:
    """Set the events to those that are counted."""
    if usual:
        take_default_events(options)
    if options.report == "derived":
        report_stands_alone(options)
        profile_needs_events(options)
        from pfmon.library.results.derived_run import ask_for_derived

        ask_for_derived(options, get(options.pmu))
    _expand_events(options)


def _expand_events(options: Options) -> None:
    """Expand event patterns to names."""
    from pfmon.session.run.event_patterns import check_counters, expand

    model = get(options.pmu)
    for one in options.sets:
        names = expand(model, one.events)
        if not options.unlimited:
            check_counters(model, one.events, names)
        one.events = names


def _instruction_set(name: str) -> InstructionSet | None:
    """Return a program's instruction set; None if unknown."""
    try:
        return registry.instruction_set_of(find_program(name))
    except PfmonError:  # reported when it is loaded
        return None
