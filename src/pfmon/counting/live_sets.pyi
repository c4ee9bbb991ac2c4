from collections.abc import Sequence

from pfmon.counting.call_stack import CallStack
from pfmon.counting.live_counting import LiveCounting
from pfmon.machine.record_observer import RecordObserver
from pfmon.stream.block_table import BlockTable

class LiveSets(RecordObserver):
    """Several event sets, counted live in turn."""

    def __init__(
        self, table: BlockTable, traced: bool, sets: Sequence[LiveCounting], calls: CallStack | None = None
    ) -> None: ...
    def shares(self) -> list[int]: ...
