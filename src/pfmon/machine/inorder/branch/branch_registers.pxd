"""Contents of branch registers, inferred from the targets of branches: the stream has no register values."""

from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    NOT_SHOWN = 1                # no target: these are multiples of 16

cdef struct BranchRegisters:
    uint64_t value[8]            # revealed by the last branch through it; NOT_SHOWN: none since it was written
    uint64_t before[8]           # value before the last write


cdef inline void start_branch_registers(BranchRegisters* registers) noexcept nogil:
    cdef int i
    for i in range(8):
        registers.value[i] = registers.before[i] = NOT_SHOWN


cdef inline void branch_register_written(BranchRegisters* registers, uint32_t number) noexcept nogil:
    registers.before[number] = registers.value[number]
    registers.value[number] = NOT_SHOWN


cdef inline bint target_differs(BranchRegisters* registers, uint32_t number, uint64_t target) noexcept nogil:
    """Whether the register's value before its last write differs from ``target``, the target of a branch through it,
    or is unknown."""
    registers.value[number] = target
    return registers.before[number] != target
