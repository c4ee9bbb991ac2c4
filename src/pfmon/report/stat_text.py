"""The counts of a whole run as perf stat(1) prints them: value, name, a ratio beside it; below, the largest cause of
stalls."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import NamedTuple

from pfmon.report.count_ratios import count_ratios
from pfmon.report.count_text import value_text
from pfmon.report.repeated_counts import mean_counts, repeats_line, spread_text, spreads
from pfmon.session.profile.finding import Finding
from pfmon.session.run.programmed_pmu import Count

VALUE, NAME = 18, 24
"""Widths of perf's columns."""
MAX_COMMAND_LENGTH = 60
"""Characters of the command in the first line."""


class StatMachine(NamedTuple):
    """The machine of a run: its name, and its clock in MHz."""

    name: str
    megahertz: int


def stat_text(
    command: Sequence[str],
    runs: Sequence[Sequence[Count]],
    machine: StatMachine | None,
    found: Finding | None,
    style: str = "us",
) -> str:
    """Return the table. ``runs``: the default events of each run of the command; ``machine``: None without cycles."""
    counts, spread = mean_counts(runs), spreads(runs)
    ratios = count_ratios(counts, usual=True, megahertz=machine.megahertz if machine else 0)
    lines = [_heading(command, len(runs), machine), ""]
    for count, ratio, share in zip(counts, ratios, spread, strict=True):
        beside = f" # {ratio}" if ratio else ""
        line = f"{value_text(count.value, style):>{VALUE}}      {count.name:<{NAME}}{beside}"
        lines.append((f"{line:<72}{spread_text(share)}" if share else line).rstrip())
    lines += ["", repeats_line(runs)] if len(runs) > 1 else []
    lines += ["", str(found)] if found else []
    return "".join(f"{line}\n" for line in ["", *lines])


def _heading(command: Sequence[str], runs: int, machine: StatMachine | None) -> str:
    words = shlex.join(command)
    shown = words if len(words) <= MAX_COMMAND_LENGTH else f"{words[:MAX_COMMAND_LENGTH]}..."
    where = f" on {machine.name}" if machine else ""
    return f" Performance counter stats for '{shown}'{where}{f' ({runs} runs)' if runs > 1 else ''}:"
