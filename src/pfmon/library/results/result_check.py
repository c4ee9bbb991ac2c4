"""A check: whether the counts of one result exceed those of another one by more than their tolerances.

A side is a file, as `diff` reads them, or a command, which is run and counted.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

from pfmon.errors import PfmonError, reason
from pfmon.library.keywords import Keywords
from pfmon.library.results.result_files import counted_recording, is_recording, read_result, results_of
from pfmon.library.results.tolerances import tolerances
from pfmon.library.run_api import Command, run, words_of
from pfmon.report.baseline_table import compare
from pfmon.report.differences.check import Check
from pfmon.report.differences.difference import ComparedResult, difference
from pfmon.session.triggers.regions import OF_OPTION

EVENTS = ("instructions", "cycles")
"""Events of commands and recordings; every PMU has them."""
PROGRAM_STARTS = (b"\x7fELF", b"#!")
"""First bytes of a file that is a program, not a result."""
SHOWN_ERRORS = 2000
"""Characters of a failed program's last error output that are shown."""


def check(
    base: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    new: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    tolerance: str = "",
    input: bytes = b"",
    **options: Unpack[Keywords],
) -> Check:
    """Compare the counts of ``new`` with those of ``base``. Each is a file (output of --json, a baseline, a
    recording), or a command: a program, a sequence of its words, or text as for a shell. ``tolerance``: as
    --tolerance has it, 1% if empty; ``input``: what each command reads; ``options``: for counting commands and
    recordings, by default for the events of the other side. PfmonError: a side cannot be read or counted, its program
    fails, or the two are not comparable."""
    sources = [_source(side) for side in (base, new)]
    read = [
        read_result(source) if isinstance(source, Path) and not is_recording(source) else None for source in sources
    ]
    if options and all(read):
        raise PfmonError("options are for commands and recordings, and neither side is one")
    names = next((list(found.counts) for found in read if found is not None), list(EVENTS))
    asked: dict[str, Any] = {"events": names, **options}
    sides = [found or _counted(source, asked, input) for source, found in zip(sources, read, strict=True)]
    if why := not_comparable(*sides):
        raise PfmonError(f"not comparable: {why}; pfmon diff shows what differs")
    return _check(sides[0], sides[1], tolerance)


def not_comparable(base: ComparedResult, new: ComparedResult) -> str:
    """Return why the counts of two results are of different things; empty: they are not."""
    for what, one, other in (("PMU", base.pmu, new.pmu), ("machine", base.machine, new.machine)):
        if one != other:
            return f"the {what} of {base.path} is {one}, that of {new.path} {other}"
    if base.engine and new.engine and base.engine != new.engine:
        one, other = (" on ".join(str(side.engine.get(key)) for key in ("name", "cpu")) for side in (base, new))
        return f"{base.path} was executed by {one}, and {new.path} by {other}"
    if not {*base.counts} & {*new.counts}:
        return f"{base.path} and {new.path} have no event in common"
    return ""


def _check(base: ComparedResult, new: ComparedResult, tolerance: str) -> Check:
    common = {name: value for name, value in new.counts.items() if name in base.counts}
    found = difference(base, new)
    missing = [pair for pair in found.counts if pair.name not in common]
    return Check(compare(base.counts, common, tolerances("--tolerance", tolerance, common).of), missing, found)


def _source(side: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> Path | list[str]:
    """Return the file of a result, or the words of a command. PfmonError: neither."""
    if not isinstance(side, str | os.PathLike):
        return words_of(side)
    text = os.fspath(side)
    path = Path(text)
    if path.is_dir():
        raise PfmonError(f"{text}: is a directory; a result, or a command, is wanted")
    if path.exists():
        return [text] if _is_program(path) else path
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise PfmonError(f"{text}: {str(error).lower()}") from None
    if not words or (len(words) == 1 and ("/" in text or path.suffix)):
        raise PfmonError(f"{text}: there is no such file")
    return words


def _is_program(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            start = file.read(max(map(len, PROGRAM_STARTS)))
    except OSError as error:
        raise PfmonError(f"{path}: {reason(error)}") from None
    return start.startswith(PROGRAM_STARTS)


def _counted(source: Path | Command, options: dict[str, Any], given: bytes) -> ComparedResult:
    if isinstance(source, Path):
        return counted_recording(source, options)
    words = words_of(source)
    done = run(words, capture=True, input=given, **{"unlimited": True, "per_function": True, **options})
    if done.status or done.stopped:
        said = os.fsdecode(done.error_output or b"").strip()[-SHOWN_ERRORS:]
        how = "it was stopped" if done.stopped else f"its status is {done.status}"
        raise PfmonError(" ".join(f"{shlex.join(words)}: the program did not succeed: {how}\n{said}".split()))
    if unseen := [note for note in done.notes if note.startswith(OF_OPTION)]:
        raise PfmonError(f"{shlex.join(words)}: {unseen[0].removeprefix(OF_OPTION)}, so there is nothing to compare")
    return results_of(shlex.join(words), done.to_dict())._replace(kind="command")
