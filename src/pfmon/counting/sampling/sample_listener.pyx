"""The base class of listeners for samples. It refuses none, and keeps none."""

cdef class SampleListener:
    """A subclass in Cython gets samples without the GIL. Before `on_sample`, `on_sample_extra` gets the parts of the
    sample that are Python objects: (number, value) of the registers in the sample, and the call stack."""

    def on_sample_extra(self, registers, calls):
        pass

    cdef bint on_sample(self, const Sampled* sample) noexcept nogil:
        return False

    cdef bint refuses(self) noexcept nogil:
        return False
