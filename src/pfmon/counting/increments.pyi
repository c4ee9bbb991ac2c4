from collections.abc import Sequence
from typing import Protocol

from pfmon.counting.weighed import Filter

class Counts(Protocol):
    """Architectural increments of one monitor."""

    @property
    def signal(self) -> str: ...
    @property
    def filter(self) -> Filter: ...
    @property
    def ranged(self) -> bool: ...

class Increments:
    """Increments of several monitors, compiled."""

    def __init__(self, monitors: Sequence[Counts]) -> None: ...
    def filter(self, filters: Sequence[Filter]) -> None: ...
