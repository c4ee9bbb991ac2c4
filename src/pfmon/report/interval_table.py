"""The counts of each interval of a run, as a table printed line by line."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.pmu.model.generic_events import spelled
from pfmon.report.count_text import value_text
from pfmon.session.run.monitoring import Interval

TIME = 16
MIN_WIDTH = 12
"""Width of the time column, and the minimum width of a count's."""


class IntervalTable:
    """Lines of intervals: the end, in milliseconds of the program's processor time, and a column for each event."""

    def __init__(self, names: Sequence[str], style: str = "plain") -> None:
        self._names = [spelled(name) for name in names]
        self._style = style
        self._begun = False

    def lines(self, interval: Interval) -> str:
        """Return the next interval's line, preceded by a heading for the first."""
        time, values = interval
        texts = [value_text(value, self._style) for value in values]
        line = self._line(f"{time / 1e6:.6f}", texts)
        heading = "" if self._begun else self._line("# milliseconds", self._names)
        self._begun = True
        return heading + line

    def _line(self, first: str, texts: Sequence[str]) -> str:
        cells = [text.rjust(max(MIN_WIDTH, len(name))) for text, name in zip(texts, self._names, strict=True)]
        return " ".join([first.rjust(TIME), *cells]) + "\n"
