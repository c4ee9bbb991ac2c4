"""Options that record a run and replay a recording."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.errors import PfmonError

TOPIC = "recordings"
TITLE = "Recordings"
OPTIONS = [
    Option("record", "record the run in a file", "FILE"),
    Option("replay", "count a recorded run: any event, on any machine, under any qualification", "FILE"),
    Option("partial", "with --replay: count a damaged recording as far as it is whole"),
]


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    if given.name == "partial":
        config.partial = True
    elif not given.value:
        raise PfmonError(f"--{given.name}: a file is wanted")
    else:
        setattr(config, given.name, given.value)
