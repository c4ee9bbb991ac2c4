"""Counters of block runs; see block_run_totals.pyx."""

from libc.stdint cimport uint64_t

from pfmon.stream._stream cimport Consumer


cdef uint64_t pass_totals(Describer describer, Consumer consumer, bint faulted, uint64_t* where) except? -1
