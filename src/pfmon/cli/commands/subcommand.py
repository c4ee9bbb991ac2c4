"""Shared code of the subcommands (`pfmon diff`, `pfmon sweep`), which have options of their own; these may stand
anywhere among the words."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from os.path import exists
from typing import Any, NamedTuple

from pfmon.cli.first_words import SUBCOMMANDS
from pfmon.cli.option_parsing import parse
from pfmon.cli.output.printing import show
from pfmon.errors import PfmonError
from pfmon.library.options.option_values import whole_number


class Option(NamedTuple):
    """An option of a subcommand. ``value`` names its value in the help, "" for none; ``optional``: it may be left
    out."""

    long: str
    help: str
    value: str = ""
    short: str = ""
    optional: bool = False


def run_subcommand(words: Sequence[str]) -> int:
    """Run the subcommand named by the first word and return the exit status."""
    status: int = import_module(SUBCOMMANDS[words[0]]).run(words[1:])
    return status


def parsed(options: Sequence[Option], words: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Return the options' values by name ("" without a value), and the other words."""
    found: dict[str, list[str]] = {}
    others: list[str] = []
    rest = list(words)
    while rest:
        ended = "--" in rest
        given, left = parse(options, rest)
        for one in given:
            found.setdefault(one.name, []).append(one.value or "")
        if ended and rest[len(rest) - len(left) - 1] == "--":
            others += left
            break
        others += left[:1]
        rest = left[1:]
    return found, others


MAX_FUNCTIONS = 1 << 20
FILES = {0: "no file is", 1: "one file is", 2: "two files are"}


def understood(
    words: Sequence[str],
    options: Sequence[Option],
    usage: str,
    introduction: str,
    count: int,
    usual: Sequence[str] = (),
) -> tuple[dict[str, list[str]], list[str]] | None:
    """Return the options' values and ``count`` files; None after printing help. ``usual``: the files if none are given
    and these are there. PfmonError: another number of files."""
    given, files = parsed(options, words)
    if not files and all(map(exists, usual)):
        files = list(usual)
    if "help" in given:
        show(help_text(usage, introduction, options))
        return None
    if len(files) != count:
        raise PfmonError(f"{FILES[count]} wanted, and {len(files)} given; {usage}")
    return given, files


def functions_shown(given: dict[str, list[str]], usual: int) -> int:
    """Return how many functions the text has: --functions, or the usual number."""
    return whole_number("functions", given["functions"][-1], 0, MAX_FUNCTIONS) if "functions" in given else usual


def counting_options(given: dict[str, list[str]], prefix: str = "") -> dict[str, Any]:
    """Return the library's options for counting that were given under names with ``prefix``."""
    found: dict[str, Any] = {}
    for name in ("events", "pmu", "machine", "set"):
        if values := given.get(prefix + name):
            found[name] = values if name == "set" else values[-1]
    if regions := given.get(prefix + "region"):
        found["region"] = ",".join(regions)
    return found


def help_text(usage: str, introduction: str, options: Sequence[Option]) -> str:
    """Return the text of --help."""
    lines = [usage, "", introduction, ""]
    for option in options:
        short = f"-{option.short}, " if option.short else "    "
        left = f"  {short}--{option.long}{'=' + option.value if option.value else ''}"
        lines.append(f"{left:<32} {option.help}" if len(left) < 32 else f"{left}\n{'':<32} {option.help}")
    return "\n".join(lines) + "\n"
