from collections.abc import Sequence

from pfmon.counting.tally import Tally
from pfmon.stream.block_table import BlockTable

class DataRangeTally(Tally):
    """Totals of a traced stream, with its accesses in (address, mask) ranges."""

    def __init__(self, table: BlockTable, ranges: Sequence[tuple[int, int]]) -> None: ...
    def set_ranges(self, ranges: Sequence[tuple[int, int]]) -> None: ...
    def inside(self, number: int) -> dict[int, int]: ...
