"""Options that select the machine, by name or TOML file, and change figures of it."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.errors import PfmonError

TOPIC = "machine"
TITLE = "Machine"
OPTIONS = [
    Option("machine", "the machine: itanium2, nehalem, ... (pfmon -I), host, or a TOML FILE (that of --pmu)", "NAME"),
    Option("set", "change a figure of the machine, such as l3.size=9M; may be repeated", "FIGURE=VALUE"),
]


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    text = given.value or ""
    if given.name == "set":
        config.machine_settings.append(text)
        return
    if config.machine:
        raise PfmonError("--machine is given twice; a program runs on one machine")
    config.machine = text
