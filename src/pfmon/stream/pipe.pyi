from types import TracebackType

from pfmon.stream.shapes import Consumer, ShapeTable

class Learner(Consumer):
    """A reader that may run beside the engine."""

class Pipe(Consumer):
    """Feeds a reader in a thread of its own, and another one in the engine's."""

    lost: bool
    def __init__(
        self, shapes: ShapeTable, reader: Learner, beside: Consumer | None = None, threaded: bool = True
    ) -> None: ...
    def __enter__(self) -> Pipe: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def drain(self) -> None: ...
    def finish(self) -> None: ...
