"""The history of a block for timelines, and which blocks have a place for one: those with most time so far."""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

cdef enum:
    MAX_CAPTURES = 64
    RECAPTURED = 4               # times as many executions of a block, then it is captured anew
    LONG_ITERATION = 256         # instructions of an iteration, then another block that is due may be captured instead

cdef struct BlockHistory:        # of a block, since the beginning
    uint64_t runs
    uint64_t time                # ticks by which retirement proceeded; in order: cycles
    uint64_t due                 # the execution with which it is captured next
    uint8_t wanted               # it is in a range that is looked at
    uint8_t place                # of its capture, + 1; 0: it has none
    uint8_t gave_up              # its capture, for another block: the next one goes on to its end


cdef inline int32_t find_place(BlockHistory** kept, uint32_t* count, uint32_t capacity, BlockHistory* history) noexcept nogil:
    """Finds the place of a block's capture, one that is free, or that of the block with least time; negative: all others have more.
    The block is captured anew when it has run four times as often."""
    cdef uint32_t least = 0, i
    history.due = history.runs * RECAPTURED
    if history.place:
        return history.place - 1
    if count[0] < capacity:
        least = count[0]
        count[0] += 1
    else:
        for i in range(1, capacity):
            if kept[i].time < kept[least].time:
                least = i
        if kept[least].time >= history.time:
            return -1
        kept[least].place = 0
    kept[least] = history
    history.place = <uint8_t>(least + 1)
    return <int32_t>least


cdef inline bint overlaps(const uint64_t* ranges, uint32_t count, uint64_t first, uint64_t last) noexcept nogil:
    """Tests whether code is in one of the ranges, of a first address and the one behind; none: it is."""
    cdef uint32_t i
    for i in range(count):
        if ranges[2 * i] <= last and first < ranges[2 * i + 1]:
            return True
    return count == 0


cdef inline bint gives_up(BlockHistory* history, uint32_t iterations, uint32_t rows) noexcept nogil:
    """Tests whether the capture of a block gives up for another block: it has not run again for long. Then it is due with its next
    execution."""
    if iterations > 1 or rows < LONG_ITERATION or history.gave_up:
        return False
    history.gave_up, history.due = True, history.runs + 1
    return True


cdef inline bint is_better(bint same_block, uint32_t iterations, bint whole, uint32_t iterations_before, bint whole_before) noexcept nogil:
    """Tests whether a capture takes the place of the one before: of another block, or with a whole iteration, unless that has none either."""
    return not same_block or whole or iterations > 1 or not (whole_before or iterations_before > 1)
