from collections.abc import Sequence

from pfmon.counting.increments import Increments
from pfmon.machine.capture_listener import CaptureListener
from pfmon.pmu.capture_setting import CaptureSetting
from pfmon.pmu.capture_values import DataCaptured, FetchCaptured, Trace
from pfmon.stream.block_table import BlockTable

class CaptureUnits(CaptureListener):
    """Event address registers and trace buffers in operation."""

    def __init__(
        self,
        table: BlockTable,
        setting: CaptureSetting,
        filters: Increments,
        ranges: Sequence[tuple[int, int]] = (),
        data_ranged: bool = False,
        seed: int = 1,
        owner: int = 0,
    ) -> None: ...
    def set_ranges(self, ranges: Sequence[tuple[int, int]]) -> None: ...
    def data(self) -> DataCaptured | None: ...
    def fetched(self) -> FetchCaptured | None: ...
    def branches(self) -> Trace: ...
    def clear(self) -> None: ...
