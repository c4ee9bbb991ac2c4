from collections.abc import Callable, Sequence

from pfmon.counting.call_stack import CallStack
from pfmon.counting.capture_units import CaptureUnits
from pfmon.counting.increments import Increments
from pfmon.counting.record_counts import RecordCounts
from pfmon.counting.sampler import Sampler
from pfmon.machine.record_observer import RecordObserver
from pfmon.stream.block_table import BlockTable

class LiveCounting(RecordObserver):
    """A countdown to the next overflow of each counter."""

    retired: int
    stamp: int
    triggered: bool
    stopped: bool
    error: BaseException | None

    def __init__(
        self,
        table: BlockTable,
        increments: Increments,
        traced: bool,
        on_overflow: Callable[[list[int], int, int], None],
        ranges: Sequence[tuple[int, int]] | None = None,
        cycles: RecordCounts | None = None,
        calls: CallStack | None = None,
        captures: CaptureUnits | None = None,
        skid: int = 0,
        sampler: Sampler | None = None,
        times: int | None = None,
        until: int | None = None,
    ) -> None: ...
    def program(
        self,
        increments: Increments,
        ranges: Sequence[tuple[int, int]] | None = None,
        cycles: RecordCounts | None = None,
        captures: CaptureUnits | None = None,
    ) -> None: ...
    def set_ranges(self, ranges: Sequence[tuple[int, int]]) -> None: ...
    def counts(self) -> list[int]: ...
    def left_of(self) -> list[int]: ...
    def load(self, monitor: int, left: int | None) -> None: ...
    def hold_off(self, monitors: int) -> None: ...
    def freeze(self, frozen: bool) -> None: ...
