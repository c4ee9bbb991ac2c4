"""The base class of observers of a machine's records."""


cdef class Items(EventSetConsumer):
    """The base class ignores them."""

    cdef void take(self, const BlockItems* block) noexcept nogil:
        pass
