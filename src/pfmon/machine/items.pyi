from pfmon.stream.consumer import EventSetConsumer

class Items(EventSetConsumer):
    """Looks at a machine's records while they are made."""
