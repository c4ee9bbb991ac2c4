from pfmon.stream.table import BlockTable

class CallStack:
    """The calls that a program is in."""

    def __init__(self, table: BlockTable, traced: bool = False) -> None: ...
    def sites(self) -> tuple[int, ...]: ...
