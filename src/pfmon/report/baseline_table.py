"""Comparison of counts with those of an earlier run, as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from pfmon.report.count_text import UNDEFINED, value_text
from pfmon.session.run.programmed_pmu import Value

COLUMNS = ("event", "before", "now", "change", "tolerance")
GAP = "  "


class Change(NamedTuple):
    """An event's counts, before and now, and its tolerance as a fraction of the former."""

    name: str
    before: Value
    now: Value
    tolerance: Fraction

    @property
    def rose(self) -> bool:
        """Whether the count is larger than before, by any amount, or undefined (a formula dividing by zero) on one side
        alone."""
        if self.before is None or self.now is None:
            return self.before is not self.now
        return self.now > self.before

    @property
    def grew(self) -> bool:
        """Whether the count increased by more than the tolerance."""
        return self.rose and not self._is_within

    @property
    def shrank(self) -> bool:
        """Whether the count decreased by more than the tolerance."""
        return not self.rose and not self._is_within

    @property
    def _is_within(self) -> bool:
        if self.before is None or self.now is None:
            return self.before is self.now
        before, now = Fraction(self.before), Fraction(self.now)  # exact: counts may have more digits than a float
        return abs(now - before) <= abs(before) * self.tolerance

    def text(self) -> str:
        """The change in percent of the earlier count."""
        if self.before is None or self.now is None or (self.before == 0 != self.now):
            return UNDEFINED
        part = (Fraction(self.now) - Fraction(self.before)) / abs(Fraction(self.before)) if self.before else 0
        return f"{float(100 * part):+.3f}%"


def compare(
    before: Mapping[str, Value], now: Mapping[str, Value], tolerance: Callable[[str], Fraction]
) -> list[Change]:
    """Return a change for each event counted now, in order; ``before`` has all of them."""
    return [Change(name, before[name], value, tolerance(name)) for name, value in now.items()]


def table(changes: Sequence[Change], style: str = "plain") -> str:
    """Return a heading, and a line for each change: name, before, now, change, tolerance."""
    rows = [COLUMNS, *(_row(change, style) for change in changes)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    return "".join(_line(row, widths) for row in rows)


def _row(change: Change, style: str) -> tuple[str, ...]:
    values = (value_text(value, style) for value in (change.before, change.now))
    return change.name, *values, change.text(), f"{float(100 * change.tolerance):g}%"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    """Return a row with the name left-aligned and the numbers right-aligned."""
    name, *numbers = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
    return GAP.join([name.strip().ljust(widths[0]), *numbers]) + "\n"
