from collections.abc import Sequence

from pfmon.counting.call_stack import CallStack
from pfmon.counting.live import Live
from pfmon.machine.items import Items
from pfmon.stream.table import BlockTable

class LiveSets(Items):
    """Several event sets, counted live in turn."""

    def __init__(
        self, table: BlockTable, traced: bool, sets: Sequence[Live], calls: CallStack | None = None
    ) -> None: ...
    def shares(self) -> list[int]: ...
