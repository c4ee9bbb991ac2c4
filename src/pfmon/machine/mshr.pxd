"""Lines on their way: those that L2 asked for and that have not come, and those that left it and have not arrived."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine.occurrences cimport Occurrence
from pfmon.machine.tags cimport TagStore

cdef enum:
    MOST_MSHRS = 64          # a power of two; the oldest is forgotten

cdef enum AskedBy:
    ASKED_BY_DATA = 0
    ASKED_BY_FETCH = 1
    ASKED_BY_FETCH_AHEAD = 2

cdef struct Mshr:
    uint64_t number              # address >> shift of its cache
    int64_t asked                # cycle of the access that asked for it
    int64_t sent                 # ... in which the next level was asked
    int64_t ready                # ... in which it is there
    int asked_by
    bint awaited                 # a later access waits for it

cdef struct MshrFile:
    uint32_t first               # counts that run on: lines first .. next - 1
    uint32_t next
    Mshr lines[MOST_MSHRS]


cdef inline void release_filled(MshrFile* lines, int64_t now) noexcept nogil:
    """Lines before all that are still on their way are no longer looked at."""
    while lines.first != lines.next and lines.lines[lines.first & (MOST_MSHRS - 1)].ready <= now:
        lines.first += 1


cdef inline Mshr* allocate_mshr(MshrFile* lines, uint64_t number, int64_t now, int64_t ready) noexcept nogil:
    """One more line; the caller says the rest of it."""
    cdef Mshr* line
    release_filled(lines, now)
    if lines.next - lines.first == MOST_MSHRS:
        lines.first += 1
    line = &lines.lines[lines.next & (MOST_MSHRS - 1)]
    lines.next += 1
    line.number, line.asked, line.sent, line.ready = number, now, now, ready
    line.asked_by, line.awaited = ASKED_BY_DATA, 0
    return line


cdef inline Mshr* find_mshr(MshrFile* lines, uint64_t number, int64_t now) noexcept nogil:
    """The line of that number, if it is on its way in cycle ``now``, or NULL."""
    cdef uint32_t i
    cdef Mshr* line
    release_filled(lines, now)
    i = lines.next
    while i != lines.first:
        i -= 1
        line = &lines.lines[i & (MOST_MSHRS - 1)]
        if line.number == number:
            return line if line.ready > now else NULL
    return NULL


cdef inline bint missed_same_index(
    MshrFile* lines, TagStore tags, uint64_t address, int64_t start, bint siblings
) noexcept nogil:
    """Whether data missed a line of the same set: one that is under way, or, of ``siblings``, in the same cycle."""
    cdef uint64_t number = address >> tags.shift
    cdef uint32_t i
    cdef const Mshr* line
    release_filled(lines, start)
    i = lines.next
    while i != lines.first:
        i -= 1
        line = &lines.lines[i & (MOST_MSHRS - 1)]
        if siblings and line.asked != start:
            continue
        if (number ^ line.number) & tags.set_mask or line.asked_by != ASKED_BY_DATA or line.ready <= start:
            continue
        if tags.set_of(line.number) == tags.set_of(number):
            return 1
    return 0


cdef inline uint32_t recirculation_of(const Mshr* line, int64_t start) noexcept nogil:
    """Why data comes round again in cycle ``start`` whose line is under way (NULL: for a right to write)."""
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
