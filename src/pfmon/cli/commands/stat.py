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
    if "topdown" in given or "td-level" in given or "metrics" in given:
        _check_metrics(given)
        options = [*options, "--report=cpi"]
    return do([*options, "--", *command])


LEVELS = ("1", "2")
METRICS = ("topdownl1", "topdownl2")


def _check_metrics(given: Given) -> None:
    """PfmonError for a level of the top-down method, or metrics, that there is not."""
    level = given.get("td-level", LEVELS[-1])
    if level not in LEVELS:
        raise PfmonError(f"--td-level {level}: levels 1 and 2 of the top-down method are there, both in one table")
    for name in given.get("metrics", METRICS[0]).split(","):
        if name.lower() not in METRICS:
            raise PfmonError(f"-M {name}: the metrics are TopdownL1 and TopdownL2; pfmon -e has ratios of counts")


VERB = Verb(
    "usage: pfmon stat [OPTION]... [--] PROGRAM [ARGUMENT]...",
    """Counts a program's events, as pfmon without a verb does: cycles, instructions, branches and misses, or those
of -e.""",
    {"events": "e", "repeat": "r", "outfile": "o", "json": "j", "print-interval": "I", "verbose": "v"},
    [
        Option("field-separator", "print comma-separated values: -x ,", "SEPARATOR", "x"),
        Option("big-num", "print counts as 1,024", short="B"),
        Option("topdown", "print what the slots of an out-of-order machine went to, as --report cpi does"),
        Option("td-level", "the same; both levels are printed", "LEVEL"),
        Option("metrics", "the same: -M TopdownL1 or TopdownL2", "METRIC", "M"),
        Option("detailed", WITHOUT_EFFECT, short="d"),
        HELP,
    ],
    _stat,
)
