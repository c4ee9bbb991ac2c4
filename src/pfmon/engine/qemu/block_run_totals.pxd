"""Counters of block runs; see block_run_totals.pyx."""

from libc.stdint cimport uint64_t

from pfmon.stream.consumer cimport Consumer

from pfmon.engine.qemu.block_describer cimport Describer

cdef uint64_t give_totals(Describer describer, Consumer consumer, bint faulted, uint64_t* where) except? -1
