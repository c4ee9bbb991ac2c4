from collections.abc import Callable
from typing import Any

from pfmon.counting.sample_listener import SampleListener

class SampleBuffer(SampleListener):
    """Samples kept until a buffer is full."""

    lost: int
    out_of_memory: bool

    def __init__(
        self,
        make: Callable[[tuple[Any, ...], int], object],
        on_buffer: Callable[[list[Any]], None],
        entries: int,
        saturate: bool = False,
    ) -> None: ...
    def give(self) -> None: ...
