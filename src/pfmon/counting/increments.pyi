from collections.abc import Sequence
from typing import Protocol

from pfmon.counting.weighed import Filter

class Counts(Protocol):
    """What one monitor counts of architecture."""

    @property
    def signal(self) -> str: ...
    @property
    def filter(self) -> Filter: ...
    @property
    def ranged(self) -> bool: ...

class Increments:
    """The increments of some monitors, compiled."""

    def __init__(self, monitors: Sequence[Counts]) -> None: ...
    def filter(self, filters: Sequence[Filter]) -> None: ...
