"""Thread switches of a pipeline: see smt_switch.pyx."""

from libc.stdint cimport int64_t, uint32_t


# Switches to the other hardware thread before the group at ``first`` issues, if that is due; returns whether it did.
cdef bint switch_out(Pipeline pipeline, const BlockExecution* run, uint32_t first) noexcept nogil
# Resumes the pipeline, which has the core after cycle ``now``.
cdef void switch_in(Pipeline pipeline, int64_t now) noexcept nogil
# Records the cycles of the switch to its thread, as those of the next instruction.
cdef void record_switch(Pipeline pipeline, const BlockExecution* run, uint32_t first) noexcept nogil
