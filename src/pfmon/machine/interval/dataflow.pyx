"""The dataflow of a block, computed once: so dependences on a load that missed are known per block, not instruction by
instruction."""

from libc.string cimport memset

cdef extern from *:
    """
    #define pfmon_lowest_bit(bits) __builtin_ctzll(bits)
    """
    int lowest_bit "pfmon_lowest_bit"(uint64_t) nogil

cdef enum:
    MAX_TRACKED_LOADS = 64


cdef void join(OperandSource* to, const OperandSource* registers, uint64_t wanted) noexcept nogil:
    """Joins the sources of some registers."""
    to.registers = to.loads = 0
    while wanted:
        to.registers |= registers[lowest_bit(wanted)].registers
        to.loads |= registers[lowest_bit(wanted)].loads
        wanted &= wanted - 1


cdef void follow_block(Dataflow* flow, OperandSource* addresses, const uint8_t* operands, uint64_t stride,
                       uint32_t length,
                       const BlockAccess* accesses, uint32_t count) noexcept nogil:
    cdef OperandSource registers[REGISTER_BITS]
    cdef OperandSource source
    cdef const RegisterMasks* one
    cdef uint64_t left
    cdef uint32_t i, k = 0
    for i in range(REGISTER_BITS):
        registers[i].registers, registers[i].loads = <uint64_t>1 << i, 0
    memset(flow, 0, sizeof(Dataflow))
    for i in range(length):
        one = <const RegisterMasks*>(operands + i * stride)
        join(&source, registers, one.read)
        while k < count and accesses[k].instruction == i:
            join(&addresses[k], registers, one.addressed)
            flow.read |= addresses[k].registers
            source.loads |= <uint64_t>1 << k if k < MAX_TRACKED_LOADS else 0
            k += 1
        left = one.written
        flow.written |= left
        while left:
            registers[lowest_bit(left)] = source
            left &= left - 1
        if i == length - 1:
            flow.branch = source
    left = flow.written
    while left:
        flow.result[flow.results].source = registers[lowest_bit(left)]
        flow.result[flow.results].number = lowest_bit(left)
        flow.read |= registers[lowest_bit(left)].registers
        flow.results += 1
        left &= left - 1
    flow.read |= flow.branch.registers
