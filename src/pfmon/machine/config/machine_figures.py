"""The figures of one machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pfmon.machine.config.catalog import IN_ORDER

Value = int | str | bool


class MachineFigures(Mapping[str, Value]):
    """A machine's figures by full name (``l3.size``): ints in bytes, cycles, entries, MHz; bools; names of policies.

    ``sources``: the source of each; ``name``: as requested by the user; ``given``: figures changed by the user;
    ``core``: its kind of core (figures.TABLES).
    """

    def __init__(self, name: str, values: dict[str, Value], sources: dict[str, str], given: Sequence[str]) -> None:
        self.name = name
        self.sources = sources
        self.given = tuple(given)
        self.core = str(values.get("machine.core", IN_ORDER))
        self._values = values

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
