"""Options for progress during a run."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.errors import PfmonError

TITLE = "While it runs"
TOPIC = "progress"
OPTIONS = [
    Option("progress", "show instructions, speed, counts and memory while it runs (on a terminal, after a second)"),
    Option("no-progress", "do not"),
    Option("live", "show counts, and counts by function, while it runs"),
]


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    if given.name == "live":
        config.live = config.watched = True
    else:
        wanted = given.name == "progress"
        if config.progress is (not wanted):
            raise PfmonError("--progress and --no-progress exclude each other").about("--progress", "--no-progress")
        config.progress = wanted
        config.watched = config.watched or wanted


def check(config: CommandConfig) -> None:
    """PfmonError for options that do not go together."""
    if config.live and config.progress is False:
        raise PfmonError("--live shows how the run goes, and does not go with --no-progress").about(
            "--live", "--no-progress"
        )
