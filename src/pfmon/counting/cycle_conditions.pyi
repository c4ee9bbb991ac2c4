from collections.abc import Sequence

from pfmon.counting.counter_conditions import Condition
from pfmon.counting.increments import Increments
from pfmon.machine.interval.cycle_listener import CycleListener
from pfmon.stream.block_table import BlockTable

FIRST_OCCURRENCE: int
MAX_CYCLE_CONDITIONS: int

class CycleConditions(CycleListener):
    """Counters of cycles in which a condition holds."""

    def __init__(
        self, conditions: Sequence[Condition | None], increments: Increments, table: BlockTable, owner: int
    ) -> None: ...
