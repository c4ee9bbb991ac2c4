"""Types of pfmon.machine._outoforder, by file."""

from collections.abc import Mapping
from typing import Any, Self, final

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

# outoforder/core_block.pyx

@final
class CoreBlocks:
    """Blocks as an out-of-order core executes them."""

    table: BlockTable

    def __new__(cls, table: BlockTable, timings: CoreTimings, front_end: Mapping[str, Any]) -> Self: ...

# outoforder/cycle_accounting.pyx

@final
class CycleAccounting:
    """Cycles of an out-of-order core by instruction and cause; `OutOfOrderCore` makes it."""
