"""The instruction side of the memory: L1I, instruction TLBs, prefetch, streaming buffer."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine.notes cimport Notes

cdef enum:
    WINDOW = 32                  # bytes that are fetched together: a pair of bundles

cdef struct Fetched:
    int64_t ready                # cycle in which the window is there
    uint32_t cause               # causes.pxd, FrontCause, if it is later than asked for
    uint32_t second_cause        # a part of the wait may have another cause (a TLB miss, then a cache miss)
    uint32_t second_cycles


cdef class InstructionFetch:
    """What the front end reads its bundles from."""

    # Whether the window's line is in L1I and its page in the first-level TLB: then it is there when it is asked for.
    cdef bint quick(self, uint64_t address, int64_t now) noexcept nogil
    cdef void note_quick(self, Notes* notes) noexcept nogil
    cdef void fetch(self, Notes* notes, uint64_t address, int64_t now, Fetched* out) noexcept nogil
    # A taken branch with its hints sends the front end to ``target``: flow and streaming prefetch.
    cdef void redirect(self, Notes* notes, uint64_t target, bint many, int64_t now) noexcept nogil
    # brp and move to branch register with a prefetch hint.
    cdef void hint(self, Notes* notes, uint64_t target, int64_t now) noexcept nogil
    cdef void finish(self, int64_t now) noexcept nogil
