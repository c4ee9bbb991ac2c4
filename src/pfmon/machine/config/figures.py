"""The figures of a machine: their names, meaning, and format.

`figures.csv` has a row for each: the tables it belongs to, key, type, legal values (a range, or the names of
policies), a condition under which alone it is needed (``predictor.kind=itanium``), meaning.
"""

from __future__ import annotations

import csv
import re
from functools import cache
from os.path import dirname, join
from typing import NamedTuple

from pfmon.errors import BadValueError
from pfmon.machine.config.machine_figures import IN_ORDER, OUT_OF_ORDER, Value

SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
MEGAHERTZ = {"mhz": 1, "ghz": 1000}


class Figure(NamedTuple):
    """One figure. ``tables``: those that have it; ``legal``: "LOW-HIGH", names, or "" for anything of its type."""

    tables: tuple[str, ...]
    key: str
    type: str
    legal: str
    when: str
    meaning: str

    def needed(self, values: dict[str, Value]) -> bool:
        """Whether a machine with these values needs the figure, given that it has the table."""
        name, _, wanted = self.when.partition("=")
        return not name or values.get(name) in wanted.split()

    def parse(self, raw: object) -> Value:
        """Converts a raw value for the mechanisms: bytes, cycles, entries, MHz. BadValueError names the legal ones."""
        value = READERS[self.type](raw)
        if value is None or not self._allows(value):
            raise BadValueError(f"{self.wanted()} is wanted")
        return value

    def _allows(self, value: Value) -> bool:
        if self.type == "policy":
            return value in self.legal.split()
        if isinstance(value, (bool, str)):
            return True
        low, high = self._range()
        return low <= value <= high

    def _range(self) -> tuple[int, int]:
        low, _, high = self.legal.partition("-")
        return _number(low, SIZES) or 0, _number(high, SIZES) or 0

    def wanted(self) -> str:
        """Legal values, in words."""
        range_text = self.legal.replace("-", " to ")
        return {
            "size": f"a size in bytes from {range_text}, such as 16K or 9M,",
            "cycles": f"a number of core cycles from {range_text}",
            "count": f"a whole number from {range_text}",
            "frequency": f"a frequency from {range_text} MHz, such as 400 MHz,",
            "flag": "true or false",
            "policy": f"one of {', '.join(self.legal.split())}",
            "text": "a text",
        }[self.type]

    def show(self, value: Value) -> str:
        """Formats the value for a file."""
        if self.type == "size" and isinstance(value, int):
            return size_text(value)
        if self.type == "frequency":
            return f"{value} MHz"
        return str(value).lower() if isinstance(value, bool) else str(value)


def size_text(size: int) -> str:
    """Formats a number of bytes with the largest unit that divides it."""
    for unit, factor in (("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if size and size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)


def _number(raw: object, units: dict[str, int]) -> int | None:
    if isinstance(raw, int) and not isinstance(raw, bool) and "" in units:
        return raw
    match = re.fullmatch(r"\s*(\d+)\s*([a-zA-Z]*)\s*", raw) if isinstance(raw, str) else None
    if match is None or match[2].lower() not in units:
        return None
    return int(match[1]) * units[match[2].lower()]


def _flag(raw: object) -> bool | None:
    if isinstance(raw, bool):
        return raw
    return {"true": True, "false": False}.get(raw) if isinstance(raw, str) else None


def _text(raw: object) -> str | None:
    return raw if isinstance(raw, str) and raw else None


READERS = {
    "size": lambda raw: _number(raw, SIZES),
    "cycles": lambda raw: _number(raw, {"": 1, "cycle": 1, "cycles": 1}),
    "count": lambda raw: _number(raw, {"": 1}),
    "frequency": lambda raw: _number(raw, MEGAHERTZ),
    "flag": _flag,
    "policy": _text,
    "text": _text,
}
"""Type of a figure -> reader of its raw value (of TOML, or a text of the command line); None: not of that type."""

TABLES = {IN_ORDER: "figures.csv", OUT_OF_ORDER: "interval.csv"}
"""Kind of core -> the table of its figures."""

OPTIONAL_TABLES = {IN_ORDER: {"l2", "l2d", "l2i", "dtlb2", "itlb2", "smt"}, OUT_OF_ORDER: {"l3", "tlb2", "qemu"}}
"""Kind of core -> tables that a machine may lack; an in-order one has l2, or l2d and l2i."""


@cache
def figures(core: str = IN_ORDER) -> dict[str, Figure]:
    """All figures of a kind of core by full name, such as l3.size."""
    with open(join(dirname(__file__), TABLES[core]), newline="", encoding="utf-8") as table:
        rows = [Figure(tuple(row.pop("tables").split()), **row) for row in csv.DictReader(table)]
    return {f"{table}.{row.key}": row for row in rows for table in row.tables}
