"""A pipeline of two on a core: see thread_turns.pyx."""

from libc.stdint cimport int64_t, uint32_t

from pfmon.machine.pipeline cimport Pipeline
from pfmon.machine.run cimport Run

# The other hardware thread gets the core before the group at ``first`` issues, if that is due; whether it did.
cdef bint give_way(Pipeline pipeline, const Run* run, uint32_t first) noexcept nogil
# The pipeline has the core behind cycle ``now``.
cdef void come_back(Pipeline pipeline, int64_t now) noexcept nogil
# The cycles of the switch to its thread are recorded, as those of the next instruction.
cdef void record_switch(Pipeline pipeline, const Run* run, uint32_t first) noexcept nogil
