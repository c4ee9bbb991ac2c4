from collections.abc import Iterable, Iterator
from enum import IntFlag

class BubbleKind(IntFlag):
    BUBBLE_BACK = 0
    BUBBLE_FRONT = 1
    BUBBLE_IDEAL = 2
    BUBBLE_LOST = 3
    BUBBLE_ENTRANCE = 4

Part = tuple[int | None, int, int, int, tuple[tuple[int, int, int, int], ...]]
"""Block, first and last instruction, executed ones, events: (instruction, occurrence, in the data ranges, times)."""

class Records:
    """Issue groups and lost cycles, in some event sets or in all."""

    lost: bool
    max_records: int

    def cycles_with_issue(self, event_sets: Iterable[int] | None = None) -> int: ...
    def bubbles(self, kind: int, event_sets: Iterable[int] | None = None) -> list[tuple[int | None, int, int, int]]: ...
    def groups(self, event_sets: Iterable[int] | None = None) -> Iterator[tuple[tuple[Part, ...], int]]: ...
    def occurrences(self, event_sets: Iterable[int] | None = None) -> dict[tuple[int | None, int, int, int], int]: ...
    def dispersal(self, event_sets: Iterable[int] | None = None) -> Iterator[tuple[int, int, int, int]]: ...
    def sizes(self) -> tuple[int, int, int]: ...
