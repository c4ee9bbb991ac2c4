"""Runs of blocks from counters; see run_totals.pyx."""

from libc.stdint cimport uint64_t

from pfmon.engine.qemu.describe cimport Describer, area
from pfmon.stream.consumer cimport Consumer

cdef uint64_t give_totals(const area* shared, Describer describer, Consumer consumer, bint faulted,
                          uint64_t* where) except? -1
