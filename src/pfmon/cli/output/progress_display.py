"""Progress of a run, shown by a thread that polls it (library/run_monitor.py).

On a terminal, status lines at the bottom (terminal_panel.py), coloured unless NO_COLOR is set; elsewhere, and only on
request, a line at intervals. rich is imported before the program starts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING

from pfmon.cli.output.printing import print_text
from pfmon.cli.output_options import OutputOptions
from pfmon.library.preparing.prepared_run import Prepared
from pfmon.needed_modules import import_needed
from pfmon.report.run_snapshot import RunSnapshot
from pfmon.worker import Worker

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from pfmon.library.run_monitor import RunMonitor


MAX_SECONDS_UNSHOWN = 1.0
"""Seconds from a run's start until progress is shown."""
EVERY, EVERY_LINE = 0.5, 2.0
"""Seconds between updates: on a terminal, and elsewhere."""
AHEAD = 0.1
"""Seconds before an update at which counts are requested."""
FUNCTIONS = 8
WIDE = 120
"""Columns without a terminal."""


def shows_progress(output: OutputOptions) -> bool:
    """Return whether progress is shown."""
    if output.live or output.progress:
        return True
    return output.progress is None and _is_terminal()


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


@contextmanager
def progress(output: OutputOptions, prepared: Prepared) -> Iterator[None]:
    """The run is shown within it."""
    from pfmon.library.run_monitor import RunMonitor

    watch, ended = RunMonitor(prepared.session, output.live), Event()
    show = ProgressDisplay(output, watch, ended)
    show.prepare()
    worker = Worker(show.run)
    try:
        yield
    finally:
        ended.set()
        worker.wait()


class ProgressDisplay:
    """Shows progress until an event is set."""

    def __init__(self, output: OutputOptions, watch: RunMonitor, ended: Event) -> None:
        self._wanted, self._watch, self._ended = output, watch, ended

    def prepare(self) -> None:
        """Import what shows progress: rich imports more modules when it renders, so it renders an example."""
        import_needed({"pfmon.cli.output.terminal_panel": _is_terminal(), "pfmon.session.profile": self._wanted.live})
        _lines(_console(WIDE, terminal=_is_terminal()), self._parts(RunSnapshot(0.0, 1, 0, (("EVENT", 1),)), None))

    def run(self) -> None:
        """The body of the progress thread."""
        if self._wait(MAX_SECONDS_UNSHOWN):
            return
        if _is_terminal():
            self._on_terminal()
        else:
            self._in_lines()

    def _wait(self, seconds: float) -> bool:
        """Wait until the next update, requesting counts shortly before; return true if the run has ended."""
        if self._ended.wait(seconds - AHEAD):
            return True
        self._watch.request_snapshot()
        return self._ended.wait(AHEAD)

    def _on_terminal(self) -> None:
        from pfmon.cli.output.terminal_panel import TerminalPanel

        descriptor = sys.stderr.fileno()
        panel = TerminalPanel(descriptor, 1)
        before = None
        try:
            while True:
                now = self._watch.so_far
                console = _console(panel.width, terminal=True)
                lines = _lines(console, self._parts(now, before))
                if self._wanted.live and len(lines) > panel.rows:
                    panel.close()
                    panel = TerminalPanel(descriptor, len(lines))
                panel.draw(lines)
                before = now
                if self._wait(EVERY):
                    return
        finally:
            panel.close()

    def _in_lines(self) -> None:
        console, before = _console(WIDE, terminal=False), None
        while True:
            now = self._watch.so_far
            lines = _lines(console, self._parts(now, before))
            print_text("".join(f"pfmon: {line.rstrip()}\n" for line in lines))
            before = now
            if self._wait(EVERY_LINE):
                return

    def _parts(self, now: RunSnapshot, before: RunSnapshot | None) -> list[RenderableType]:
        from pfmon.report.progress_text import count_table, function_table, progress_line

        if not self._wanted.live:
            return [progress_line(now, before)]
        style = self._wanted.number_style
        line = progress_line(now._replace(counts=()), before)
        tables = [count_table(now, style)] if now.counts else []
        return [line, *tables, *([function_table(now, FUNCTIONS, style)] if now.functions else [])]


def _console(width: int, terminal: bool) -> Console:
    from rich.console import Console

    return Console(width=width, force_terminal=terminal, highlight=False, legacy_windows=False)


def _lines(console: Console, parts: list[RenderableType]) -> list[str]:
    with console.capture() as capture:
        for part in parts:
            console.print(part)
    return capture.get().splitlines()
