"""Actions that need no program: lists, descriptions, checks."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pfmon.cli.output.printing import print_notice
from pfmon.cli.output_options import OutputOptions
from pfmon.errors import PfmonError, UnknownNameError, UnknownObjectError, nearest_names
from pfmon.library.options.run_options import Options
from pfmon.library.resolving.machine_selection import pmu_named, processor_of
from pfmon.library.resolving.run_parts import Processor
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.programming import Programming
from pfmon.pmu.model.request import Request
from pfmon.stream._stream import InstructionSet
from pfmon.version import VERSION

if TYPE_CHECKING:
    from pfmon.pmu.model.derived import DerivedPlan


def query_text(options: Options, output: OutputOptions, command: Sequence[str] = ()) -> str:
    """Return the text of ``output.action``; ``command`` is a program whose symbols are used. Raises PfmonError."""
    from pfmon.pmu.model import describe

    if output.action == "info":
        return _info(options, output.subject, command)
    if output.action in LISTS:
        return _list(options, output, command)
    processor = _processor(options, output, command)
    model = processor.model
    match output.action:
        case "help" | "help-all":
            return _help(options, output, processor, command)
        case "completion":
            from pfmon.cli.commands.completion import shell_code

            return shell_code(output.subject)
        case "man-page":
            from pfmon.cli.commands.man_page import manual_page

            return manual_page()
        case "version":
            return f"pfmon {VERSION}\n"
        case "include-dir":
            from pfmon.cli.include import FOLDER

            return f"{FOLDER}\n"
        case "cflags":
            from pfmon.cli.include import FOLDER

            return f"{shlex.quote(f'-I{FOLDER}')}\n"
        case "pmu-info":
            from pfmon.report.machine_report import machine_text

            return _lines(describe.pmu_info(model)) + machine_text(processor.figures()) + _emulator_text()
        case "decode":
            from pfmon.pmu.registers.decode import decode_text

            return _lines(decode_text(model, output.subject))
        case _:
            return check(options, output.verbose, command)


class NothingFoundError(PfmonError):
    """No event matches the requested name."""

    exit_status = 1


LISTS = {"list": "-l", "list-long": "-L"}
"""Actions that list events, and their options."""
OF_PROGRAMS = ("pmu-info", "help", "help-all")
"""Other actions about the PMU of the program behind them or, without one, of the host's programs."""


def _processor(options: Options, output: OutputOptions, command: Sequence[str]) -> Processor:
    """Return the processor that a question is about. PfmonError: there is no such program, or it has another PMU."""
    if output.action not in OF_PROGRAMS:
        return processor_of(options)
    if not command or output.action == "help":
        return _processors_without_program(options)[0]
    return processor_of(options, _instruction_set(command[0]))


def _list(options: Options, output: OutputOptions, command: Sequence[str]) -> str:
    """Return the events of the program's PMU that match a pattern; without a program, of the first PMU that has one.
    NothingFoundError: there are none."""
    from pfmon.pmu.model import describe

    listed = describe.event_list if output.action == "list" else describe.event_table
    try:
        asked = _asked(options, command)
    except PfmonError as error:
        if "/" in command[0]:
            raise
        hint = f"a pattern follows the option without a space: {LISTS[output.action]}{command[0]}"
        raise PfmonError(f"{error}; {hint}") from None
    found = (listed(processor.model, output.subject) for processor in asked)
    return _found(asked[-1], output.subject, next(filter(None, found), ""))


def note_on_list(options: Options, output: OutputOptions, command: Sequence[str] = ()) -> str:
    """Return what is said beside a list of all events; "": it is another query."""
    from pfmon.pmu.model import describe

    whole = output.action in LISTS and not output.subject
    return describe.counted_events(_asked(options, command)[0].model) if whole else ""


def _asked(options: Options, command: Sequence[str]) -> list[Processor]:
    """Return the processors that a question may be about: that of the program, if there is one."""
    if command:
        return [processor_of(options, _instruction_set(command[0]))]
    return _processors_without_program(options)


def _instruction_set(program: str) -> InstructionSet | None:
    """Return the instruction set of a program; None: none that is known. PfmonError: there is no such program."""
    from pfmon.engine import registry
    from pfmon.library.resolving.command_program import find_program, interpreted
    from pfmon.program import image

    path = find_program(interpreted([program], None)[0])
    found = registry.instruction_set_of(path)
    if found is None:
        image.load(path)
    return found


def _processors_without_program(options: Options) -> list[Processor]:
    """Return the processors that a question without a program may be about, the one of the host's programs first."""
    usual = processor_of(options)
    if pmu_named(options) or not _runs_x86_64():
        return [usual]
    return [processor_of(options, InstructionSet.X86_64), usual]


def _info(options: Options, event: str, command: Sequence[str]) -> str:
    """Return the description of an event of the program's PMU; without a program, of the first PMU that has it."""
    from pfmon.pmu.model.describe import event_info

    asked = _asked(options, command)
    for processor in asked[:-1]:
        try:
            return _lines(event_info(processor.model, event))
        except UnknownNameError:
            continue
    return _lines(event_info(asked[-1].model, event))


def _found(processor: Processor, pattern: str, text: str) -> str:
    """Return the lines of events. NothingFoundError: there are none."""
    if text:
        return _lines(text)
    from pfmon.pmu.model.derived import load_derived

    model, shown = processor.model, processor.pmu
    derived = list(load_derived(model.name))
    near = nearest_names(pattern, model.events.all_names() + derived)
    hint = f"; nearest: {', '.join(near)}" if near else f"; pfmon --pmu={shown} -l lists them all"
    ratios = "; -L finds ratios, too" if any(name in derived for name in near) else ""
    raise NothingFoundError(f"no event of {shown} has a name that matches {pattern!r}{hint}{ratios}")


def _help(options: Options, output: OutputOptions, processor: Processor, command: Sequence[str]) -> str:
    from pfmon.cli.commands.help import help_all, help_text, topic_text, topics_named

    if output.action == "help-all":
        return help_all(processor.pmu)
    topic = output.subject or next(iter(command), "")
    if topic and (topics_named(topic) or not _is_program(topic)):
        return topic_text(topic, processor.pmu)
    if topic:
        own = processor_of(options, _instruction_set(topic))
        return help_text(own.model.architecture, shlex.join(command) if command else shlex.quote(topic))
    architecture = processor.model.architecture
    return help_text(architecture, "ls" if architecture == "x86" and _runs_x86_64() else "PROGRAM")


def _is_program(name: str) -> bool:
    from pfmon.library.resolving.command_program import find_program

    try:
        find_program(name)
    except PfmonError:
        return False
    return True


def _runs_x86_64() -> bool:
    """Whether the host's own programs are x86-64's."""
    return platform.machine() == "x86_64"


def _emulator_text() -> str:
    """Return the lines about the installed emulators."""
    from pfmon.engine import registry

    return "".join(f"{name:9}: {version}\n" for name, version in registry.emulators().items())


def check(options: Options, verbose: bool, command: Sequence[str] = ()) -> str:
    """Return the text of --check-events-only: each event's counter; with --verbose, the registers."""
    from pfmon.engine import registry
    from pfmon.library.preparing.linked_objects import linked_objects
    from pfmon.library.preparing.symbol_lookup import SharedObjects, symbols_of, with_symbol_file
    from pfmon.library.resolving.command_program import find_program, interpreted
    from pfmon.library.resolving.ineffective_options import range_notes
    from pfmon.library.resolving.request_builder import NO_SYMBOLS, request
    from pfmon.library.resolving.resolve import engine_of, guest_of, qualification_of, triggers_of
    from pfmon.library.resolving.triggers import triggers
    from pfmon.pmu.qualify.effects import effects, inexact
    from pfmon.program import image
    from pfmon.report.programmed_text import monitors_text, programmed_text, trigger_text

    instructions = registry.instruction_set_of(find_program(command[0])) if command else None
    processor = processor_of(options, instructions)
    model, symbols = processor.model, NO_SYMBOLS
    if command:
        guest = guest_of(options, interpreted(command, options.sysroot), *engine_of(options, processor, instructions))
        load = with_symbol_file(
            lambda: registry.placed(image.load(find_program(command[0]), options.sysroot), guest.engine),
            options.symbol_file,
        )
        objects = SharedObjects(lambda: linked_objects(guest, processor.pmu, load()))
        symbols = symbols_of(load, objects, guest.debug)
    try:
        asked = request(options.sets, qualification_of(options), model, symbols)
    except UnknownObjectError as error:
        raise PfmonError(f"{error}; what a program opens itself cannot be checked before it runs") from None
    both = options.two_programs and options.cores == 1 and options.smt_rules
    requests = [one._replace(two_threads=both) for one in asked.requests]
    if not (options.events or requests[0].branch_buffer or requests[0].ip_ear):
        raise PfmonError("--check-events-only wants events: -e EVENT,...")
    text = "" if verbose else f"{processor.pmu} can count this:\n"
    programmings = []
    warnings = [*asked.warnings, *range_notes(options.sets)]
    for number, part in enumerate(requests):
        if options.several_sets and not verbose:
            text += f"event set {number + 1}:\n"
        said, own = asked.said[number], []
        for wanted, made in _programmed(model, part, options.unlimited):
            own.append(made)
            text += programmed_text(said, wanted, made) if verbose else monitors_text(said, wanted, made)
            said = []
        warnings += effects(model, part, own)
        programmings += own
    for warning in warnings if verbose else [*warnings, *inexact(programmings)]:
        print_notice(warning)
    return text + trigger_text(triggers(triggers_of(options, processor.pmu), symbols.code, symbols.data))


def _programmed(model: PmuModel, part: Request, unlimited: bool) -> list[tuple[DerivedPlan, Programming]]:
    """Return an event set's programming: for one PMU, or with --unlimited for as many as it needs."""
    from pfmon.pmu.model.derived import plan

    if unlimited:
        from pfmon.session.run.event_sets import EventSets

        return [(one.plan, one.programming) for one in EventSets(model, part, unlimited=True).sets]
    wanted = plan(model.events, part.events)
    return [(wanted, model.fulfil(wanted.request(part)))]


def _lines(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
