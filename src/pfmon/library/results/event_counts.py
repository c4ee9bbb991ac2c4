"""The counts of a run, by event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from pfmon.errors import UnknownNameError
from pfmon.session.run.programmed_pmu import Count


class Counts(Sequence[Count]):
    """The counts in the order of the events; ``counts["loads_retired"]`` is the first one of that name."""

    __slots__ = ("_counts",)

    def __init__(self, counts: Sequence[Count]) -> None:
        self._counts = tuple(counts)

    @overload
    def __getitem__(self, key: int | str) -> Count: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[Count]: ...
    def __getitem__(self, key: int | str | slice) -> Count | Sequence[Count]:
        """Return a count by position or by name; UnknownNameError: the event was not counted."""
        if not isinstance(key, str):
            return self._counts[key]
        for count in self._counts:
            if count.name.upper() == key.upper():
                return count
        raise UnknownNameError("counted event", key, self.names)

    def __len__(self) -> int:
        return len(self._counts)

    def __contains__(self, key: object) -> bool:
        return key.upper() in map(str.upper, self.names) if isinstance(key, str) else key in self._counts

    def __repr__(self) -> str:
        return f"Counts({', '.join(f'{count.name}={count.value}' for count in self._counts)})"

    @property
    def names(self) -> list[str]:
        """The events' names, in order."""
        return [count.name for count in self._counts]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return an object for each event (Count.to_dict)."""
        return [count.to_dict() for count in self._counts]

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        from pfmon.session.profile.notebook_tables import html_table

        return html_table(("event", "count"), [(count.name, count.value) for count in self._counts])

    def to_pandas(self) -> Any:
        """Return a DataFrame: a row for each event."""
        from pfmon.session.profile.dataframes import frame

        values, pmds = ([getattr(count, name) for count in self._counts] for name in ("value", "pmd"))
        return frame({"event": self.names, "count": values, "pmd": pmds}, "event")
