"""Miss status holding registers (MSHRs) of L2: lines in flight to L2, or victims in flight to L3.

A fill writes the data array in the cycle before the line arrives; a modified victim is read from it in the cycle in
which it leaves. Code lines occupy no bank (a unified L2 has them in the same registers).
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef enum:
    MAX_MSHRS = 64               # a power of two

cdef enum AskedBy:
    ASKED_BY_DATA = 0
    ASKED_BY_FETCH = 1
    ASKED_BY_FETCH_AHEAD = 2

cdef struct Mshr:
    uint64_t number              # address >> shift of its cache
    int64_t asked                # cycle of the first access to it
    int64_t sent                 # ... of the request to the next level
    int64_t ready                # ... of its arrival
    int asked_by
    bint awaited                 # a later access waits for it
    bint written                 # requested by a write: the fill merges the data of the data buffer

cdef struct MshrFile:
    uint32_t first               # running counts: registers first .. next - 1 are or were in use
    uint32_t next
    Mshr mshrs[MAX_MSHRS]


cdef inline void release_filled(MshrFile* file, int64_t now) noexcept nogil:
    """Releases the oldest registers, up to the first line still in flight."""
    while file.first != file.next and file.mshrs[file.first & (MAX_MSHRS - 1)].ready <= now:
        file.first += 1


cdef inline void compact_mshrs(MshrFile* file, int64_t now) noexcept nogil:
    """Releases all registers whose line has arrived."""
    cdef uint32_t i = file.first, kept = file.first
    while i != file.next:
        if file.mshrs[i & (MAX_MSHRS - 1)].ready > now:
            file.mshrs[kept & (MAX_MSHRS - 1)] = file.mshrs[i & (MAX_MSHRS - 1)]
            kept += 1
        i += 1
    file.next = kept


cdef inline int64_t mshr_free_cycle(MshrFile* file, int64_t now) noexcept nogil:
    """Returns the first cycle from ``now`` on with a free register: a miss without one waits for the next arrival."""
    cdef uint32_t i
    cdef int64_t first
    release_filled(file, now)
    if file.next - file.first < MAX_MSHRS:
        return now
    compact_mshrs(file, now)
    if file.next - file.first < MAX_MSHRS:
        return now
    first = file.mshrs[file.first & (MAX_MSHRS - 1)].ready
    for i in range(MAX_MSHRS):
        if file.mshrs[i].ready < first:
            first = file.mshrs[i].ready
    compact_mshrs(file, first)
    return first


cdef inline Mshr* allocate_mshr(MshrFile* file, uint64_t number, int64_t now, int64_t ready) noexcept nogil:
    """Allocates a register, which `mshr_free_cycle` found to be free; the caller sets the other fields."""
    cdef Mshr* line = &file.mshrs[file.next & (MAX_MSHRS - 1)]
    file.next += 1
    line.number, line.asked, line.sent, line.ready = number, now, now, ready
    line.asked_by, line.awaited, line.written = ASKED_BY_DATA, 0, 0
    return line


cdef inline Mshr* find_mshr(MshrFile* file, uint64_t number, int64_t now) noexcept nogil:
    """Returns the register of that line, if it is in flight in cycle ``now``, or NULL."""
    cdef uint32_t i
    cdef Mshr* line
    release_filled(file, now)
    i = file.next
    while i != file.first:
        i -= 1
        line = &file.mshrs[i & (MAX_MSHRS - 1)]
        if line.number == number:
            return line if line.ready > now else NULL
    return NULL


cdef inline bint missed_same_index(
    MshrFile* file, TagStore tags, uint64_t address, int64_t start, bint siblings
) noexcept nogil:
    """Whether data missed a line of the same set: one in flight, or, of ``siblings``, in the same cycle."""
    cdef uint64_t number = address >> tags.shift
    cdef uint32_t i
    cdef const Mshr* line
    release_filled(file, start)
    i = file.next
    while i != file.first:
        i -= 1
        line = &file.mshrs[i & (MAX_MSHRS - 1)]
        if siblings and line.asked != start:
            continue
        if (number ^ line.number) & tags.set_mask or line.asked_by != ASKED_BY_DATA or line.ready <= start:
            continue
        if set_of(tags, line.number) == set_of(tags, number):
            return 1
    return 0


cdef inline uint32_t recirculation_of(const Mshr* line, int64_t start) noexcept nogil:
    """Returns the cause of data's recirculation in cycle ``start`` on a line in flight (NULL: on ownership)."""
    if line == NULL:
        return Occurrence.L2_RECIRC_FILL_HIT
    if line.asked_by == ASKED_BY_FETCH:
        return Occurrence.L2_SMC_HIT
    if line.asked_by != ASKED_BY_DATA:
        return Occurrence.L2_RECIRC_IPF_MISS
    if start == line.asked:
        return Occurrence.L2_RECIRC_SAME_INDEX
    if start == line.asked + 1:
        return Occurrence.L2_RECIRC_L1W
    return Occurrence.L2_RECIRC_OZQ_MISS if start < line.sent else Occurrence.L2_RECIRC_FILL_HIT
