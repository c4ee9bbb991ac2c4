from pfmon.stream.pipe import Learner
from pfmon.stream.shapes import Consumer

class Recorder(Learner):
    """Keeps the words of a stream."""

    lost: bool

    def __init__(self) -> None: ...
    def words(self) -> list[int]: ...
    def replay(self, consumer: Consumer) -> None: ...
