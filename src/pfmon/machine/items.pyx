"""The base class of those who look at a machine's records while they are made."""


cdef class Items(EventSetConsumer):
    """The base class looks away."""

    cdef void take(self, const BlockItems* block) noexcept nogil:
        pass
