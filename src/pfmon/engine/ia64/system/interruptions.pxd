"""Delivery of interruptions (volume 2, 5.5)."""

from libc.stdint cimport uint32_t, uint64_t

cdef bint deliver(Cpu* cpu, int number, Instruction* ins) noexcept nogil
cdef void deliver_external(Cpu* cpu) noexcept nogil
