"""The counts of a whole run as perf stat(1) prints them: value, name, a ratio beside it; below, the largest cause of
stalls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pfmon.report.count_ratios import count_ratios
from pfmon.report.count_text import value_text
from pfmon.report.repeated_counts import mean_counts, repeats_line, spread_text, spreads
from pfmon.report.task_report import shown_command
from pfmon.session.profile.finding import Finding
from pfmon.session.run.programmed_pmu import Count

VALUE, NAME = 18, 24
"""Widths of perf's columns."""


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
    where = f" on {machine.name}" if machine else ""
    return f" Performance counter stats for '{shown_command(command)}'{where}{f' ({runs} runs)' if runs > 1 else ''}:"
