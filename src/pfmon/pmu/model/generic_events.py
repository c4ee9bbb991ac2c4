"""The event names of perf, for every PMU: `perf_names.csv` beside this file, in the order of lists, and
`generic_events.csv` of each PMU.

A PMU's table has a row for each name that is no other spelling of one: the event that counts it there, with the line
states that it needs, or the reason why none does. The names are those of perf(1) (tools/perf/util/parse-events.l);
which event a name stands for, perf's kernel side or the processor's manual says (column ``source``).
"""

from __future__ import annotations

from functools import cache
from os.path import dirname, join
from typing import NamedTuple

from pfmon.csv_tables import rows
from pfmon.errors import PfmonError
from pfmon.pmu.target import table_path


class PerfName(NamedTuple):
    """A name of perf; ``stands_for``: the usual spelling, "-" if it is that itself."""

    name: str
    stands_for: str
    meaning: str


class GenericEvent(NamedTuple):
    """The PMU's event of a perf name: ``event`` has `:STATES` if it needs line states, or is "-" with a reason."""

    name: str
    event: str
    reason: str
    source: str

    @property
    def is_counted(self) -> bool:
        """Whether the PMU has an event for the name."""
        return self.event != "-"

    @property
    def own_name(self) -> str:
        """The name of the PMU's event, without line states. PfmonError: it has none."""
        if not self.is_counted:
            raise PfmonError(f"{self.name}: this PMU cannot count it: {self.reason}").about(self.name)
        return self.event.partition(":")[0]

    @property
    def states(self) -> str:
        """The line states that the event needs, "" for none."""
        return self.event.partition(":")[2]


@cache
def perf_names() -> dict[str, PerfName]:
    """Return the names of perf in lower case, in the order of lists."""
    path = join(dirname(__file__), "perf_names.csv")
    return {row[0].lower(): PerfName(*row) for row in rows(path, PerfName._fields)}


@cache
def generic_events(pmu: str) -> dict[str, GenericEvent]:
    """Return what each name of perf, in its usual spelling, is on a PMU."""
    path = table_path(pmu, "generic_events")
    return {row[0]: GenericEvent(*row) for row in rows(path, GenericEvent._fields)} if path else {}


def spelled(name: str) -> str:
    """Return an event's name as it is printed: perf's as perf spells it, with its modifiers, others in capitals."""
    own, colon, behind = name.partition(":")
    known = perf_names().get(own.lower())
    return f"{known.name}{colon}{behind}" if known else name.upper()


def generic_event(pmu: str, name: str) -> GenericEvent | None:
    """Return what a name of perf, in any spelling, is on a PMU; None: it is no such name, or the PMU has no table."""
    known = perf_names().get(name.partition(":")[0].lower())
    if known is None:
        return None
    found = generic_events(pmu).get(known.name if known.stands_for == "-" else known.stands_for)
    return found and found._replace(name=known.name)
