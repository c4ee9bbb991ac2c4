"""Tables whose entries are parsed on first use, since a run needs few of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

Value = TypeVar("Value")


class LazyMap(Mapping[str, "Value"]):
    """A mapping from names to ``make(text)``, computed on first use."""

    def __init__(self, texts: Mapping[str, str], make: Callable[[str], Value]) -> None:
        self._texts = texts
        self._make = make
        self._made: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        if name not in self._made:
            self._made[name] = self._make(self._texts[name])
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)
