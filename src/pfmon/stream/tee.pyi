from pfmon.stream.consumer import Consumer

class Tee(Consumer):
    """Passes the stream to two readers."""

    def __init__(self, first: Consumer, second: Consumer) -> None: ...
