"""The manual's derived events of a run, by the manual's tables, with their hardware needs (--report derived)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pfmon.report.count_text import value_text
from pfmon.session.run.programmed_pmu import Value

TITLES = {
    "table 4-2": "Basic events",
    "table 4-5": "Instruction execution",
    "table 4-9": "L1 instruction cache and prefetch",
    "table 4-18": "L2 instruction cache",
    "table 4-20": "L2 data cache",
    "table 4-32": "L3 cache",
    "table 4-34": "System",
    "table 4-36": "TLBs",
    "table 4-38": "System bus",
    "table 4-40": "Register stack engine",
    "section 4.11.2": "Memory latency",
}
"""Titles of the Montecito manual's tables of formulas."""
OTHERS = "Others"


class FormulaNeeds(NamedTuple):
    """The hardware needs of a formula: number of events, number of runs (if its PMU cannot count them all at once),
    both opcode matchers; whether all events are exact."""

    events: int
    runs: int
    matchers: bool
    exact: bool

    def __str__(self) -> str:
        parts = [f"{self.events} event{'s' * (self.events > 1)}"]
        parts += [f"{self.runs} runs of the hardware"] if self.runs > 1 else []
        parts += ["the opcode matchers"] if self.matchers else []
        return ", ".join([*parts, "exact" if self.exact else "modelled"])


class DerivedValue(NamedTuple):
    """A derived event of a run; its value is None if the formula divides by zero. ``note``: a remark on the value."""

    name: str
    value: Value
    formula: str
    description: str
    source: str
    needs: FormulaNeeds
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return name, value, formula, description, source, needs (events, runs, matchers, exact), note (null:
        none)."""
        return {**self._asdict(), "needs": self.needs._asdict(), "note": self.note or None}


class DerivedReport(NamedTuple):
    """The derived events of a run; ``left_out``: those that are not modelled, with the reason."""

    machine: str
    values: Sequence[DerivedValue]
    left_out: Sequence[tuple[str, str]]

    def tables(self) -> dict[str, list[DerivedValue]]:
        """The events by the title of their table, in the manual's order; others last."""
        found: dict[str, list[DerivedValue]] = {title: [] for title in (*TITLES.values(), OTHERS)}
        for one in self.values:
            place = next((place for place in TITLES if one.source.endswith(place)), "")
            found[TITLES.get(place, OTHERS)].append(one)
        return {title: rows for title, rows in found.items() if rows}

    def to_dict(self) -> dict[str, Any]:
        """Keys: report, machine, tables (title, and events: DerivedValue.to_dict), left_out (name, reason)."""
        return {
            "report": "derived",
            "machine": self.machine,
            "tables": [
                {"title": title, "events": [row.to_dict() for row in rows]} for title, rows in self.tables().items()
            ],
            "left_out": [{"name": name, "reason": reason} for name, reason in self.left_out],
        }


def derived_text(report: DerivedReport, style: str = "plain") -> str:
    """Return the report as text: value, name and description; below, the formula and its needs."""
    lines = [report.machine]
    for title, rows in report.tables().items():
        sources = ", ".join(dict.fromkeys(row.source for row in rows))
        lines += ["", f"{title} ({sources})"]
        for row in rows:
            lines.append(f"{value_text(row.value, style):>20} {row.name}: {row.description}")
            lines.append(f"{'':20}   = {row.formula} ({row.needs})")
            lines += [f"{'':20}   {row.note}"] if row.note else []
    if report.left_out:
        lines += ["", "Not modelled"]
        lines += [f"{'':20} {name}: {reason}" for name, reason in report.left_out]
    return "\n".join(lines) + "\n"
