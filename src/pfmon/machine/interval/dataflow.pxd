"""What flows through a block, from the registers at its beginning and its loads to those at its end; see dataflow.pyx."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from pfmon.stream.operands cimport REGISTER_BITS, Operands
from pfmon.stream.table cimport BlockAccess

cdef struct Source:              # of a value
    uint64_t registers           # as they are when the block begins
    uint64_t loads               # of the block, by number of the access; beyond 64 are not followed

cdef struct Result:              # a register that the block writes
    Source source
    uint32_t number

cdef struct Dataflow:            # then: what the address of each access comes from (Source)
    Source branch                # what its last instruction reads
    uint64_t read                # registers that anything of it comes from
    uint64_t written
    uint32_t results
    Result result[REGISTER_BITS]


cdef inline Source* addresses_of(Dataflow* flow) noexcept nogil:
    return <Source*>&flow.result[flow.results]


# Follow the instructions of a block; ``addresses`` gets what the address of each access comes from.
cdef void follow_block(Dataflow* flow, Source* addresses, const uint8_t* operands, uint64_t stride, uint32_t length,
                       const BlockAccess* accesses, uint32_t count) noexcept nogil
