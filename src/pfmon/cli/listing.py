"""Answers to questions that need no program."""

from __future__ import annotations

import sys

from pfmon.cli.command_line import help_text
from pfmon.errors import PfmonError
from pfmon.pmu import get
from pfmon.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pfmon.cli.config import Config


def answer(config: Config, command: Sequence[str] = ()) -> str:
    """The text for ``config.action``; ``command`` is a program to find symbols in. Raises PfmonError."""
    from pfmon.pmu import describe  # not on the way to a run

    model = get(config.pmu)
    if command and config.action in ("list", "list-long"):
        raise PfmonError(f"what to list is written at the option: -l{command[0]} or -L{command[0]}")
    match config.action:
        case "help":
            return help_text()
        case "version":
            return f"pfmon {VERSION}\n"
        case "list":
            return _lines(describe.event_list(model, config.subject))
        case "list-long":
            return _lines(describe.event_table(model, config.subject))
        case "info":
            return _lines(describe.event_info(model, config.subject))
        case "pmu-info":
            return _lines(describe.pmu_info(model)) + _machine_text(config) + _emulator_text()
        case "decode":
            from pfmon.pmu.decode import decode_text

            return _lines(decode_text(model, config.subject))
        case _:
            return check(config, command)


def _machine_text(config: Config) -> str:
    """The figures of the machine."""
    from pfmon.library.machines import machine_of
    from pfmon.report.machine import machine_text

    return machine_text(machine_of(config))


def _emulator_text() -> str:
    """Which emulators of programs there are."""
    from pfmon.engine import api

    return "".join(f"{name:9}: {version}\n" for name, version in api.emulators().items())


def check(config: Config, command: Sequence[str] = ()) -> str:
    """--check-events-only: silence when the events go together and are qualified as asked, unless --verbose asks for
    the registers."""
    from pfmon.library.linked import linked_objects
    from pfmon.library.program import debug_directories, find_program, interpreted
    from pfmon.library.request import request
    from pfmon.library.symbols import SharedObjects, symbols_of, with_symbol_file
    from pfmon.library.triggers import triggers
    from pfmon.pmu.derived import plan
    from pfmon.pmu.effects import effects, inexact
    from pfmon.program import image
    from pfmon.report.programmed import programmed_text, trigger_text

    model = get(config.pmu)
    load = with_symbol_file(lambda: image.load(find_program(command[0]), config.sysroot), config.symbol_file)
    objects = SharedObjects(lambda: linked_objects(config, interpreted(command), load()))
    symbols = symbols_of(load if command else None, objects, debug_directories(config))
    asked = request(config, model, symbols)
    if not (config.events or asked.request.branch_buffer or asked.request.ip_ear):
        raise PfmonError("--check-events-only wants events: -e EVENT,...")
    text = ""
    first = 0
    programmings = []
    for size in config.set_sizes or [0]:
        part = asked.request._replace(events=asked.request.events[first : first + size])
        wanted = plan(model.events, part.events)
        programmings.append(model.fulfil(wanted.request(part)))
        text += programmed_text(asked.said if first == 0 else [], wanted, programmings[-1])
        first += size
    warnings = [*asked.warnings, *effects(model, asked.request, programmings)]
    for warning in warnings if config.verbose else [*warnings, *inexact(programmings)]:
        sys.stderr.write(f"pfmon: {warning}\n")
    text += trigger_text(triggers(config, symbols.code, symbols.data))
    return text if config.verbose else ""


def _lines(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
