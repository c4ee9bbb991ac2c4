"""The table of a sweep: a row for each cell, for a pair one for each program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pfmon.errors import UnknownNameError
from pfmon.library.sweep.sweep_labels import labels, varied_names
from pfmon.library.sweep.sweep_plan import Cell, Sweep, shown_value
from pfmon.library.sweep.sweep_run import SweepResult
from pfmon.report.count_text import value_text
from pfmon.session.profile.dataframes import frame

FIRST = ("program", "machine", "pmu")
LAST = ("error", "status", "instructions", "seconds")
"""Columns before the arguments and figures, and between these and the events."""
CPI = "cpi: "
"""The prefix of the columns of cycles by part."""


class SweptTable:
    """``columns``: program, machine, PMU, the arguments and figures (of pairs: the program beside it, and its hardware
    thread), error ("": none), exit status, instructions, seconds of processor time (a pair's in its first row), the
    events (instructions once), with cpi the cycles by part; ``rows``: their values, None where one is missing;
    ``figures``, ``events``, ``parts``: the columns of that kind; ``varied``: the figures that have several values,
    without those that follow from another one; ``labels``: of each row what varies."""

    def __init__(self, wanted: Sweep, swept: Sequence[SweepResult]) -> None:
        self.title = wanted.path.rpartition("/")[2]
        cells = [one.cell for one in swept]
        self.figures = list(dict.fromkeys(name for cell in cells for name, _ in cell.figures))
        self.events = list(dict.fromkeys(name for one in swept for name in one.answer.get("counts") or ()))
        parts = list(dict.fromkeys(name for one in swept for name in one.answer.get("cpi") or ()))
        self.parts = [f"{CPI}{part}" for part in parts]
        counted = [name for name in self.events if name not in LAST]
        self.columns = [*FIRST, *self.figures, *LAST, *counted, *self.parts]
        self.varied, self.labels = varied_names(cells), labels(cells)
        self.rows: list[list[Any]] = []
        for cell, answer in swept:
            known, counts, cpi = dict(cell.figures), answer.get("counts") or {}, answer.get("cpi") or {}
            self.rows.append(
                [
                    *(cell.program, cell.machine, cell.pmu),
                    *(known.get(name) for name in self.figures),
                    *(answer["error"] or "", answer.get("status"), answer.get("instructions"), answer["seconds"]),
                    *(counts.get(name) for name in counted),
                    *(cpi.get(part) for part in parts),
                ]
            )
        self._about = _about(wanted, swept)
        self._shown = [{name: shown_value(cell.content, name, value) for name, value in cell.figures} for cell in cells]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<Sweep of {len(self.rows)} rows: {', '.join(self.varied) or 'nothing varies'}>"

    @property
    def differing(self) -> list[str]:
        """Program and machine, as far as there are several."""
        return [name for name in FIRST[:2] if len(set(self.column(name))) > 1]

    def shown(self, place: int) -> Mapping[str, str]:
        """Return the figures of a row as texts: 16K."""
        return self._shown[place]

    def column(self, name: str) -> list[Any]:
        """Return the values of a column; UnknownNameError: there is none of that name."""
        if name not in self.columns:
            raise UnknownNameError("column", name, self.columns)
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return an object for each row, with its columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> Any:
        """Return a DataFrame: a row for each cell."""
        return frame({name: self.column(name) for name in self.columns})

    def plot(
        self,
        what: str = "",
        over: str = "",
        by: str = "",
        *,
        kind: str = "lines",
        log: bool = False,
        ax: Any | None = None,
    ) -> Any:
        """Draw a picture by matplotlib, and return its axes. ``what``: a column, or the quotient of two ("cycles /
        instructions"; by default the first event); ``over``: an argument or figure, program or machine; ``kind``:
        "lines", or "map". Lines: one for each value of ``by``, by default for each of all that varies besides. A map:
        ``by`` goes down; colours from 0 to the quantity's largest value in the sweep. ``log``: a logarithmic axis.
        PfmonError: several cells for one point, or matplotlib is missing (pfmon[plot])."""
        from pfmon.library.sweep.sweep_pictures import plot_sweep

        return plot_sweep(self, what, over, by, kind, log, ax)

    def _repr_html_(self) -> str:
        """Return the table for a notebook: what varies, and the events."""
        from pfmon.session.profile.notebook_tables import html_table

        names, rows = self.texts()
        return html_table(names, rows, self.title)

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """Return names and rows of what differs (program, machine, figures) and of the events, as texts."""
        names = [*self.differing, *self.varied, *self.events]
        found = []
        for row, shown in zip(self.to_dict(), self._shown, strict=True):
            front = [*(str(row[name]) for name in self.differing), *(shown.get(name, "") for name in self.varied)]
            found.append([*front, *(_count(row[name]) for name in self.events)])
        return names, found

    def text(self) -> str:
        """Return these as a table, a line for each row."""
        names, rows = self.texts()
        left = len(names) - len(self.events)
        widths = [max(len(line[place]) for line in [names, *rows]) for place in range(len(names))]
        return "".join(
            "  ".join(
                value.ljust(width) if place < left else value.rjust(width)
                for place, (value, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            + "\n"
            for line in [names, *rows]
        )

    def to_html(self) -> str:
        """Return the page: curves, heat maps, the table. A file of its own."""
        from pfmon.report.html.comparison_pages import sweep_page

        return sweep_page(self)

    def about(self) -> dict[str, str]:
        """Return lines of a summary by their names."""
        return dict(self._about)

    def csv(self) -> str:
        """Return all columns as comma-separated values (RFC 4180, with line feeds); a missing value is empty."""
        import csv
        from io import StringIO

        out = StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return out.getvalue()


def _about(wanted: Sweep, swept: Sequence[SweepResult]) -> dict[str, str]:
    machines = {one.cell.machine: one.cell for one in swept}
    changed = {name: _fixed(cell) for name, cell in machines.items()}
    return {
        "cells": str(len(wanted.cells)),
        "programs": str(len({one.cell.program for one in swept})),
        "machines": ", ".join(f"{name} ({text})" if text else name for name, text in changed.items()),
        "processor time": f"{sum(one.answer['seconds'] for one in swept):.1f} s",
    }


def _fixed(cell: Cell) -> str:
    """Return the changes of a machine that the sweep does not vary, and that its label does not have."""
    varied = {name for name, _ in cell.figures}
    return ", ".join(one for one in cell.settings if one.partition("=")[0] not in varied and one not in cell.machine)


def _count(value: int | float | None) -> str:
    return "" if value is None else value_text(value)
