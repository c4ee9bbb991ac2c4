from collections.abc import Sequence
from typing import Protocol

from pfmon.counting.filtered_signal import InstructionFilter

class MonitorCounts(Protocol):
    """Architectural increments of one monitor."""

    @property
    def signal(self) -> str: ...
    @property
    def filter(self) -> InstructionFilter: ...
    @property
    def ranged(self) -> bool: ...

class Increments:
    """Increments of several monitors, compiled."""

    def __init__(self, monitors: Sequence[MonitorCounts]) -> None: ...
    def filter(self, filters: Sequence[InstructionFilter]) -> None: ...
