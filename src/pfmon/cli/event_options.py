"""Which PMU, which events."""

from pfmon.cli.config import Config
from pfmon.cli.options import Given, Option
from pfmon.errors import PfmonError, UnknownNameError
from pfmon.pmu import names

TITLE = "Events"
OPTIONS = [
    Option("events", "count these events, as many as the PMU has counters", "EVENT,...", "e"),
    Option("pmu", f"the processor's PMU: {', '.join(names())} (itanium2)", "NAME"),
]


def apply(config: Config, given: Given) -> None:
    """Take one option's value."""
    text = given.value or ""
    if given.name == "pmu":
        if text.lower() not in names():
            raise UnknownNameError("PMU", text, names())
        config.pmu = text.lower()
        return
    if config.events:
        raise PfmonError("-e is given twice; one event set is counted in a run: -e EVENT,EVENT,...")
    config.events = [name.strip() for name in text.split(",")]
    if not all(config.events):
        raise PfmonError(f"-e {text}: an event's name is empty")
