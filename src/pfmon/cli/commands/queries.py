"""Actions that need no program: lists, descriptions, checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pfmon.cli.output.printing import print_notice
from pfmon.cli.output_options import OutputOptions
from pfmon.errors import PfmonError, UnknownObjectError, nearest_names
from pfmon.library.options.run_options import Options
from pfmon.library.resolving.machine_selection import processor_of
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.programming import Programming
from pfmon.pmu.model.request import Request
from pfmon.version import VERSION

if TYPE_CHECKING:
    from pfmon.pmu.model.derived import DerivedPlan


def query_text(options: Options, output: OutputOptions, command: Sequence[str] = ()) -> str:
    """Return the text of ``output.action``; ``command`` is a program whose symbols are used. Raises PfmonError."""
    from pfmon.pmu.model import describe

    processor = processor_of(options)
    model = processor.model
    if command and output.action in ("list", "list-long"):
        raise PfmonError(f"the pattern follows the option without a space: -l{command[0]} or -L{command[0]}")
    match output.action:
        case "help" | "help-all":
            return _help(output, processor.pmu, command)
        case "completion":
            from pfmon.cli.commands.completion import shell_code

            return shell_code(output.subject)
        case "man-page":
            from pfmon.cli.commands.man_page import manual_page

            return manual_page()
        case "version":
            return f"pfmon {VERSION}\n"
        case "list":
            return _found(model, output.subject, describe.event_list(model, output.subject))
        case "list-long":
            return _found(model, output.subject, describe.event_table(model, output.subject))
        case "info":
            return _lines(describe.event_info(model, output.subject))
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


def _found(model: PmuModel, pattern: str, text: str) -> str:
    """Return the lines of events. NothingFoundError: there are none."""
    if text:
        return _lines(text)
    from pfmon.pmu.model.derived import load_derived

    derived = list(load_derived(model.name))
    near = nearest_names(pattern, model.events.all_names() + derived)
    hint = f"; nearest: {', '.join(near)}" if near else f"; pfmon --pmu={model.name} -l lists them all"
    ratios = "; -L finds ratios, too" if any(name in derived for name in near) else ""
    raise NothingFoundError(f"no event of {model.name} has a name that matches {pattern!r}{hint}{ratios}")


def _help(output: OutputOptions, pmu: str, command: Sequence[str]) -> str:
    from pfmon.cli.commands.help import help_all, help_text, topic_text

    if output.action == "help-all":
        return help_all(pmu)
    topic = output.subject or next(iter(command), "")
    return topic_text(topic, pmu) if topic else help_text()


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
    text = "" if verbose else f"{model.name} can count this:\n"
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
