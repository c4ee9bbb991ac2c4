"""The machines by name, without reading their files, and the figures of one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

ITANIUMS = ("itanium", "itanium2", "montecito")
"""The in-order machines, which run IA-64 programs."""

FILES = (
    *ITANIUMS,
    "core2",
    "nehalem",
    "skylake",
    "icelake",
    "zen3",
    "zen4",
    "ppc604e",
    "itanium_ia32",
    "itanium2_ia32",
)
"""The prebuilt machines: NAME.toml."""

IN_ORDER, OUT_OF_ORDER = "in_order", "out_of_order"
"""The kinds of cores (``machine.core``): the Itaniums', and others' (docs/dev/machines.md)."""

HOST = "host"
"""The machine with the caches of the host's processor."""


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
