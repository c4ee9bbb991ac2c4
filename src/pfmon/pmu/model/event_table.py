"""Event tables: `events.csv` of each PMU, one row per event and unit mask, columns by name.

A table has the columns of its PMU, named as the fields of `Event` and in their order: name and code first, and no
column that would be empty in every row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from pfmon.csv_tables import fields, table
from pfmon.errors import BadValueError, PfmonError
from pfmon.lazy_map import LazyMap
from pfmon.pmu.model.generic_events import GenericEvent, generic_event, perf_names
from pfmon.pmu.model.unknown_event import UnknownEventError
from pfmon.pmu.target import table_path
from pfmon.pmu.targets import named
from pfmon.signals.signal_names import signals

CODE_MASK = 0xFFFF
"""Position of the unit mask in an event code, bits 19:16."""


class Event(NamedTuple):
    """One event: the selection in a counter's configuration register, and the event's properties.

    `counters` are PMD numbers. `max_increment` is the maximum increment of one cycle. `iar`, `opc`, `dar`:
    whether instruction ranges, opcode matchers and data ranges qualify it. `set` is a group and number such
    as `L1D:3`, `type` Montecito's thread type, `ear` the event address register mode of a virtual event.
    `cmask`, `invert`, `edge` and `any_thread` are fields of Intel's event select registers that define the event,
    `extra` is `REGISTER=VALUE` of a further register that it needs. "-" stands for none. `signal` names what is
    counted, and `reason` says why the event is not modelled.
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
    cmask: int
    invert: bool
    edge: bool
    any_thread: bool
    extra: str
    alias_of: str
    signal: str
    reason: str
    source: str
    description: str

    @property
    def is_modelled(self) -> bool:
        """Whether the event has a signal."""
        return self.reason == "-"

    @property
    def fidelity(self) -> str:
        """`exact` or `modelled`, as its signal (`Signal.fidelity`), or `unmodelled`."""
        return signals()[self.signal].fidelity if self.is_modelled else "unmodelled"

    @property
    def condition(self) -> tuple[int, bool, bool]:
        """CMASK, INV and E that define the event."""
        return self.cmask, self.invert, self.edge

    @property
    def group(self) -> str:
        """The group of the event's set (`L1D`, `L2`, `L2D`), or "" for none."""
        return "" if self.set == "-" else self.set.partition(":")[0]


def _flag(text: str) -> bool:
    return text == "1"


def _hexadecimal(text: str) -> int:
    return int(text, 16)


FLAGS = ("iar", "opc", "dar", "all", "mesi", "branch_buffer", "invert", "edge", "any_thread")
CONVERT: Mapping[str, Callable[[str], object]] = {
    **dict.fromkeys(FLAGS, _flag),
    **dict.fromkeys(("code", "umask"), _hexadecimal),
    "counters": lambda text: tuple(map(int, text.split())),
    "max_increment": int,
    "cmask": int,
}
"""Column -> its value from text; the others are text."""
EMPTY: Mapping[str, object] = {
    **dict.fromkeys(FLAGS, False),
    **dict.fromkeys(("set", "type", "ear", "extra", "alias_of", "reason"), "-"),
    **dict.fromkeys(("umask", "cmask"), 0),
}
"""Column -> its value in a table without it. Every table has the others."""


def _event(columns: Sequence[str], row: list[str], counters: Collection[int]) -> Event:
    """Return the event of a CSV row with these columns, on these counters as far as it counts on them."""
    given = {name: CONVERT.get(name, str)(text) for name, text in zip(columns, row, strict=True)}
    event = Event._make(given[name] if name in given else EMPTY[name] for name in Event._fields)
    return event._replace(counters=tuple(number for number in event.counters if number in counters))


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

    def __init__(self, pmu: str, columns: Sequence[str], rows: Iterable[str], counters: Collection[int]) -> None:
        """``columns``: the header of the CSV file, ``rows``: its other lines; ``counters``: those of the PMU."""
        self.pmu = pmu
        self._rows: dict[str, str] = {}
        self._names: dict[int, list[str]] = {}
        self._of_codes: dict[int, list[Event]] = {}
        self._counters_column = columns.index("counters")
        self._events = LazyMap(self._rows, lambda row: _event(columns, fields(row), counters))
        for row in rows:
            name, code, _ = row.split(",", 2)
            self._rows[name] = row
            self._names.setdefault(int(code, 16), []).append(name)

    def _of_code(self, code: int) -> list[Event]:
        if code not in self._of_codes:
            self._of_codes[code] = [self._events[name] for name in self._names.get(code, [])]
        return self._of_codes[code]

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events.values())

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: str) -> bool:
        """Whether the PMU has an event of this name, or perf has (which the PMU may be unable to count)."""
        own = name.partition(":")[0]
        return own.upper() in self._rows or generic_event(self.pmu, own) is not None

    def __getitem__(self, name: str) -> Event:
        """Return an event by its name, or by perf's; behind a colon there may be perf's modifiers, which are kept in
        the event's name. The PMU's own names come first. PfmonError: there is none, or perf's name is of something
        that the PMU cannot count."""
        own, colon, modifiers = name.partition(":")
        if own.upper() in self._rows:
            event = self._events[own.upper()]
        elif generic := self.generic(own):
            event = self._named(generic)
        else:
            raise UnknownEventError(self.pmu, own, self.all_names())
        return event._replace(name=f"{event.name}:{modifiers}") if colon else event

    def generic(self, name: str) -> GenericEvent | None:
        """Return what a name of perf is on the PMU; None: it is none, or a name of the PMU's own."""
        return None if name.partition(":")[0].upper() in self._rows else generic_event(self.pmu, name)

    def _named(self, generic: GenericEvent) -> Event:
        """Return the PMU's event that a name of perf stands for, under that name."""
        event = self._events[generic.own_name]
        return event._replace(name=generic.name, alias_of=event.name if event.alias_of == "-" else event.alias_of)

    def all_names(self) -> list[str]:
        """Return perf's names, then the PMU's own."""
        return [*(known.name for known in perf_names().values()), *self._rows]

    def umask_free(self, event: Event) -> bool:
        """Return whether the event has no variants by unit mask: it is the only one with its code and set."""
        return sum(other.set == event.set for other in self._of_code(event.code)) == 1

    def on_counter(self, number: int) -> list[Event]:
        """Return the events that a counter can count, without aliases; other rows are not parsed."""
        text, column = str(number), self._counters_column
        rows = [name for name, row in self._rows.items() if text in row.split(",", column + 1)[column].split()]
        return [event for name in rows if (event := self._events[name]).alias_of == "-"]

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
    path = table_path(pmu, "events")
    if not path:
        raise PfmonError(f"no event table for PMU {pmu!r}")
    columns, rows = table(path)
    return EventTable(pmu, columns, rows, named(pmu).counters)
