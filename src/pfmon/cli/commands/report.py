"""`pfmon report`."""

from __future__ import annotations

from pfmon.cli.commands.subcommand import Option
from pfmon.cli.commands.verb import HELP, INPUT, STDIO, WITHOUT_EFFECT, Do, Given, Verb, recording, with_events


def _report(given: Given, options: list[str], command: list[str], do: Do) -> int:
    what = []
    if "html" in given:
        what = [f"--report=html:{given['html']}"]
    elif not any(option.startswith("--report") for option in options):
        what = ["--per-function"] if with_events(options) else ["--report=cpi"]
    if command:
        return do([*what, *options, "--", *command])
    return do([f"--replay={recording(given)}", *what, *options])


VERB = Verb(
    "usage: pfmon report [OPTION]... [PROGRAM [ARGUMENT]...]",
    """Says where the cycles of a recording went, or of a program that it runs: by cause and by function; with -e,
which functions the events happened in.""",
    {"events": "e"},
    [
        INPUT,
        Option("html", "write a page instead", "FILE"),
        STDIO,
        Option("calls", WITHOUT_EFFECT, short="g"),
        Option("no-children", WITHOUT_EFFECT),
        Option("sort", WITHOUT_EFFECT, "KEY,...", "s"),
        HELP,
    ],
    _report,
)
