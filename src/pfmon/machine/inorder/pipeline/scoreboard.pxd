"""The scoreboard: the cycles in which the results of earlier instructions become available."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t

from pfmon.isa.ia64._encodings cimport (
    FR_FIRST, OPERATIONS, PR_ALL, PR_FIRST, REGISTER_COUNT, RING, RING_FIRST, STACKED, USES)

cdef enum:
    MAX_PENDING_RESULTS = 48

cdef struct Pending:             # a result not yet available to all operations
    uint16_t register            # scoreboard index; in the ring: RING_FIRST + number of registers above r32
    uint8_t operation
    uint8_t spare
    int32_t after                # cycles from now on

cdef struct Scoreboard:
    int64_t time[REGISTER_COUNT]      # cycle of issue; for loads: from which an integer operation can use the value
    uint8_t operation[REGISTER_COUNT]
    uint8_t listed[REGISTER_COUNT]    # is in `recent`
    uint16_t recent[REGISTER_COUNT]   # registers that may have results in flight
    uint32_t recent_count
    int64_t horizon              # from this cycle on all results are available to all operations
    int32_t latency[OPERATIONS][USES]
    int32_t longest[OPERATIONS]


cdef inline uint16_t scoreboard_index(uint16_t register, uint32_t base) noexcept nogil:
    """Returns the scoreboard index of a step's register."""
    if register & STACKED:
        return <uint16_t>(RING_FIRST + ((register + base) & (RING - 1)))
    return register


cdef inline void write_register(Scoreboard* board, uint16_t index, uint8_t operation, int64_t time) noexcept nogil:
    board.time[index] = time
    board.operation[index] = operation
    if not board.listed[index]:
        board.listed[index] = 1
        board.recent[board.recent_count] = index
        board.recent_count += 1
    if time + board.longest[operation] > board.horizon:
        board.horizon = time + board.longest[operation]
    if index >= PR_FIRST and index < PR_FIRST + 64 and (
            not board.listed[<int>PR_ALL] or board.time[<int>PR_ALL] < time):
        write_register(board, PR_ALL, operation, time)


cdef inline int64_t usable(const Scoreboard* board, uint16_t index, uint8_t use) noexcept nogil:
    """Returns the cycle from which a register can be used."""
    return board.time[index] + board.latency[board.operation[index]][use]


cdef inline uint16_t rotated(uint16_t register, int64_t rotating) noexcept nogil:
    """Returns a register's index (Pending.register) after a rotation; ``rotating``: number of rotating GRs."""
    if register >= RING_FIRST and register < RING_FIRST + rotating:
        return <uint16_t>(RING_FIRST + (register - RING_FIRST + 1) % rotating)
    if register >= FR_FIRST + 32 and register < FR_FIRST + 128:
        return <uint16_t>(FR_FIRST + 32 + (register - FR_FIRST - 32 + 1) % 96)
    if register >= PR_FIRST + 16 and register < PR_FIRST + 64:
        return <uint16_t>(PR_FIRST + 16 + (register - PR_FIRST - 16 + 1) % 48)
    return register


cdef void rotate_board(Scoreboard* board, int64_t now, uint32_t base, int64_t rotating) noexcept nogil
cdef bint pending_results(Scoreboard* board, int64_t now, uint32_t base, Pending* pending,
                          uint8_t* count) noexcept nogil
cdef void resume_results(Scoreboard* board, int64_t now, uint32_t base, const Pending* pending,
                         uint8_t count) noexcept nogil
