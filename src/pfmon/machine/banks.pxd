"""Banks of L2's data: reads of one cycle that meet in a bank go one after the other (Montecito manual 2.3.3.2).

What the memo knows of a block may not depend on the block before it, so reads of two blocks do not meet.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum:
    MOST_BANKS = 64              # a power of two
    LAST_TURN = 3                # of as many reads as there are ports

cdef struct Asked:               # the reads of a bank
    uint64_t block               # in which it was read last, as a count of blocks
    int64_t cycle
    uint32_t turn                # how many it served before the last one, in that cycle

cdef struct Banks:
    uint32_t count               # a power of two; 0: reads do not meet
    uint32_t shift               # a bank is 1 << shift bytes wide
    uint64_t block               # counts blocks
    uint32_t turn                # of the last read that was foreseen
    Asked foreseen[MOST_BANKS]   # in the cycles in which they could be made at the earliest
    Asked made[MOST_BANKS]


cdef inline void start_banks(Banks* banks, uint32_t count, uint32_t width) noexcept nogil:
    banks.count = count
    banks.shift = 0
    while <uint32_t>1 << banks.shift < width:
        banks.shift += 1
    banks.block = 1


cdef inline uint32_t turn_of(Asked* asked, uint64_t block, int64_t cycle) noexcept nogil:
    """One more read of a bank: how many come before it in its cycle."""
    if asked.block == block and asked.cycle == cycle:
        if asked.turn < LAST_TURN:
            asked.turn += 1
    else:
        asked.block, asked.cycle, asked.turn = block, cycle, 0
    return asked.turn


cdef inline void foresee_read(Banks* banks, uint64_t address, int64_t cycle) noexcept nogil:
    """A read that could be made in this cycle at the earliest; its turn is `turn`."""
    banks.turn = 0
    if banks.count:
        banks.turn = turn_of(&banks.foreseen[address >> banks.shift & (banks.count - 1)], banks.block, cycle)


cdef inline uint32_t read_bank(Banks* banks, uint64_t address, int64_t cycle) noexcept nogil:
    """A read that is made in this cycle: its turn."""
    if banks.count == 0:
        return 0
    return turn_of(&banks.made[address >> banks.shift & (banks.count - 1)], banks.block, cycle)
