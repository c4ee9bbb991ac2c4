from pfmon.stream.consumer import Consumer

class Splitter(Consumer):
    """Ends parts of a stream exactly where triggers, times and switches want it."""

    @property
    def retired(self) -> int: ...
