"""The counts of a run as comma-separated values: a row for each event, below a row of names."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO

from pfmon.report.count_ratios import count_ratios
from pfmon.report.repeated_counts import mean_counts, spreads
from pfmon.session.run.programmed_pmu import Count

COLUMNS = ("value", "event", "spread_percent", "ratio", "ratio_unit")
"""``value``: the count, the mean of repeated runs; ``spread_percent``: the standard error of the mean, empty without
repeated runs; ``ratio``, ``ratio_unit``: as perf stat(1) prints them, empty where there is none."""


def csv_counts(runs: Sequence[Sequence[Count]], usual: bool, megahertz: int = 0) -> str:
    """Return the table; arguments as for `count_ratios`, of each run of the program."""
    counts = mean_counts(runs)
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for count, spread, ratio in zip(counts, spreads(runs), count_ratios(counts, usual, megahertz), strict=True):
        of_runs = f"{100 * spread:.2f}" if len(runs) > 1 else ""
        beside = (f"{ratio.value:.6g}", ratio.unit) if ratio else ("", "")
        writer.writerow(["" if count.value is None else count.value, count.name, of_runs, *beside])
    return out.getvalue()
