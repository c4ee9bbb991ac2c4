"""The data side of the memory: what the pipeline asks of it, and what it answers."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine.notes cimport Notes

cdef enum AccessKind:
    ACCESS_LOAD = 0              # integer load
    ACCESS_FLOAT_LOAD = 1
    ACCESS_STORE = 2
    ACCESS_FLOAT_STORE = 3
    ACCESS_SEMAPHORE = 4
    ACCESS_LFETCH = 5
    ACCESS_FILL = 6              # of the register stack engine
    ACCESS_SPILL = 7
    ACCESS_KINDS = 8

cdef enum AccessFlag:
    ACCESS_ACQUIRE = 1
    ACCESS_RELEASE = 2
    ACCESS_SPECULATIVE = 4       # ld.s, ld.sa
    ACCESS_ADVANCED = 8          # ld.a, ld.sa
    ACCESS_CHECK = 16            # ld.c, ldf.c: goes to memory only if the check failed
    ACCESS_EXCLUSIVE = 32        # ld.bias, lfetch.excl: the line is wanted for writing
    ACCESS_NT1 = 64              # locality hints
    ACCESS_NT2 = 128
    ACCESS_NTA = 256
    ACCESS_SPILL_FILL = 512      # ld8.fill, st8.spill

cdef enum:
    MOST_STALLS = 4

cdef struct Served:              # how an access went
    int64_t ready                # cycle from which a loaded value can be used by an integer operation
    uint32_t stalls              # reasons why the pipeline stood still before the access could be made
    uint32_t cause[MOST_STALLS]  # causes.pxd, Cause
    uint32_t cycles[MOST_STALLS]


cdef class DataMemory:
    """L1D, data TLBs, page walker, store buffer; L2 and beyond are a LowerLevels."""

    cdef bint quick(self, uint64_t address, uint32_t size, int kind, int64_t now) noexcept nogil
    cdef void note_quick(self, Notes* notes, int kind) noexcept nogil
    cdef void access(self, Notes* notes, uint64_t address, uint32_t size, int kind, uint32_t flags, int64_t now,
                     Served* out) noexcept nogil
    cdef void finish(self, int64_t now) noexcept nogil

    # Cycles from issue to use of what quick() said yes to, by kind.
    cdef int64_t quick_latency[ACCESS_KINDS]
