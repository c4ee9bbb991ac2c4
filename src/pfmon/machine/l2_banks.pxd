"""Banks and tag ports of L2: each bank of the data array serves one read per cycle, each tag port one access per cycle
(Montecito manual 2.1.2, 2.3.3.2).

An access that conflicts on its bank or finds no free port is reissued. It occupies bank and port in its final cycle of
issue, where it conflicts with the accesses of that cycle.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum:
    MAX_BANKS = 64               # a power of two
    NO_BANK = MAX_BANKS          # a turn that takes a tag port alone
    UNLIMITED_PORTS = 64              # as many as no cycle asks for
    MAX_BANK_REISSUES = 3                # of as many reads of a cycle as the tags have ports
    MAX_ISSUED_ACCESSES = 128             # that are to come: the queue has no more entries, and a cycle few accesses besides

cdef struct Turn:                # an access that is issued
    int64_t cycle
    uint32_t bank

cdef struct Foreseen:            # the last read of a bank
    uint64_t block               # as a count of blocks
    int64_t cycle                # the earliest in which it could be made
    uint32_t turn                # reads of that cycle that met it before

cdef struct Banks:
    uint32_t count               # a power of two; 0: no bank conflicts
    uint32_t shift               # a bank is 1 << shift bytes wide
    uint32_t line                # banks that a line lies in
    uint32_t ports
    bint limited                 # accesses may meet
    uint64_t block               # counts blocks
    uint32_t turn                # of the last read that was foreseen
    int64_t latest               # no turn is later
    uint32_t turn_count
    Turn turns[MAX_ISSUED_ACCESSES]       # none is before the last one taken
    Foreseen foreseen[MAX_BANKS]


cdef inline void start_banks(Banks* banks, uint32_t count, uint32_t width, uint32_t ports,
                             uint32_t line) noexcept nogil:
    banks.count, banks.ports, banks.limited = count, ports, count or ports < UNLIMITED_PORTS
    banks.shift = 0
    while <uint32_t>1 << banks.shift < width:
        banks.shift += 1
    banks.line = max(1, line >> banks.shift)
    banks.block = 1


cdef inline uint32_t bank_of(const Banks* banks, uint64_t address) noexcept nogil:
    return <uint32_t>(address >> banks.shift & (banks.count - 1)) if banks.count else NO_BANK


cdef inline bint is_in_line(const Banks* banks, uint32_t bank, uint64_t line) noexcept nogil:
    """Whether the line at an address lies in the bank, too."""
    return (bank - (line >> banks.shift)) & (banks.count - 1) < banks.line


cdef inline void foresee_read(Banks* banks, uint64_t address, int64_t cycle) noexcept nogil:
    """Records a read that issues in this cycle at the earliest; `turn` becomes the number of reads of its block in the
    same bank and cycle before it."""
    cdef Foreseen* read
    banks.turn = 0
    if banks.count == 0:
        return
    read = &banks.foreseen[bank_of(banks, address)]
    if read.block == banks.block and read.cycle == cycle:
        if read.turn < MAX_BANK_REISSUES:
            read.turn += 1
        banks.turn = read.turn
    else:
        read.block, read.cycle, read.turn = banks.block, cycle, 0


cdef inline void take_turn(Banks* banks, uint32_t bank, int64_t cycle, int64_t now) noexcept nogil:
    """A tag port is taken in a cycle, and a bank or NO_BANK. Turns before ``now`` are forgotten."""
    cdef uint32_t i, kept = 0
    for i in range(banks.turn_count if banks.latest >= now else 0):
        if banks.turns[i].cycle >= now:
            banks.turns[kept] = banks.turns[i]
            kept += 1
    if kept < MAX_ISSUED_ACCESSES:
        banks.turns[kept].cycle, banks.turns[kept].bank = cycle, bank
        kept += 1
    banks.turn_count = kept
    if cycle > banks.latest:
        banks.latest = cycle


cdef inline bint ports_are_taken(const Banks* banks, int64_t cycle) noexcept nogil:
    cdef uint32_t i, taken = 0
    if banks.turn_count < banks.ports:
        return 0
    for i in range(banks.turn_count):
        taken += banks.turns[i].cycle == cycle
    return taken >= banks.ports


cdef inline bint bank_is_taken(const Banks* banks, uint32_t bank, int64_t cycle) noexcept nogil:
    cdef uint32_t i
    for i in range(banks.turn_count):
        if banks.turns[i].cycle == cycle and banks.turns[i].bank == bank:
            return 1
    return 0
