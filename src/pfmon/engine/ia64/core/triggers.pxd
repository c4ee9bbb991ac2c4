"""Triggers of code and of data."""

from libc.stdint cimport uint16_t, uint64_t

from pfmon.engine.ia64.core.blocks cimport Blocks
from pfmon.engine.ia64.core.cpu cimport Cpu, Op
from pfmon.engine.ia64.encodings.decoder cimport Row

cdef bint is_trigger(Blocks* blocks, uint64_t ip) noexcept nogil
cdef void announce(Cpu* cpu, Blocks* blocks) noexcept nogil
cdef int watch(Cpu* cpu, Op* op) noexcept nogil
cdef uint16_t watched_kinds(Row* row) noexcept nogil
