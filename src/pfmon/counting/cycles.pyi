from collections.abc import Sequence
from enum import IntFlag

from pfmon.counting.increments import Increments
from pfmon.counting.looks import Look
from pfmon.machine.records import Records
from pfmon.stream.table import BlockTable

class Way(IntFlag):
    NOT_HERE = 0
    OCCURRENCES = 1
    CYCLES = 2
    BUBBLES = 3
    DISPERSAL = 4
    SUMS = 5

class CycleCounts:
    """Increments of monitors from machine records."""

    def __init__(
        self, looks: Sequence[Look], increments: Increments, table: BlockTable, records: Records, stack_rate: int
    ) -> None: ...
