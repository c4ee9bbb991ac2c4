"""The decoder's rows get the addresses of the engine's handlers (encodings/table_layout.pxd)."""

from pfmon.isa.ia64._encodings cimport load_decoder


cdef size_t handler_origin() noexcept nogil:
    """The address from which distances of handlers are measured, in the extension file that has them."""
    return <size_t>&fall_through


cdef int load_handlers() except -1:
    """Load the decoder's tables with the handlers of this process."""
    return load_decoder(handler_origin())
