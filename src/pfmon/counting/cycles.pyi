from collections.abc import Sequence

from pfmon.counting.increments import Increments
from pfmon.counting.looks import Look
from pfmon.machine.records import Records
from pfmon.stream.table import BlockTable

class CycleCounts:
    """What monitors count of what a machine records."""

    def __init__(
        self, looks: Sequence[Look], increments: Increments, table: BlockTable, records: Records, stack_rate: int
    ) -> None: ...
