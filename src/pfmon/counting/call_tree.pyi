from pfmon.counting.increments import Increments
from pfmon.counting.record_counts import RecordCounts
from pfmon.machine.record_observer import RecordObserver
from pfmon.stream.block_table import BlockTable

class CallTree(RecordObserver):
    """Counts by call path."""

    def __init__(self, table: BlockTable, increments: Increments, cycles: RecordCounts) -> None: ...
    @property
    def lost(self) -> bool: ...
    def nodes(self) -> list[tuple[int, int, int, int, tuple[int, ...]]]: ...
