"""`pfmon.smt`: run two programs on the two hardware threads of a core."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from pfmon.errors import BadValueError
from pfmon.library.keywords import Keywords, options_of
from pfmon.library.preparing.coupled_programs import CoreRun, OnSamples, PreparedCore
from pfmon.library.preparing.standard_streams import DEVNULL, File, Files
from pfmon.library.run_api import Command, words_of
from pfmon.session.coupled.coupled_run import THREADS

if TYPE_CHECKING:
    Recording = str | os.PathLike[str] | None


NEITHER = (None, None)


def smt(
    commands: Sequence[Command | None] = NEITHER,
    *,
    replays: Sequence[Recording] = NEITHER,
    record: str | os.PathLike[str] = "",
    stdin: File = DEVNULL,
    stdout: File = None,
    stderr: File = None,
    capture: bool = False,
    on_samples: Sequence[OnSamples] = NEITHER,
    **options: Unpack[Keywords],
) -> CoreRun:
    """Run two programs on the two hardware threads of a Montecito core to the end of both, and return their results.

    ``commands``: of threads 0 and 1, None for a thread that replays the recording named in ``replays``. ``record``:
    record them in this file with .0 and .1 appended to its name. Both programs share the standard files; other
    arguments and ``options`` are those of `pfmon.run` and apply to both threads; ``on_samples``: called with the
    samples of each buffer, by thread. Raises PfmonError.
    """
    names = [os.fspath(path) if path else "" for path in replays]
    if len(names) != THREADS or len(commands) != THREADS or any(map(_both_or_none, commands, names)):
        given = f"commands={commands!r}, replays={replays!r}"
        raise BadValueError(f"{given}: a program or a recording is wanted for each of two threads")
    words = [words_of(command) if command else [] for command in commands]
    read = options_of(options, os.fspath(record), names[0] if all(names) else "")
    files = [Files(stdin, stdout, stderr, capture) if command else None for command in words]
    return PreparedCore(read, words, files, names).run(on_samples)


def smt_threads(
    command: Command | None = None,
    *,
    replay: Recording = None,
    stdin: File = None,
    stdout: File = None,
    stderr: File = None,
    capture: bool = False,
    on_samples: Sequence[OnSamples] = NEITHER,
    **options: Unpack[Keywords],
) -> CoreRun:
    """Run the threads of one program on the two hardware threads of a Montecito core, thread n on n modulo 2, and
    return the results of each hardware thread.

    ``replay``: a recording instead of ``command``. Other arguments and ``options`` are those of `pfmon.run`;
    ``on_samples``: called with the samples of each buffer, by hardware thread. Raises PfmonError.
    """
    name = os.fspath(replay) if replay else ""
    if bool(command) == bool(name):
        raise BadValueError(f"command={command!r}, replay={replay!r}: a program or a recording is wanted")
    read = options_of(options, "", name, smt_threads=True)
    words = words_of(command) if command else []
    files = [Files(stdin, stdout, stderr, capture) if command else None, None]
    return PreparedCore(read, [words, words], files, [name, name]).run(on_samples)


def _both_or_none(command: Command | None, recording: str) -> bool:
    return bool(command) == bool(recording)
