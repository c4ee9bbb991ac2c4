from pfmon.stream.block_table import BlockTable

class CallStack:
    """The call stack of a program."""

    def __init__(self, table: BlockTable, traced: bool = False) -> None: ...
    def sites(self) -> tuple[int, ...]: ...
