"""The base class of what is told of samples. It wants all, and keeps none."""


cdef class SampleListener:
    """A subclass in Cython takes samples without the GIL. ``beside`` is what only Python has of a sample: it is called
    before `take`, with (number, value) of the registers that are in the sample, and the calls that the program is in."""

    def beside(self, registers, calls):
        pass

    cdef bint take(self, const Sampled* sample) noexcept nogil:
        return False

    cdef bint refuses(self) noexcept nogil:
        return False
