from pfmon.stream.consumer import EventSetConsumer

class RecordObserver(EventSetConsumer):
    """Observes a machine's records while they are made."""
