from collections.abc import Callable, Sequence

from pfmon.stream.block_table import BlockTable
from pfmon.stream.consumer import Consumer, EventSetConsumer
from pfmon.stream.splitter import Splitter

class Gate(Splitter):
    """Passes the stream on to one of its readers, and to a witness, while counting is on; a machine gets all of it."""

    next_address: int
    error: BaseException | None

    def __init__(
        self,
        table: BlockTable,
        readers: Sequence[Consumer],
        *,
        traced: bool,
        code: Sequence[int] = ...,
        data: Sequence[tuple[int, bool, bool]] = ...,
        actions: Sequence[tuple[bool, int, bool]] = ...,
        whole_calls: Sequence[int] = ...,
        on: bool = ...,
        up: bool | None = ...,
        witness: Consumer | None = ...,
        machine: EventSetConsumer | None = ...,
        by_thread: bool = ...,
        due: int | None = ...,
        on_due: Callable[[], int | None] | None = ...,
    ) -> None: ...
    def choose(self, place: int) -> None: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    @property
    def counting(self) -> bool: ...
    def steer(self, on: bool, up: bool | None) -> None: ...
    def stop_at(self, retired: int) -> None: ...
    def reached(self) -> list[int]: ...
