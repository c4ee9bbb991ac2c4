"""`pfmon record`."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from pfmon.cli.commands.subcommand import Option
from pfmon.cli.commands.verb import FILE, HELP, WITHOUT_EFFECT, Do, Given, Verb
from pfmon.cli.output.printing import print_notice
from pfmon.errors import PfmonError

BEFORE = ".old"
"""The suffix of the recording that had the name before."""


def _record(given: Given, options: list[str], command: list[str], do: Do) -> int:
    name = given.get("output", FILE)
    if not command:
        raise PfmonError(f"no program given; {VERB.usage}")
    path, before = Path(name), Path(f"{name}{BEFORE}.{os.getpid()}")
    with suppress(OSError):  # there is none, or links are not to be had
        before.hardlink_to(path.resolve())
    known = _identity(path)
    try:
        status = do([f"--record={name}", *options, "--", *command])
        recorded = _identity(path) not in (None, known)
        if recorded:
            with suppress(OSError):
                before.replace(f"{name}{BEFORE}")
            print_notice(f"{name}: the run, {path.stat().st_size} bytes; pfmon report{_of(name)} shows it")
        return status
    finally:
        before.unlink(missing_ok=True)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one of its name; None: there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _of(path: str) -> str:
    return "" if path == FILE else f" -i {path}"


VERB = Verb(
    "usage: pfmon record [OPTION]... [--] PROGRAM [ARGUMENT]...",
    f"""Records a run, instruction by instruction, in {FILE}; a recording that was there becomes {FILE}{BEFORE}.
report, annotate and diff read it, and --replay counts any event of it, on any machine. For perf's own tools:
pfmon --export perf-data:perf.data PROGRAM.""",
    {"events": "e"},
    [
        Option("output", f"the recording ({FILE})", "FILE", "o"),
        Option("call-graph", WITHOUT_EFFECT, "MODE"),
        Option("calls", WITHOUT_EFFECT, short="g"),
        Option("branch-any", WITHOUT_EFFECT, short="b"),
        Option("branch-filter", WITHOUT_EFFECT, "NAME", "j"),
        Option("freq", WITHOUT_EFFECT, "FREQUENCY", "F"),
        Option("count", WITHOUT_EFFECT, "PERIOD", "c"),
        HELP,
    ],
    _record,
)
