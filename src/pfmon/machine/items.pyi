from pfmon.stream.consumer import Consumer

class Items(Consumer):
    """Looks at a machine's records while they are made."""
