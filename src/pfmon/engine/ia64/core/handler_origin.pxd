"""See handler_origin.pyx."""

cdef size_t handler_origin() noexcept nogil
cdef int load_handlers() except -1
