"""The words of a command line, read into a CommandConfig."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.cli.command_checks import check_command
from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import parse
from pfmon.errors import PfmonError
from pfmon.library.checks.option_checks import check, no_program_is_given
from pfmon.library.options.table import OPTIONS

USAGE = "usage: pfmon [OPTION]... [--] PROGRAM [ARGUMENT]..."


def a_program_is_given(config: CommandConfig, command: Sequence[str]) -> None:
    """Raise PfmonError if there is neither a program nor a recording to run."""
    if not command and not config.replay:
        raise PfmonError(f"no program given; {USAGE}")


def read(words: Sequence[str]) -> tuple[CommandConfig, list[str]]:
    """Return the configuration, and the program with its arguments. Raises PfmonError."""
    config = CommandConfig()
    given, command = parse(OPTIONS.values(), words)
    for one in given:
        OPTIONS[one.name].take(config, one.value)
    check_command(config)
    check(config, asks=bool(config.action))
    no_program_is_given(config, command)
    return config, command
