"""Last branch records: see last_branches.pyx."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t

from pfmon.stream._stream cimport BlockTable

cdef enum:
    MAX_LAST_BRANCHES = 32

cdef struct BranchRecord:        # source 0: there is none
    uint64_t source, target
    bint mispredicted
    uint32_t kind                # its bit of MSR_LBR_SELECT
    uint64_t cycle               # in which it retired; without a machine 0
    uint32_t cycles              # since the record before; at most 16 bits

cdef struct BranchRing:          # of one thread
    BranchRecord record[MAX_LAST_BRANCHES]
    uint32_t top                 # MSR_LASTBRANCH_TOS: the record written last
    uint64_t cycle               # in which the branch recorded last retired
    BranchRecord left            # the taken branch that ended the last block, until its target begins


@cython.final
cdef class LastBranches(CallStack):
    cdef uint32_t depth
    cdef uint32_t recorded       # bits of MSR_LBR_SELECT: kinds of branches that are recorded
    cdef bint call_stack         # a return removes the record written last
    cdef bint flags_sources      # MISPRED is a bit of the sources
    cdef uint64_t sources, targets, infos        # MSR addresses of entry 0's registers; 0: there are none
    cdef uint32_t stride         # from an entry to the next one
    cdef bint shifts             # entry 0 is the latest
    cdef BranchRing ring         # of the running thread
    cdef BranchRing* rings       # of the other threads, by number
    cdef uint64_t ring_count

    cdef void record(self, uint64_t target) noexcept nogil
    cdef tuple shifted(self)
