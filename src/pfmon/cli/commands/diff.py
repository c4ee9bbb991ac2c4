"""`pfmon diff A B`: compare two results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pfmon.cli.commands.subcommand import Option, counting_options, functions_shown, understood
from pfmon.cli.output.result_output import Outputs, ResultOutput, check_can_be_written
from pfmon.cli.output.written_page import PageViewer
from pfmon.errors import PfmonError
from pfmon.library.results.result_files import diff
from pfmon.report.differences.difference import Difference

USAGE = "usage: pfmon diff [OPTION]... [A B]"
INTRODUCTION = """Compares two results: counts, cycles by cause, functions and source lines that changed. A and B are
output of --json, baselines (--save-baseline), or recordings (--record), which are counted first; without them
pfmon.data.old and pfmon.data, the last two of pfmon record."""
OPTIONS = [
    Option("events", "count these events of recordings (the other side's)", "EVENT,...", "e"),
    Option("pmu", "count recordings with this PMU", "NAME"),
    Option("machine", "count recordings on this machine", "NAME"),
    Option("set", "change a figure of the machine, such as l3.size=9M; may be repeated", "FIGURE=VALUE"),
    Option("b-machine", "count B on this machine", "NAME"),
    Option("b-set", "change a figure of B's machine; may be repeated", "FIGURE=VALUE"),
    Option("functions", "number of functions, and of lines, in the text (20)", "NUMBER"),
    Option(
        "threshold",
        "changes of functions and lines below this share of an event's counts are small ones, shown as one line (0.5%)",
        "[EVENT=]PERCENT,...",
    ),
    Option("json", "print one JSON object"),
    Option("html", "write a page, too", "FILE"),
    Option("open", "show the page in the browser"),
    Option("quiet", "do not say where the page is", short="q"),
    Option("outfile", "write the text, or the JSON, into a file", "FILE"),
    Option("help", "show this help", short="h"),
]
DEFAULT_FILES = ("pfmon.data.old", "pfmon.data")
"""The recordings of the last two `pfmon record`."""
FUNCTIONS = 20


def run(words: Sequence[str]) -> int:
    """Run `pfmon diff` with the words after it and return the exit status. Raises PfmonError for wrong words."""
    said = understood(words, OPTIONS, USAGE, INTRODUCTION, 2, DEFAULT_FILES)
    if said is None:
        return 0
    given, files = said
    most = functions_shown(given, FUNCTIONS)
    results = ResultOutput(given.get("outfile", [""])[-1], append=False)
    page = given.get("html", [""])[-1]
    viewer = PageViewer("open" in given, quiet="quiet" in given)
    if "open" in given and not page:
        raise PfmonError("--open shows a page: give --html=FILE too")
    if page:
        check_can_be_written(page, f"--html={page}")
    options, options_b = counting_options(given), _options_of_b(given)
    found = diff(
        *files,
        options_b={**options, **options_b} if options_b else None,
        threshold=",".join(given.get("threshold", [])),
        **options,
    )
    outputs = Outputs()
    if page:
        outputs.write(lambda: _write_page(page, found, viewer))
    outputs.write(lambda: results.write(_text(found, most, "json" in given)))
    return outputs.status(0)


def _options_of_b(given: dict[str, list[str]]) -> dict[str, Any]:
    """Return the library's options for B alone; its changes of figures follow those of both."""
    found = counting_options(given, "b-")
    if "set" in found:
        found["set"] = [*given.get("set", []), *found["set"]]
    return found


def _text(found: Difference, most: int, as_json: bool) -> str:
    if as_json:
        return json.dumps(found.to_dict()) + "\n"
    from pfmon.report.differences.difference_text import difference_text

    return difference_text(found, most)


def _write_page(path: str, found: Difference, viewer: PageViewer) -> None:
    from pfmon.report.html.comparison_pages import diff_page

    viewer.write(path, diff_page(found), f"--html={path}")
