from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from pfmon.stream.consumer import Consumer
from pfmon.stream.failure import Failure
from pfmon.stream.ring_pair import RingPair
from pfmon.stream.second_thread import SecondThread

class HasJoin(Protocol):
    """A thread or process to join when a ring has been read."""

    def join(self) -> None: ...

class Ring:
    """Buffers in memory that two threads or two processes share."""

    descriptor: int | None

    def __init__(self, attach: int | None = None) -> None: ...
    @property
    def failure(self) -> Failure: ...
    def close_descriptor(self) -> None: ...
    def read_into(self, consumer: Consumer) -> None: ...
    def finish(self) -> None: ...
    def drain(self) -> None: ...
    def belong_to(self, pair: RingPair, number: int) -> None: ...

class RingWriter(Consumer):
    """The writer's side of a ring."""

    def __init__(self, ring: Ring) -> None: ...

class Pipe(Consumer):
    """Feeds ``reader`` in a thread of its own, and ``beside`` in the engine's."""

    def __init__(
        self,
        reader: Consumer,
        beside: Consumer | None = None,
        threaded: bool = True,
        read: Callable[[Ring, Consumer], HasJoin] | None = None,
        second: SecondThread | None = None,
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def finish(self) -> None: ...
    def drain(self) -> None: ...
