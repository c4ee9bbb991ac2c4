"""Prefetch of instructions: see prefetch.pyx."""

from libc.stdint cimport int64_t, uint64_t

from pfmon.machine.fetch cimport InstructionFetch
from pfmon.machine.notes cimport Notes

# A taken branch with its hints sends the front end to ``target``: it ends a stream (without one, and without many, there
# is no need to call this), and with many begins one.
cdef void redirect(InstructionFetch fetch, Notes* notes, uint64_t target, bint many, int64_t now) noexcept nogil
# brp and move to branch register with a prefetch hint.
cdef void hint(InstructionFetch fetch, Notes* notes, uint64_t target, int64_t now) noexcept nogil

cdef inline bint is_due(InstructionFetch fetch, int64_t now) noexcept nogil:
    """Whether there is something for `pump`."""
    return fetch.stream.left != 0 and fetch.stream.since <= now

# What the stream asked for up to now, a line a cycle.
cdef void pump(InstructionFetch fetch, Notes* notes, int64_t now) noexcept nogil
# A line comes to the streaming buffer.
cdef void keep_line(InstructionFetch fetch, uint64_t line, int64_t ready, int64_t now) noexcept nogil
# Another hardware thread gets the core: the PVAB and the prefetch pipeline are emptied (Montecito manual 2.4.1).
cdef void drop_prefetches(InstructionFetch fetch, int64_t now) noexcept nogil
