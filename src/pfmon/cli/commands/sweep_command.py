"""`pfmon sweep FILE.toml`: count programs on machines with varied figures; write tables and a page."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from pfmon.atomic_write import write_whole
from pfmon.cli.commands.subcommand import Option, understood
from pfmon.cli.output.printing import print_notice, print_text, show
from pfmon.cli.output.written_page import PageViewer
from pfmon.errors import LostError, PfmonError, reason
from pfmon.library.options.option_values import whole_number
from pfmon.library.sweep.sweep_api import default_output
from pfmon.library.sweep.sweep_plan import Sweep, read
from pfmon.library.sweep.sweep_run import SweepProgress, sweep
from pfmon.library.sweep.sweep_store import Store
from pfmon.library.sweep.swept_table import SweptTable
from pfmon.report.sweep_table import arrow, write_table

if TYPE_CHECKING:
    from pfmon.library.sweep.dask_pool import DaskPool


USAGE = "usage: pfmon sweep [OPTION]... FILE.toml"
INTRODUCTION = """Counts programs on machines: each program runs and is recorded once, then its recording is counted for
every machine, with every combination of the figures. Existing recordings and counts are reused, so the same command
continues an interrupted sweep. docs/reports.md describes the file."""
OPTIONS = [
    Option("output", "directory for recordings, counts, tables and index.html (FILE.sweep)", "DIR", "o"),
    Option("workers", "number of processes (that of processors)", "NUMBER", "j"),
    Option("scheduler", "count on the Dask cluster behind this scheduler, such as tcp://host:8786", "ADDRESS"),
    Option("table", "print a table of what varies and of the events, instead of the files' names"),
    Option("dry-run", "print the work to do without doing it"),
    Option("open", "show the page in the browser"),
    Option("quiet", "print no progress", short="q"),
    Option("help", "show this help", short="h"),
]
MAX_WORKERS = 1024
FAILED = 1
"""Exit status when some cells have no counts."""


class SweepInterrupted(PfmonError):
    """Ctrl-C."""

    exit_status = 130


def run(words: Sequence[str]) -> int:
    """Run `pfmon sweep` with the words after it and return the exit status. Raises PfmonError for wrong words."""
    said = understood(words, OPTIONS, USAGE, INTRODUCTION, 1)
    if said is None:
        return 0
    given, files = said
    workers = _workers(given.get("workers", [""])[-1])
    wanted = read(files[0])
    folder = given.get("output", [default_output(files[0])])[-1]
    if "dry-run" in given:
        show(_what(wanted))
        return 0
    viewer = PageViewer(opens=True, quiet=True) if "open" in given else None
    line = ProgressLine(quiet="quiet" in given)
    with Store(folder) as store, _cluster(given.get("scheduler", [""])[-1]) as cluster:
        try:
            swept = sweep(wanted, store, workers, cluster, line.show)
        except KeyboardInterrupt:
            line.end()
            raise SweepInterrupted("interrupted; finished counts are kept, and the same command continues") from None
        line.end()
        table = SweptTable(wanted, swept)
        written = _write(folder, table)
        show(table.text() if "table" in given else "".join(f"{path}\n" for path in written))
        if viewer:
            viewer.show(f"{folder}/index.html")
    failed = [one for one in swept if one.answer["error"]]
    for one in failed[:10]:
        print_notice(f"{one.cell}: {one.answer['error']}")
    if len(failed) > 10:
        print_notice(f"{len(failed) - 10} cells more have no counts")
    return FAILED if failed else 0


def _workers(text: str) -> int:
    return whole_number("workers", text, 1, MAX_WORKERS) if text else len(os.sched_getaffinity(0))


def _cluster(address: str) -> DaskPool | nullcontext[None]:
    if not address:
        return nullcontext()
    from pfmon.library.sweep.dask_pool import DaskPool

    return DaskPool(address)


def _what(wanted: Sweep) -> str:
    lines = [f"{cell}: {', '.join(cell.events)}\n" for cell in wanted.cells]
    return "".join([*lines, f"{len(lines)} cells, of {len(wanted.programs)} programs\n"])


def _write(folder: str, table: SweptTable) -> list[str]:
    """Write the page and the tables; return their paths. table.parquet needs pyarrow, and is left out without it."""
    library = arrow()
    files: dict[str, Callable[[str], None]] = {
        f"{folder}/index.html": lambda path: write_whole(path, table.to_html()),
        f"{folder}/table.csv": lambda path: write_whole(path, table.csv()),
    }
    if library is not None:
        parquet = f"{folder}/table.parquet"
        files[parquet] = lambda path: write_table(library, path, table.columns, table.rows)
    for path, write in files.items():
        try:
            write(path)
        except OSError as error:
            raise LostError(f"{path}: {reason(error)}") from None
    return list(files)


class ProgressLine:
    """Prints progress: on a terminal in one line that is rewritten, elsewhere a line at each tenth."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._began = time.monotonic()
        self._said = -1
        self._shown = ""

    def show(self, progress: SweepProgress) -> None:
        """Print the progress if it has changed."""
        tenth = 10 * progress.done // progress.cells
        if self._quiet or (not self._terminal and tenth == self._said):
            return
        self._said = tenth
        text = self._text(progress)
        if not self._terminal:
            print_text(f"{text}\n")
        elif text != self._shown:
            print_text(f"\r\x1b[K{text}")
        self._shown = text

    def _text(self, progress: SweepProgress) -> str:
        if progress.doing == "recording":
            return f"recording {progress.running} program" + "s" * (progress.running > 1)
        text = f"{progress.done} of {progress.cells} cells"
        if progress.before:
            text += f" ({progress.before} were there)"
        fresh, left = progress.done - progress.before, progress.cells - progress.done
        if progress.running:
            text += f", {progress.running} under way"
        if fresh and left:
            text += f", {_clock((time.monotonic() - self._began) * left / fresh)} left"
        return text

    def end(self) -> None:
        """End the line."""
        if self._terminal and self._shown:
            print_text("\n")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
