"""The functions of `import pfmon`: run a program and count as the command line does, returning objects, not text."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Unpack

from pfmon.errors import BadValueError
from pfmon.library.keywords import Keywords, options_of
from pfmon.library.preparing.plan import RunContext
from pfmon.library.preparing.prepared_run import Prepared, prepare_run
from pfmon.library.preparing.standard_streams import File, Files
from pfmon.library.results.run_result import Run
from pfmon.pmu.model.event_table import EventTable
from pfmon.pmu.targets import DEFAULT_PMU
from pfmon.session.run.monitoring import Interval

Word = str | bytes | os.PathLike[str]
Command = Word | Sequence[Word]
"""A program, or a program with its arguments."""

OnInterval = Callable[["Interval"], None] | None


def prepare(
    command: Command,
    *,
    stdin: File = None,
    stdout: File = None,
    stderr: File = None,
    input: bytes | None = None,
    capture: bool = False,
    **options: Unpack[Keywords],
) -> Prepared:
    """Program the PMU and load a program, to be run once; `Prepared.stop` ends the run from any thread.

    ``options`` are those of the command line (docs/library.md). ``stdin``, ``stdout``, ``stderr``: None (the process's
    own), a descriptor, an open file, or DEVNULL; ``input``: what the program reads instead; ``capture``: keep what it
    writes, in Run.output and Run.error_output. Raises PfmonError.
    """
    files = Files(stdin, stdout, stderr, capture, input)
    return _prepared(options, words_of(command, options), files)


def run(
    command: Command,
    *,
    stdin: File = None,
    stdout: File = None,
    stderr: File = None,
    input: bytes | None = None,
    capture: bool = False,
    on_interval: OnInterval = None,
    **options: Unpack[Keywords],
) -> Run:
    """Run a program to its end and return the counts; arguments as for `prepare`. ``on_interval`` is called with (end,
    counts) at the end of each interval of ``print_interval``. Raises PfmonError."""
    files = Files(stdin, stdout, stderr, capture, input)
    return _prepared(options, words_of(command, options), files).run(on_interval)


def record(
    path: str | os.PathLike[str],
    command: Command,
    *,
    stdin: File = None,
    stdout: File = None,
    stderr: File = None,
    input: bytes | None = None,
    capture: bool = False,
    on_interval: OnInterval = None,
    **options: Unpack[Keywords],
) -> Run:
    """Run a program as `run` does and record its retired instructions in a file for `replay`."""
    files = Files(stdin, stdout, stderr, capture, input)
    return _prepared(options, words_of(command, options), files, record=_path(path)).run(on_interval)


def replay(path: str | os.PathLike[str], *, on_interval: OnInterval = None, **options: Unpack[Keywords]) -> Run:
    """Count a recorded run: any event, on any machine, under any qualification. Raises PfmonError."""
    return _prepared(options, [], Files(), replay=_path(path)).run(on_interval)


def events(pmu: str = DEFAULT_PMU) -> EventTable:
    """Return the events of a processor's PMU. UnknownNameError: there is no such PMU."""
    from pfmon.pmu.model.pmu_model import get

    return get(pmu).events


def _prepared(options: Keywords, words: list[str], files: Files, record: str = "", replay: str = "") -> Prepared:
    try:
        read = options_of(options, record, replay)
    except BaseException:
        files.close()
        raise
    return prepare_run(read, words, RunContext(files))


def words_of(command: Command, options: Keywords | None = None) -> list[str]:
    """Return the program and its arguments as strings; none for the image of a system (``system``)."""
    words = [command] if isinstance(command, str | bytes | os.PathLike) else list(command)
    if not words and options and options.get("system"):
        return []
    if not words or not all(isinstance(word, str | bytes | os.PathLike) for word in words):
        raise BadValueError(f"command={command!r}: a program, or a sequence of a program and its arguments, is wanted")
    return [os.fsdecode(word) for word in words]


def _path(path: str | os.PathLike[str]) -> str:
    return os.fspath(path)
