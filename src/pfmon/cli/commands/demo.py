"""`pfmon demo`: a small program, what is found about it, and its page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pfmon.cli.demo
from pfmon.cli.commands.subcommand import Option, understood
from pfmon.cli.output.printing import show
from pfmon.cli.output.result_output import Outputs, check_can_be_written
from pfmon.cli.output.written_page import PageViewer
from pfmon.errors import PfmonError
from pfmon.library.preparing.standard_streams import DEVNULL
from pfmon.library.results.run_result import Run
from pfmon.library.run_api import run as run_program
from pfmon.program.source_texts import SourceTexts

USAGE = "usage: pfmon demo [OPTION]..."
INTRODUCTION = """Runs a small program that adds up a matrix column by column, says where its cycles go, writes the
page, and runs it again row by row."""
PAGE = "pfmon-demo.html"
OPTIONS = [
    Option("html", f"the file of the page ({PAGE})", "FILE"),
    Option("open", "show the page in the browser"),
    Option("quiet", "do not say where the page is", short="q"),
    Option("help", "show this help", short="h"),
]
FOLDER = Path(pfmon.cli.demo.__file__).parent
PROGRAM = str(FOLDER / "order")


def run(words: Sequence[str]) -> int:
    """Run `pfmon demo` with the words after it and return the exit status. Raises PfmonError for wrong words."""
    said = understood(words, OPTIONS, USAGE, INTRODUCTION, 0)
    if said is None:
        return 0
    given, _ = said
    page = given.get("html", [PAGE])[-1]
    check_can_be_written(page, f"--html={page}")
    viewer = PageViewer("open" in given, quiet="quiet" in given)
    slow, fast = _counted("columns"), _counted()
    text = _counted("columns", report="html").to_html()
    outputs = Outputs()
    outputs.write(lambda: show(demo_text(slow, fast)))
    outputs.write(lambda: viewer.write(page, text, f"--html={page}"))
    return outputs.status(0)


def demo_text(slow: Run, fast: Run) -> str:
    """Return what the runs show: the finding with its source line, and what the other order takes."""
    (cycles, instructions), (fewer, _) = _totals(slow), _totals(fast)
    lines = [
        f"A program adds up a matrix column by column ({FOLDER / 'order.c'}).",
        f"  {' '.join(['pfmon', PROGRAM, 'columns'])}",
        f"  {cycles:,} cycles for {instructions:,} instructions",
    ]
    if slow.finding:
        file, _, number = slow.finding.place.rpartition(":")
        source = SourceTexts(str(FOLDER)).line(file, int(number)) if file and number.isdecimal() else ""
        lines += [f"  {slow.finding}", *([f"    {source}"] if source else [])]
    lines += [
        "",
        "Row by row it uses every number of a cache line before it needs the next one.",
        f"  pfmon {PROGRAM}",
        f"  {fewer:,} cycles: {cycles / fewer:.1f} times as fast",
    ]
    return "\n".join(lines) + "\n"


def _counted(*arguments: str, **options: Any) -> Run:
    done = run_program([PROGRAM, *arguments], stdin=DEVNULL, capture=True, **options)
    if done.status or done.stopped:
        raise PfmonError(f"{PROGRAM} did not succeed: its status is {done.status}")
    return done


def _totals(done: Run) -> tuple[int, int]:
    """Return the cycles and instructions of a run of the default events."""
    found = {count.name: int(count.value or 0) for count in done.counts}
    return found["cycles"], found["instructions"]
