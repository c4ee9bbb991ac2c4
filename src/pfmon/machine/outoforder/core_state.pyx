"""The state of an out-of-order core between two instructions, relative to the cycle of dispatch.

It is all that later instructions depend on: when registers are ready, how much work is queued for each port, how far the
front end is ahead, and when what is in the reorder buffer and its like will leave. Times that lie behind are 0, so
states recur, and what follows from a state has to be computed once (schedule_memo.pyx).

A port takes the µops queued for it in the order of dispatch, unless they wait for operands longer than that. The reorder buffer,
the load buffer and the store buffer are left in order; so is the reservation station here, by those that wait long. The
times at which they leave are kept by groups of entries, and only while entries stay for longer than it takes to fill the
buffer: before that there is always room.
"""

from libc.string cimport memmove, memset


cdef void next_group(Occupants* buffer, const BufferSize* size) noexcept nogil:
    """Begins a group of entries, in place of the oldest one."""
    cdef int32_t i
    for i in range(size.groups - 1):
        buffer.left[i] = buffer.left[i + 1]
    buffer.left[size.groups - 1] = buffer.last
    buffer.last, buffer.entered = 0, 0


cdef void advance(CoreState* state, int32_t cycles, const BufferSize* sizes) noexcept nogil:
    cdef int16_t* times = state.registers
    cdef int16_t passed = <int16_t>min(cycles, <int32_t>32000)
    cdef int16_t left
    cdef int32_t i
    for i in range(CORE_OPERANDS + CORE_PORTS + LATE_PORTS):     # registers, ports and late
        left = times[i] - passed
        times[i] = left if left > 0 else 0
    state.retired = <int16_t>max(state.retired - passed, 0)
    state.committed = <int16_t>max(state.committed - passed, 0)
    if state.committed < state.retired:      # the next store is committed after it retired
        state.committed = 0
    for i in range(CORE_BUFFERS):
        if state.buffers[i].active:
            advance_buffer(&state.buffers[i], passed, &sizes[i])


cdef void advance_buffer(Occupants* buffer, int16_t passed, const BufferSize* size) noexcept nogil:
    """Lets cycles pass; a buffer whose entries leave soon is no longer followed."""
    cdef int16_t left
    cdef int16_t latest = 0
    cdef int32_t i
    for i in range(BUFFER_GROUPS):
        left = buffer.left[i] - passed
        buffer.left[i] = left if left > 0 else 0
        latest |= buffer.left[i]
    left = buffer.last - passed
    buffer.last = left if left > 0 else 0
    if latest == 0 and buffer.last <= size.hidden:
        memset(buffer, 0, sizeof(Occupants))
