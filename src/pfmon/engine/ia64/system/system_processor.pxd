"""A whole processor, from privilege level 0."""

cdef class SystemProcessor(Processor):
    cdef list devices                    # the objects of SystemState.devices

cdef void reset(Cpu* cpu) noexcept nogil
