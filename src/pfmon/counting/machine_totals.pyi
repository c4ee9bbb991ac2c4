from collections.abc import Mapping, Sequence

from pfmon.counting.count_accumulator import CountAccumulator
from pfmon.counting.increments import Increments
from pfmon.counting.record_query import RecordQuery
from pfmon.machine.interval.interval_machine import IntervalMachine
from pfmon.machine.machine import Machine
from pfmon.stream.block_table import BlockTable

class MachineTotals:
    """Counts of monitors over all records of a machine."""

    def __init__(
        self,
        machine: Machine | IntervalMachine,
        queries: Sequence[RecordQuery],
        increments: Increments,
        table: BlockTable,
        stack_rate: int,
    ) -> None: ...
    def add(self, sink: CountAccumulator, event_sets: Sequence[int] | None = None) -> None: ...

def level_total(levels: Mapping[str, Sequence[int]], term: str, threshold: int = 0) -> int: ...
