"""Thread switches of a pipeline: see thread_turns.pyx."""

from libc.stdint cimport int64_t, uint32_t

from pfmon.machine.pipeline cimport Pipeline
from pfmon.machine.run cimport Run

# Switches to the other hardware thread before the group at ``first`` issues, if that is due; returns whether it did.
cdef bint give_way(Pipeline pipeline, const Run* run, uint32_t first) noexcept nogil
# Resumes the pipeline, which has the core after cycle ``now``.
cdef void come_back(Pipeline pipeline, int64_t now) noexcept nogil
# Records the cycles of the switch to its thread, as those of the next instruction.
cdef void record_switch(Pipeline pipeline, const Run* run, uint32_t first) noexcept nogil
