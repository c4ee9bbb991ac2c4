"""Answers to questions that need no program."""

from pfmon.cli.command_line import help_text
from pfmon.cli.config import Config
from pfmon.errors import PfmonError
from pfmon.pmu import get
from pfmon.version import VERSION


def answer(config: Config) -> str:
    """The text for ``config.action``. Raises PfmonError."""
    from pfmon.pmu import describe  # not on the way to a run

    model = get(config.pmu)
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
            return _lines(describe.pmu_info(model))
        case _:
            return check(config)


def check(config: Config) -> str:
    """--check-events-only: silence when the events go together, unless --verbose asks for the registers."""
    from pfmon.pmu import describe

    if not config.events:
        raise PfmonError("--check-events-only wants events: -e EVENT,...")
    programming = get(config.pmu).program(config.events)
    return _lines(describe.programming_text(programming)) if config.verbose else ""


def _lines(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
