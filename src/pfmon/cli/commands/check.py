"""`pfmon check BASE NEW`: fail when counts grew by more than their tolerance."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from pfmon.bounded_files import read_bounded
from pfmon.cli.commands.subcommand import Option, counting_options, functions_shown, understood
from pfmon.cli.output.result_output import Outputs, ResultOutput, check_can_be_written, write_output
from pfmon.errors import PfmonError, reason
from pfmon.library.results.result_check import check
from pfmon.report.differences.check import Check

USAGE = "usage: pfmon check [OPTION]... BASE NEW [-- ARGUMENT...]"
INTRODUCTION = """Compares the counts of NEW with those of BASE. Each is a program, or a command in quotes, which is
run and counted; or a result: output of --json, a baseline (--save-baseline), a recording (--record). ARGUMENTs are
added to both commands. The exit status is 0, or 3 if a count grew by more than its tolerance."""
OPTIONS = [
    Option(
        "events", "count these events (instructions, cycles; or those of a result on the other side)", "EVENT,...", "e"
    ),
    Option("pmu", "count with this PMU", "NAME"),
    Option("machine", "count on this machine", "NAME"),
    Option("set", "change a figure of the machine, such as l3.size=9M; may be repeated", "FIGURE=VALUE"),
    Option("region", "count only while a thread is in one of these regions", "NAME,..."),
    Option("input", "what the commands read from standard input (nothing)", "FILE"),
    Option(
        "tolerance", "increase that is accepted, for all events or one (1%); may be repeated", "[EVENT=]PERCENT,..."
    ),
    Option("functions", "number of functions in which a count grew, in text and Markdown (10)", "NUMBER"),
    Option("json", "print one JSON object"),
    Option("markdown", "write the table for a comment of a pull request, too", "FILE"),
    Option("github-summary", "add it to the summary of the job, in GitHub's Actions ($GITHUB_STEP_SUMMARY)"),
    Option("outfile", "write the text, or the JSON, into a file", "FILE"),
    Option("help", "show this help", short="h"),
]
SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable of GitHub's Actions that names the file of a job's summary."""
FUNCTIONS = 10
GREW = 3
"""Exit status when a count increased."""


def run(words: Sequence[str]) -> int:
    """Run `pfmon check` with the words after it and return the exit status. Raises PfmonError for wrong words."""
    own, arguments = _parted(words)
    said = understood(own, OPTIONS, USAGE, INTRODUCTION, 2)
    if said is None:
        return 0
    given, sides = said
    most = functions_shown(given, FUNCTIONS)
    results = ResultOutput(given.get("outfile", [""])[-1], append=False)
    page = given.get("markdown", [""])[-1]
    summary = os.environ.get(SUMMARY, "") if "github-summary" in given else ""
    of_summary = f"--github-summary: {SUMMARY}={summary}"
    for path, option in ((page, f"--markdown={page}"), (summary, of_summary)):
        if path:
            check_can_be_written(path, option)
    found = check(
        *(_with(side, arguments) for side in sides),
        tolerance=",".join(given.get("tolerance", [])),
        input=_input(given.get("input", [""])[-1]),
        **counting_options(given),
    )
    outputs = Outputs()
    if page:
        outputs.write(lambda: write_output(page, _markdown(found, most), f"--markdown={page}"))
    if summary:
        outputs.write(lambda: write_output(summary, _markdown(found, most), of_summary, append=True))
    outputs.write(lambda: results.write(_text(found, most, "json" in given)))
    return outputs.status(GREW if found.grown else 0)


def _parted(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words before -- and those after it."""
    own = list(words)
    at = own.index("--") if "--" in own else len(own)
    return own[:at], own[at + 1 :]


def _with(side: str, arguments: Sequence[str]) -> str | list[str]:
    """Return a side; a command with the arguments of both behind its own."""
    if not arguments:
        return side
    return [side, *arguments] if Path(side).exists() else [*_words(side), *arguments]


def _words(side: str) -> list[str]:
    try:
        return shlex.split(side)
    except ValueError as error:
        raise PfmonError(f"{side}: {str(error).lower()}") from None


def _input(path: str) -> bytes:
    try:
        return read_bounded(path) if path else b""
    except OSError as error:
        raise PfmonError(f"--input={path}: {reason(error)}") from None


def _text(found: Check, most: int, as_json: bool) -> str:
    if as_json:
        return json.dumps(found.to_dict()) + "\n"
    from pfmon.report.differences.check_text import check_text

    return check_text(found, most)


def _markdown(found: Check, most: int) -> str:
    from pfmon.report.differences.check_text import check_markdown

    return check_markdown(found, most)
