"""Sweeps for Python."""

from __future__ import annotations

import os

from pfmon.library.sweep.sweep_plan import read
from pfmon.library.sweep.sweep_run import sweep as run_sweep
from pfmon.library.sweep.sweep_store import Store
from pfmon.library.sweep.swept_table import SweptTable


def sweep(path: str | os.PathLike[str], output: str | os.PathLike[str] = "", workers: int = 0) -> SweptTable:
    """Count programs on machines as a sweep file says, and return the table. ``output``: the directory of recordings
    and counts, from which those that are there are taken (FILE.sweep); ``workers``: processes (0: as many as
    processors). PfmonError: a mistake in the file, or a program that cannot be recorded; a cell without counts has its
    error in the table."""
    file = os.fspath(path)
    wanted = read(file)
    with Store(os.fspath(output) or default_output(file)) as store:
        swept = run_sweep(wanted, store, workers or len(os.sched_getaffinity(0)), None, lambda progress: None)
    return SweptTable(wanted, swept)


def default_output(path: str) -> str:
    """Return the directory of a sweep file's results."""
    return f"{path.removesuffix('.toml')}.sweep"
