"""`pfmon stat`."""

from __future__ import annotations

from pfmon.cli.commands.subcommand import Option
from pfmon.cli.commands.verb import HELP, WITHOUT_EFFECT, Do, Given, Verb
from pfmon.errors import PfmonError


def _stat(given: Given, options: list[str], command: list[str], do: Do) -> int:
    separator = given.get("field-separator", ",")
    if separator != ",":
        raise PfmonError(f"-x {separator}: the table of counts is separated by commas: -x , or --csv")
    if "field-separator" in given:
        options = [*options, "--csv"]
    if "big-num" in given:
        options = [*options, "--us-counter-format"]
    return do([*options, "--", *command])


VERB = Verb(
    "usage: pfmon stat [OPTION]... [--] PROGRAM [ARGUMENT]...",
    """Counts a program's events, as pfmon without a verb does: cycles, instructions, branches and misses, or those
of -e.""",
    {"events": "e", "repeat": "r", "outfile": "o", "json": "j", "print-interval": "I", "verbose": "v"},
    [
        Option("field-separator", "print comma-separated values: -x ,", "SEPARATOR", "x"),
        Option("big-num", "print counts as 1,024", short="B"),
        Option("detailed", WITHOUT_EFFECT, short="d"),
        HELP,
    ],
    _stat,
)
