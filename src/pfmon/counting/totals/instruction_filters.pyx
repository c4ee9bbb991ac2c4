"""Code ranges and opcode matchers, evaluated once for each instruction of a block."""

from pfmon.stream._stream cimport Ia64Payload

cdef enum:
    BUNDLE_OFFSET = 15                  # bits of an address below its bundle's
    ALL_SLOTS = 15               # M, I, F, B


cdef bint in_code(const InstructionFilter* filter, uint64_t address) noexcept nogil:
    cdef uint32_t i
    cdef bint inside = False
    if filter.everywhere:
        return True
    for i in range(filter.pairs):
        inside |= not (address ^ filter.address[i]) & filter.mask[i]
    for i in range(filter.intervals):
        inside |= filter.low[i] <= address <= filter.high[i]
    return inside != filter.inverse


cdef bint passes(const InstructionFilter* filter, const BlockInstruction* instruction,
                 const uint8_t* payload) noexcept nogil:
    """Whether a filter passes an instruction. NULL: events of no retired instruction have neither address nor opcode,
    so only an open filter passes them."""
    cdef const Ia64Payload* code = <const Ia64Payload*>payload
    if instruction == NULL:
        return in_code(filter, NOWHERE) and (
            filter.any_opcode or (filter.opcode_mask == 0 and filter.slots & ALL_SLOTS == ALL_SLOTS))
    if not in_code(filter, instruction.address & ~<uint64_t>BUNDLE_OFFSET):
        return False
    if filter.any_opcode:
        return True
    return (filter.slots >> code.unit) & 1 and not (code.encoding ^ filter.match) & filter.opcode_mask


cdef bint is_open(const InstructionFilter* filter) noexcept nogil:
    """Whether the filter passes everything."""
    return filter.everywhere and filter.any_opcode
