"""Tables of counts by function, by block, by instruction and by interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

from pfmon.errors import UnknownNameError
from pfmon.session.profile.code_profile import Profile, ProfileRow
from pfmon.session.profile.dataframes import frame
from pfmon.session.run.monitoring import Interval
from pfmon.session.run.programmed_pmu import Value


class Table(Sequence[ProfileRow]):
    """Rows of parts of the program, the largest first, with a value for each of ``events``; ``table["main"]`` is a
    row."""

    __slots__ = ("_rows", "events")

    def __init__(self, events: Sequence[str], rows: Sequence[ProfileRow]) -> None:
        self.events = tuple(events)
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, key: int | str) -> ProfileRow: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[ProfileRow]: ...
    def __getitem__(self, key: int | str | slice) -> ProfileRow | Sequence[ProfileRow]:
        """Return a row by position or by name; UnknownNameError: no row has that name."""
        if not isinstance(key, str):
            return self._rows[key]
        for row in self._rows:
            if row.name == key:
                return row
        raise UnknownNameError("part of the program", key, [row.name for row in self._rows])

    def __len__(self) -> int:
        return len(self._rows)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return Row.to_dict of each row."""
        return [row.to_dict() for row in self._rows]

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        from pfmon.session.profile.notebook_tables import html_table

        return html_table(("name", *self.events), [(row.shown, *row.values) for row in self._rows])

    def to_pandas(self) -> Any:
        """Return a DataFrame: a row for each part, columns name, address, object and the events."""
        values = {event: [row.values[place] for row in self._rows] for place, event in enumerate(self.events)}
        places = {field: [getattr(row, field) for row in self] for field in ("name", "address", "object")}
        return frame({**places, **values}, "name")


class InstructionCounts(NamedTuple):
    """An instruction: address of its bundle, slot, text, and a value for each event (None: nothing counted). ``file``
    and ``line``: source position ("" and 0 without DWARF); ``inlined``: functions inlined there, the innermost
    first."""

    address: int
    slot: int
    text: str
    counts: tuple[Value, ...] | None
    file: str = ""
    line: int = 0
    inlined: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return address, slot, text, counts (null if nothing counted), file and line (null without DWARF), inlined
        (names)."""
        return {
            "address": self.address,
            "slot": self.slot,
            "text": self.text,
            "counts": self.counts and list(self.counts),
            "file": self.file or None,
            "line": self.line or None,
            "inlined": list(self.inlined),
        }


class Annotated(Sequence[InstructionCounts]):
    """The instructions of a function in order, with their counts. ``folder``: the directory of the object file, where
    source files with relative paths may be."""

    __slots__ = ("_rows", "events", "folder", "function")

    def __init__(self, function: str, profile: Profile, listing: Sequence[tuple[int, str]]) -> None:
        self.function = function
        self.events = tuple(profile.names)
        self.folder = profile.folder(listing[0][0]) if listing else ""
        origins = profile.origins([address for address, _ in listing])
        self._rows = [
            InstructionCounts(
                *profile.address_and_slot(address),
                *(text, profile.values_at(address)),
                *(origin.source or ("", 0)),
                origin.inlined,
            )
            for (address, text), origin in zip(listing, origins, strict=True)
        ]

    @overload
    def __getitem__(self, key: int) -> InstructionCounts: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[InstructionCounts]: ...
    def __getitem__(self, key: int | slice) -> InstructionCounts | Sequence[InstructionCounts]:
        return self._rows[key]

    def __len__(self) -> int:
        return len(self._rows)

    def to_dict(self) -> dict[str, Any]:
        """Return function, and instructions in order."""
        return {"function": self.function, "instructions": [row.to_dict() for row in self._rows]}

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        from pfmon.session.profile.notebook_tables import html_table

        empty = (None,) * len(self.events)
        rows = [(hex(row.address), row.text, *(row.counts or empty)) for row in self._rows]
        return html_table(("address", self.function, *self.events), rows)

    def to_pandas(self) -> Any:
        """Return a DataFrame: a row for each instruction, columns address, slot, text and the events (0: nothing
        counted)."""
        values = {
            event: [row.counts[place] if row.counts else 0 for row in self._rows]
            for place, event in enumerate(self.events)
        }
        places = {name: [getattr(row, name) for row in self._rows] for name in ("address", "slot", "text")}
        return frame({**places, **values})


class IntervalCounts(NamedTuple):
    """The end of an interval, in nanoseconds of the program's processor time, and its counts."""

    end: int
    counts: tuple[Value, ...]


class Intervals(Sequence[IntervalCounts]):
    """The counts of each interval of a run, in order."""

    __slots__ = ("_rows", "events")

    def __init__(self, events: Sequence[str], intervals: Sequence[Interval]) -> None:
        self.events = tuple(events)
        self._rows = tuple(IntervalCounts(end, tuple(values)) for end, values in intervals)

    @overload
    def __getitem__(self, key: int) -> IntervalCounts: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[IntervalCounts]: ...
    def __getitem__(self, key: int | slice) -> IntervalCounts | Sequence[IntervalCounts]:
        return self._rows[key]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[IntervalCounts]:
        return iter(self._rows)

    def to_dict(self) -> list[list[Any]]:
        """Return [end, counts] of each."""
        return [[row.end, list(row.counts)] for row in self._rows]

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        from pfmon.session.profile.notebook_tables import html_table

        return html_table(("end, ns", *self.events), [(row.end, *row.counts) for row in self._rows])

    def to_pandas(self) -> Any:
        """Return a DataFrame: a row for each interval, indexed by its end in nanoseconds."""
        values = {event: [row.counts[place] for row in self._rows] for place, event in enumerate(self.events)}
        return frame({"end": [row.end for row in self._rows], **values}, "end")
