from collections.abc import Sequence
from enum import IntFlag

from pfmon.counting.increments import Increments
from pfmon.counting.record_query import RecordQuery
from pfmon.machine.records import Records
from pfmon.stream.block_table import BlockTable

class QueryKind(IntFlag):
    NOT_HERE = 0
    OCCURRENCES = 1
    CYCLES = 2
    BUBBLES = 3
    DISPERSAL = 4
    SUMS = 5

class RecordCounts:
    """Increments of monitors from machine records."""

    def __init__(
        self,
        queries: Sequence[RecordQuery],
        increments: Increments,
        table: BlockTable,
        records: Records,
        stack_rate: int,
    ) -> None: ...
