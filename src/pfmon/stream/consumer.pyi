from pfmon.stream.failure import Failure

class Consumer:
    """A reader of the stream; the base class takes the words and does nothing."""

    @property
    def failure(self) -> Failure: ...

class EventSetConsumer(Consumer):
    """A reader that keeps what it records apart, by event set."""

class RunCounter(Consumer):
    """A reader that can be told how often blocks ran, instead of reading the stream."""
