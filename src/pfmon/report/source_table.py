"""A source file as a table: the counts of each line beside its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pfmon.report.profile_tables import aligned, cells
from pfmon.session.run.programmed_pmu import Value

WHOLE = 200
"""Lines of a file that is printed whole; of a longer one, lines with counts are, and those near them."""
NEAR = 5
"""Number of lines printed before and after a line with counts."""


class CountedLine(Protocol):
    """A line with its counts; None: nothing was counted, the text was not found."""

    @property
    def number(self) -> int: ...
    @property
    def text(self) -> str | None: ...
    @property
    def counts(self) -> Sequence[Value] | None: ...


def source_table(events: Sequence[str], file: str, lines: Sequence[CountedLine], style: str = "plain") -> str:
    """Return the lines in order; a line stands for those that are left out."""
    width = len(str(lines[-1].number)) if lines else 1
    rows: list[tuple[list[str], str]] = []
    before = 0
    for line in _shown(lines):
        if line.number > before + 1 and line.text is not None:
            rows.append(([""] * len(events), _gap(before + 1, line.number - 1)))
        before = line.number
        rows.append((cells(line.counts, events, style), f"{line.number:>{width}} {line.text or ''}".rstrip()))
    if lines and lines[-1].number > before:
        rows.append(([""] * len(events), _gap(before + 1, lines[-1].number)))
    return aligned(events, f"lines of {file}", rows)


def _gap(first: int, last: int) -> str:
    return f"... line {first}" if first == last else f"... lines {first} to {last}"


def _shown(lines: Sequence[CountedLine]) -> list[CountedLine]:
    if len(lines) <= WHOLE:
        return list(lines)
    near: set[int] = set()
    for line in lines:
        if line.counts:
            near.update(range(line.number - NEAR, line.number + NEAR + 1))
    return [line for line in lines if line.number in near]
