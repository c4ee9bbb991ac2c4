"""The base class of observers of a machine's records."""

cdef class RecordObserver(EventSetConsumer):
    """The base class ignores them."""

    cdef void on_block(self, const ObservedBlock* block) noexcept nogil:
        pass
