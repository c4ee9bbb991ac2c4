"""`pfmon annotate`."""

from __future__ import annotations

from pathlib import Path

from pfmon.cli.commands.subcommand import Option
from pfmon.cli.commands.verb import HELP, INPUT, STDIO, WITHOUT_EFFECT, Do, Given, Verb, recording, with_events
from pfmon.errors import PfmonError


def _annotate(given: Given, options: list[str], command: list[str], do: Do) -> int:
    named = [*command, *([given["symbol"]] if "symbol" in given else [])]
    if len(named) > 1:
        raise PfmonError(f"one function or file is wanted, and {len(named)} given; {VERB.usage}")
    path = recording(given)
    place = named[0] if named else _largest_function(path)
    if named and "dsos" in given:
        place = f"{given['dsos']}:{place}"
    events = [] if with_events(options) else ["--events=cycles"]
    return do([f"--replay={path}", *events, f"--annotate={place}", *options])


def _largest_function(path: str) -> str:
    """Return the function with most cycles, as --annotate takes it."""
    from pfmon.library.run_api import replay

    report = replay(path, report="cpi").cpi
    named = [row for row in report.functions if row.address] if report else []
    if not named:
        raise PfmonError(f"{path}: no function is known; pfmon annotate FUNCTION")
    row = named[0]
    return f"{Path(row.object).name}:{row.name}" if row.object else row.name


VERB = Verb(
    "usage: pfmon annotate [OPTION]... [FUNCTION | FILE]",
    """Lists the instructions of a function of a recording, or the lines of a source file, with their cycles, or the
events of -e; without a name, the function with most cycles.""",
    {"events": "e"},
    [
        INPUT,
        Option("symbol", "the function, as FUNCTION", "FUNCTION", "s"),
        Option("dsos", "the shared object of the function, or of the file", "OBJECT", "d"),
        STDIO,
        Option("print-line", WITHOUT_EFFECT, short="l"),
        Option("full-paths", WITHOUT_EFFECT, short="P"),
        Option("force", WITHOUT_EFFECT, short="f"),
        HELP,
    ],
    _annotate,
    runs_program=False,
)
