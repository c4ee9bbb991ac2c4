from pfmon.stream.consumer import EventSetConsumer

class Items(EventSetConsumer):
    """Observes a machine's records while they are made."""
