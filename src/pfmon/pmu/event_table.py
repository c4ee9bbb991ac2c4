"""Event tables: one CSV per PMU in `events/`, one row per event and unit mask, columns by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from os.path import dirname, exists, join
from typing import NamedTuple

from pfmon.csv_tables import fields, lines
from pfmon.errors import BadValueError, PfmonError, UnknownNameError
from pfmon.lazy_map import LazyMap

TABLES = join(dirname(__file__), "events")
CODE_MASK = 0xFFFF
"""Position of the unit mask in an event code, bits 19:16."""


class Event(NamedTuple):
    """One event: the selection in a counter's configuration register, and the event's properties.

    `counters` are PMD numbers. `max_increment` is the maximum increment of one cycle. `iar`, `opc`, `dar`:
    whether instruction ranges, opcode matchers and data ranges qualify it. `set` is a group and number such
    as `L1D:3`, `type` Montecito's thread type, `ear` the event address register mode of a virtual event.
    "-" stands for none. `signal` names what is counted, `fidelity` is exact, modelled or unmodelled and
    `reason` says why it is not modelled.
    """

    name: str
    code: int
    umask: int
    counters: tuple[int, ...]
    max_increment: int
    iar: bool
    opc: bool
    dar: bool
    set: str
    type: str
    all: bool
    mesi: bool
    ear: str
    branch_buffer: bool
    alias_of: str
    signal: str
    fidelity: str
    reason: str
    source: str
    description: str

    @property
    def group(self) -> str:
        """The group of the event's set (`L1D`, `L2`, `L2D`), or "" for none."""
        return "" if self.set == "-" else self.set.partition(":")[0]


def _event(row: list[str]) -> Event:
    """Return the event of a CSV row, whose columns are in the order of the fields of `Event`."""
    name, code, umask, counters, increment, iar, opc, dar, group, kind, every, mesi, ear, buffer, *rest = row
    return Event(
        name,
        int(code, 16),
        int(umask, 16),
        tuple(map(int, counters.split())),
        int(increment),
        iar == "1",
        opc == "1",
        dar == "1",
        group,
        kind,
        every == "1",
        mesi == "1",
        ear,
        buffer == "1",
        *rest,
    )


def name_pattern(text: str) -> re.Pattern[str]:
    """Compile a regular expression over names, ignoring case."""
    try:
        return re.compile(text, re.IGNORECASE)
    except re.error as error:
        raise BadValueError(f"bad regular expression {text!r}: {error}", "patterns_are_regular_expressions") from None


class EventTable:
    """The events of one PMU, by name, ignoring case.

    An event is parsed from its row on first use: a run needs a handful of some five hundred.
    """

    def __init__(self, pmu: str, rows: Iterable[str]) -> None:
        """``rows``: the lines of the CSV file without its header."""
        self.pmu = pmu
        self._rows: dict[str, str] = {}
        self._names: dict[int, list[str]] = {}
        self._events = LazyMap(self._rows, lambda row: _event(fields(row)))
        for row in rows:
            name, code, _ = row.split(",", 2)
            self._rows[name] = row
            self._names.setdefault(int(code, 16), []).append(name)

    def _of_code(self, code: int) -> list[Event]:
        return [self._events[name] for name in self._names.get(code, [])]

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events.values())

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: str) -> bool:
        return name.upper() in self._rows

    def __getitem__(self, name: str) -> Event:
        if name.upper() not in self._rows:
            raise UnknownNameError(f"{self.pmu} event", name, self._rows)
        return self._events[name.upper()]

    def umask_free(self, event: Event) -> bool:
        """Return whether the event has no variants by unit mask: it is the only one with its code and set."""
        return sum(other.set == event.set for other in self._of_code(event.code)) == 1

    def canonical(self, code: int) -> list[Event]:
        """Return the events of a code, one for each unit mask, without aliases and without events that select a mode of
        an event address register.
        """
        return [event for event in self._of_code(code) if event.ear == "-" and event.alias_of == "-"]

    def ear_kind(self, code: int) -> str:
        """Return the event address register (`iear`, `dear`) whose captures a code counts, or ""."""
        kinds = [event.ear.partition("_")[0] for event in self._of_code(code) if event.ear != "-"]
        return kinds[-1] if kinds else ""

    def matching(self, pattern: str) -> list[Event]:
        """Return the events whose name contains a match of the regular expression, ignoring case."""
        match = name_pattern(pattern)
        return [event for event in self if match.search(event.name)]

    def with_code(self, code: int) -> list[Event]:
        """Return the events that an event code selects: code alone, or code with the umask in bits 19:16."""
        return [e for e in self._of_code(code & CODE_MASK) if code in (e.code, e.code | e.umask << 16)]


@cache
def load_events(pmu: str) -> EventTable:
    """Return the event table of a PMU, read once."""
    path = join(TABLES, f"{pmu}.csv")
    if not exists(path):
        raise PfmonError(f"no event table for PMU {pmu!r}")
    return EventTable(pmu, lines(path, Event._fields))
