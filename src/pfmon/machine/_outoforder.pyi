"""Types of pfmon.machine._outoforder, by file."""

from collections.abc import Iterable, Mapping
from typing import Any, Self, final

from pfmon.machine.captured_timelines import Captured
from pfmon.machine.config.core_timings import CoreTimings
from pfmon.stream._stream import BlockTable

# outoforder/core.pyx

@final
class OutOfOrderCore:
    """An out-of-order core; ``graphs``: False: each part of a block is executed."""

    executed: int
    from_graphs: int

    def __new__(cls, graphs: bool = True) -> Self: ...
    def set_figures(self, figures: Mapping[str, Any]) -> None: ...
    @property
    def ticks(self) -> int: ...
    def keep_timeline(self, timeline: CoreTimeline) -> None: ...

# outoforder/core_block.pyx

@final
class CoreBlocks:
    """Blocks as an out-of-order core executes them."""

    table: BlockTable

    def __new__(cls, table: BlockTable, timings: CoreTimings, front_end: Mapping[str, Any]) -> Self: ...

# outoforder/core_timeline.pyx

@final
class CoreTimeline:
    """The timeline of hot blocks on an out-of-order core."""

    def __new__(
        cls,
        blocks: CoreBlocks,
        ranges: Iterable[tuple[int, int]] = (),
        iterations: int = 4,
        rows: int = 1024,
        captures: int = 64,
    ) -> Self: ...
    def captured(self, core: OutOfOrderCore) -> list[Captured]: ...
    def units_of(self, number: int) -> list[dict[int, int]]: ...
    def slots_of(self, number: int) -> list[int]: ...

# outoforder/cycle_accounting.pyx

@final
class CycleAccounting:
    """Cycles of an out-of-order core by instruction and cause; `OutOfOrderCore` makes it."""
