from collections.abc import Callable

from pfmon.stream.block_table import BlockTable
from pfmon.stream.consumer import Consumer

class Encoder(Consumer):
    """Writes the stream as chunks of bytes; ``reader`` gets it too, without its addresses."""

    def __init__(
        self,
        table: BlockTable,
        traced: bool,
        on_chunk: Callable[[bytes, bytes], None],
        reader: Consumer | None = None,
    ) -> None: ...
    words: int
    error: BaseException | None

    def finish(self) -> None: ...

class Decoder:
    """Decodes chunks into a stream for a consumer."""

    def __init__(self, table: BlockTable, traced: bool, addresses: bool) -> None: ...
    words: int

    def decode(self, chunk: bytes, consumer: Consumer) -> None: ...

def blocks_from(table: BlockTable, first: int) -> bytes: ...
def enter_blocks(table: BlockTable, data: bytes) -> None: ...
