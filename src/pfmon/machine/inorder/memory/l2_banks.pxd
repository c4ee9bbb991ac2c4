"""Banks and tag ports of L2: each bank of the data array serves one read per cycle, each tag port one access per cycle
(Montecito manual 2.1.2, 2.3.3.2).

An access that conflicts on its bank or finds no free port is reissued. It occupies bank and port in its final cycle of
issue, where it conflicts with the accesses of that cycle.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum:
    MAX_BANKS = 64               # a power of two
    NO_BANK = MAX_BANKS          # an access that occupies a tag port alone
    UNLIMITED_PORTS = 64         # more than the accesses of any cycle
    MAX_BANK_REISSUES = 3        # of the last of four reads in a cycle: the tags have four ports
    MAX_ISSUED_ACCESSES = 128    # in future cycles: more than the queue's entries

cdef struct IssuedAccess:        # an access in its final cycle of issue
    int64_t cycle
    uint32_t bank

cdef struct PlannedRead:         # the last read of a bank, by the fast path
    uint64_t block               # number of its block's run (`Banks.block`)
    int64_t cycle                # its earliest cycle of issue
    uint32_t reissues            # reads of the same bank and cycle before it

cdef struct Banks:
    uint32_t count               # a power of two; 0: no bank conflicts
    uint32_t shift               # a bank is 1 << shift bytes wide
    uint32_t line                # number of banks that hold parts of a line
    uint32_t ports
    bint limited                 # conflicts are possible
    uint64_t block               # block runs so far
    uint32_t reissues            # of the last planned read
    int64_t latest               # latest cycle of the issued accesses
    uint32_t issued_count
    IssuedAccess issued[MAX_ISSUED_ACCESSES]
    PlannedRead planned_reads[MAX_BANKS]


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
    """Whether the bank holds a part of the line at an address."""
    return (bank - (line >> banks.shift)) & (banks.count - 1) < banks.line


cdef inline void plan_read(Banks* banks, uint64_t address, int64_t cycle) noexcept nogil:
    """Plans a read whose earliest cycle of issue is ``cycle``; `reissues` becomes the number of earlier reads of the
    same block, bank and cycle."""
    cdef PlannedRead* read
    banks.reissues = 0
    if banks.count == 0:
        return
    read = &banks.planned_reads[bank_of(banks, address)]
    if read.block == banks.block and read.cycle == cycle:
        if read.reissues < MAX_BANK_REISSUES:
            read.reissues += 1
        banks.reissues = read.reissues
    else:
        read.block, read.cycle, read.reissues = banks.block, cycle, 0


cdef inline void occupy_bank(Banks* banks, uint32_t bank, int64_t cycle, int64_t now) noexcept nogil:
    """Occupies a tag port in a cycle, and a bank unless it is NO_BANK. Drops accesses before ``now``."""
    cdef uint32_t i, kept = 0
    for i in range(banks.issued_count if banks.latest >= now else 0):
        if banks.issued[i].cycle >= now:
            banks.issued[kept] = banks.issued[i]
            kept += 1
    if kept < MAX_ISSUED_ACCESSES:
        banks.issued[kept].cycle, banks.issued[kept].bank = cycle, bank
        kept += 1
    banks.issued_count = kept
    if cycle > banks.latest:
        banks.latest = cycle


cdef inline bint ports_are_taken(const Banks* banks, int64_t cycle) noexcept nogil:
    cdef uint32_t i, taken = 0
    if banks.issued_count < banks.ports:
        return 0
    for i in range(banks.issued_count):
        taken += banks.issued[i].cycle == cycle
    return taken >= banks.ports


cdef inline bint bank_is_taken(const Banks* banks, uint32_t bank, int64_t cycle) noexcept nogil:
    cdef uint32_t i
    for i in range(banks.issued_count):
        if banks.issued[i].cycle == cycle and banks.issued[i].bank == bank:
            return 1
    return 0
