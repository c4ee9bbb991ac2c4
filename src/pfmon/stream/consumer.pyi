from pfmon.stream.failure import Failure

class Consumer:
    """A reader of the stream; the base class takes the words and does nothing."""

    @property
    def failure(self) -> Failure: ...

class EventSetConsumer(Consumer):
    """A reader that records separately for each event set."""

class RunCounter(Consumer):
    """A reader that accepts how often blocks ran instead of the stream."""
