from collections.abc import Sequence

from pfmon.counting.conditions import Condition
from pfmon.counting.increments import Increments
from pfmon.machine.interval.cycle_watch import CycleWatch
from pfmon.stream.table import BlockTable

FIRST_OCCURRENCE: int
MOST_CONDITIONS: int

class CycleConditions(CycleWatch):
    """Counters of cycles in which a condition holds."""

    def __init__(
        self, conditions: Sequence[Condition | None], increments: Increments, table: BlockTable, owner: int
    ) -> None: ...
