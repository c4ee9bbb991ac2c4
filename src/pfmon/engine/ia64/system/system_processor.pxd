"""A whole processor, from privilege level 0."""

cdef class SystemProcessor(Processor):
    cdef list devices                    # the objects of SystemState.devices
    cdef ExecutableFiles executable      # what SystemState.file_pages is in; None: there are none

cdef void reset(Cpu* cpu) noexcept nogil
