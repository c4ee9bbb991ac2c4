from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from pfmon.counting.sample_listener import SampleListener

class Period(Protocol):
    """Number of events between two overflows of a counter."""

    @property
    def long(self) -> int: ...
    @property
    def short(self) -> int: ...
    @property
    def mask(self) -> int: ...
    @property
    def seed(self) -> int: ...

class Sampler:
    """Overflow handling of a driver."""

    extra: Callable[[], tuple[tuple[tuple[int, int], ...], tuple[int, ...]]] | None

    def __init__(
        self,
        listener: SampleListener,
        counters: Sequence[tuple[int, Period | None]],
        width: int,
        reset: Collection[int] = (),
        event_set: int = 0,
    ) -> None: ...
    def loads(self) -> list[int | None]: ...
    def sample(
        self, monitors: Sequence[int], address: int, stamp: int, retired: int, counted: Sequence[int]
    ) -> dict[int, int]: ...
