"""Options of triggers: addresses and events that start and stop counting, callees included."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.errors import BadValueError, PfmonError
from pfmon.library.option_values import names

TOPIC = "triggers"
TITLE = "Triggers (addresses in hexadecimal or decimal, or symbols of the program)"
OPTIONS = [
    Option("trigger-code-start-addresses", "start counting when one of these bundles is executed", "ADDRESS,..."),
    Option(
        "trigger-code-stop-addresses",
        "stop counting before one of these bundles is executed; one that starts, too: when its call returns",
        "ADDRESS,...",
    ),
    Option("trigger-code-repeat", "start and stop every time, not only once"),
    Option("trigger-code-follow", "in all tasks that are followed, as in any case"),
    Option("trigger-data-start-addresses", "start counting when one of these bytes is accessed", "ADDRESS,..."),
    Option("trigger-data-stop-addresses", "stop counting before one of these bytes is accessed", "ADDRESS,..."),
    Option("trigger-data-repeat", "start and stop every time, not only once"),
    Option("trigger-data-follow", "the same of data triggers"),
    Option("trigger-data-ro", "data triggers are for reads"),
    Option("trigger-data-wo", "data triggers are for writes"),
    Option("trigger-event", "start counting when EVENT has happened N times", "EVENT:N"),
    Option("stop-event", "stop counting when EVENT has happened N times since", "EVENT:N"),
]

EVENTS = {"trigger-event": "trigger_event", "stop-event": "stop_event"}
"""Options that name an event, and their fields."""


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    if given.value is None:
        config.trigger_flags.add(given.name)
    elif given.name in EVENTS:
        field = EVENTS[given.name]
        if getattr(config, field):
            raise PfmonError(f"--{given.name} is given twice; it takes one event")
        setattr(config, field, given.value)
    elif given.name in config.triggers:
        raise PfmonError(f"--{given.name} is given twice; it takes several addresses, separated by commas")
    else:
        config.triggers[given.name] = names(given.value)
        if not all(config.triggers[given.name]):
            raise BadValueError(f"--{given.name}={given.value}: an address is empty")
