"""What branch registers hold, as far as branches through them show: the stream has no values of registers."""

from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    NOT_SHOWN = 1                # no target: these are multiples of 16

cdef struct BranchRegisters:
    uint64_t value[8]            # as the last branch through it showed; NOT_SHOWN: none did since it was written
    uint64_t before[8]           # what it held before it was written last


cdef inline void start_branch_registers(BranchRegisters* registers) noexcept nogil:
    cdef int i
    for i in range(8):
        registers.value[i] = registers.before[i] = NOT_SHOWN


cdef inline void branch_register_written(BranchRegisters* registers, uint32_t number) noexcept nogil:
    registers.before[number] = registers.value[number]
    registers.value[number] = NOT_SHOWN


cdef inline bint goes_elsewhere(BranchRegisters* registers, uint32_t number, uint64_t target) noexcept nogil:
    """A branch through the register goes to ``target``: whether what it held before it was written last leads elsewhere,
    or is not known."""
    registers.value[number] = target
    return registers.before[number] != target
