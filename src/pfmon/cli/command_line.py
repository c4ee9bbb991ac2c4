"""The words of a command line, read into options of the run and of its output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pfmon.cli.command_checks import check_command
from pfmon.cli.option_parsing import ParsedOption, parse
from pfmon.cli.output_options import OutputOptions
from pfmon.errors import PfmonError
from pfmon.library.checks.option_checks import check, images_run_alone, no_program_is_given
from pfmon.library.options.run_options import Options
from pfmon.library.options.table import OPTIONS

USAGE = "usage: pfmon [OPTION]... [--] PROGRAM [ARGUMENT]..."


class CommandLine(NamedTuple):
    """A parsed command line. ``command``: the program and its arguments."""

    options: Options
    output: OutputOptions
    command: list[str]


def a_program_is_given(options: Options, command: Sequence[str]) -> None:
    """Raise PfmonError if there is neither a program nor a recording nor a system to run."""
    if not command and not options.replay and not options.system:
        raise PfmonError(f"no program given; {USAGE}")


def read(words: Sequence[str]) -> CommandLine:
    """Read a command line. Raises PfmonError."""
    given, command = parse(OPTIONS.values(), words)
    options, output = kept(given)
    check_command(options, output)
    check(options, asks=bool(output.action))
    no_program_is_given(options, command)
    images_run_alone(options, command)
    return CommandLine(options, output, command)


def kept(
    given: Sequence[ParsedOption], misread: Callable[[PfmonError, str], None] | None = None
) -> tuple[Options, OutputOptions]:
    """Return the options of the run and of the output. Raises PfmonError, or calls ``misread`` with the error and the
    option, and continues."""
    options, output = Options(), OutputOptions()
    for one in given:
        try:
            OPTIONS[one.name].take(options, output, one.value)
        except PfmonError as error:
            if misread is None:
                raise
            misread(error, f"--{one.name}")
    return options.frozen(), output.frozen()
