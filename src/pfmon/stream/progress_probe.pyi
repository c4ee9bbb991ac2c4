from collections.abc import Callable

from pfmon.stream.consumer import Consumer

class ProgressProbe(Consumer):
    """Passes the stream on to a reader, and calls a probe between two buffers."""

    error: Exception | None

    def __init__(self, reader: Consumer, look: Callable[[], object]) -> None: ...
    def request_snapshot(self) -> None: ...
