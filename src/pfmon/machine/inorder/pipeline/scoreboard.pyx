"""Results in flight: renaming by rotation, and lists independent of the cycle and of the frame's position."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t

cdef enum:
    MAX_AHEAD = 1 << 24           # maximum cycles from now on in a list


cdef void forget_old(Scoreboard* board, int64_t now) noexcept nogil:
    """Removes results available to all operations from the list of recent ones."""
    cdef uint32_t i, kept = 0
    cdef uint16_t index
    for i in range(board.recent_count):
        index = board.recent[i]
        if board.time[index] + board.longest[board.operation[index]] > now:
            board.recent[kept] = index
            kept += 1
        else:
            board.listed[index] = 0
    board.recent_count = kept


cdef void forget_all(Scoreboard* board) noexcept nogil:
    cdef uint32_t i
    for i in range(board.recent_count):
        board.listed[board.recent[i]] = 0
        board.time[board.recent[i]] = 0
    board.recent_count = 0


cdef uint16_t to_pending(uint16_t index, uint32_t base) noexcept nogil:
    """Converts a scoreboard index to Pending.register."""
    if index >= RING_FIRST and index < RING_FIRST + RING:
        return <uint16_t>(RING_FIRST + ((index - RING_FIRST - base) & (RING - 1)))
    return index


cdef uint16_t from_pending(uint16_t register, uint32_t base) noexcept nogil:
    """Converts Pending.register to a scoreboard index."""
    if register >= RING_FIRST and register < RING_FIRST + RING:
        return <uint16_t>(RING_FIRST + ((register - RING_FIRST + base) & (RING - 1)))
    return register


cdef bint pending_results(Scoreboard* board, int64_t now, uint32_t base, Pending* pending,
                          uint8_t* count) noexcept nogil:
    """Lists the results in flight, by register, so that equal ones are equal bytes; False when they are too many."""
    cdef uint32_t i, k
    cdef Pending one
    cdef uint16_t index
    forget_old(board, now)       # the next instruction may still issue in this cycle
    count[0] = 0
    if board.recent_count > MAX_PENDING_RESULTS:
        return False
    for i in range(board.recent_count):
        index = board.recent[i]
        if board.time[index] - now > MAX_AHEAD:
            return False
        one.register = to_pending(index, base)
        one.operation = board.operation[index]
        one.spare = 0
        one.after = <int32_t>(board.time[index] - now)
        k = count[0]
        while k > 0 and pending[k - 1].register > one.register:
            pending[k] = pending[k - 1]
            k -= 1
        pending[k] = one
        count[0] += 1
    return True


cdef void resume_results(Scoreboard* board, int64_t now, uint32_t base, const Pending* pending,
                         uint8_t count) noexcept nogil:
    """Restores the results of a list."""
    cdef uint32_t i
    forget_all(board)
    board.horizon = 0
    for i in range(count):
        write_register(board, from_pending(pending[i].register, base), pending[i].operation, now + pending[i].after)


cdef void rotate_board(Scoreboard* board, int64_t now, uint32_t base, int64_t rotating) noexcept nogil:
    """Renames registers; ``rotating``: general registers that rotate."""
    cdef Pending moved[REGISTER_COUNT]
    cdef uint32_t i, count = board.recent_count
    cdef uint16_t index
    for i in range(count):
        index = board.recent[i]
        moved[i].register = rotated(to_pending(index, base), rotating)
        moved[i].operation = board.operation[index]
        moved[i].after = <int32_t>(board.time[index] - now)
    forget_all(board)
    for i in range(count):
        write_register(board, from_pending(moved[i].register, base), moved[i].operation, now + moved[i].after)
