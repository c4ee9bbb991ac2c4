"""Prefetch of instructions: see instruction_prefetch.pyx."""

from libc.stdint cimport int64_t, uint64_t


# Handles a taken branch to ``target``: ends the active stream; with .many begins a new one. Without an active stream
# and without .many the call may be omitted.
cdef void redirect(InstructionFetch fetch, EventLog* event_log, uint64_t target, bint many, int64_t now) noexcept nogil
# Handles brp and moves to branch registers with a prefetch hint.
cdef void hint(InstructionFetch fetch, EventLog* event_log, uint64_t target, int64_t now) noexcept nogil

cdef inline bint is_due(InstructionFetch fetch, int64_t now) noexcept nogil:
    """Whether `pump` has something to do."""
    return fetch.stream.left != 0 and fetch.stream.since <= now

# Sends the stream's requests up to now, a line a cycle.
cdef void pump(InstructionFetch fetch, EventLog* event_log, int64_t now) noexcept nogil
# Puts a line into the streaming buffer.
cdef void keep_line(InstructionFetch fetch, uint64_t line, int64_t ready, int64_t now) noexcept nogil
# Switches hardware threads: empties the PVAB and the prefetch pipeline (Montecito manual 2.4.1).
cdef void drop_prefetches(InstructionFetch fetch, int64_t now) noexcept nogil
