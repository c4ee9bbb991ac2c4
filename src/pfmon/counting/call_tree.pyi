from pfmon.counting.cycles import CycleCounts
from pfmon.counting.increments import Increments
from pfmon.machine.items import Items
from pfmon.stream.table import BlockTable

class CallTree(Items):
    """Counts by call path."""

    def __init__(self, table: BlockTable, increments: Increments, cycles: CycleCounts) -> None: ...
    @property
    def lost(self) -> bool: ...
    def nodes(self) -> list[tuple[int, int, int, int, tuple[int, ...]]]: ...
