"""Dataflow of a block, from its input registers and loads to its output registers; see dataflow.pyx."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BlockAccess, REGISTER_BITS, RegisterMasks

cdef struct OperandSource:       # sources of a value
    uint64_t registers           # at the beginning of the block
    uint64_t loads               # of the block, by number of the access; beyond 64 are not tracked

cdef struct OperandResult:       # a register written by the block
    OperandSource source
    uint32_t number

cdef struct Dataflow:            # then: the sources of each access' address (Source)
    OperandSource branch         # sources of its last instruction
    uint64_t read                # registers that are sources of anything in it
    uint64_t written
    uint32_t results
    OperandResult result[REGISTER_BITS]


cdef inline OperandSource* addresses_of(Dataflow* flow) noexcept nogil:
    return <OperandSource*>&flow.result[flow.results]


# Computes the dataflow of a block's instructions; ``addresses`` gets the sources of each access' address.
cdef void follow_block(Dataflow* flow, OperandSource* addresses, const uint8_t* operands, uint64_t stride,
                       uint32_t length,
                       const BlockAccess* accesses, uint32_t count) noexcept nogil
