"""Lines of code in L1I or in the streaming buffer, one bit each: a stream looks up many consecutive ones."""

from libc.stdint cimport uint32_t, uint64_t


cdef extern from *:
    int trailing_zeros "__builtin_ctzll"(uint64_t) nogil     # of a word that is not 0


cdef extern from *:
    const uint64_t NO_GROUP "UINT64_MAX"

cdef enum:
    GROUP_SHIFT = 6              # as many lines in a group as a word has bits
    GROUP_LINES = 1 << GROUP_SHIFT
    LINE_GROUPS = 256            # a power of two

cdef struct LineGroup:           # state of a group; only one of the groups with equal low bits is kept
    uint64_t number              # of its lines, without their low bits; NO_GROUP
    uint64_t lines               # those present


cdef inline void start_groups(LineGroup* groups) noexcept nogil:
    cdef uint32_t i
    for i in range(LINE_GROUPS):
        groups[i].number = NO_GROUP


cdef inline LineGroup* group_entry(LineGroup* groups, uint64_t line) noexcept nogil:
    """Returns the entry of a line's group, by the line's number, if it is kept."""
    return &groups[(line >> GROUP_SHIFT) & (LINE_GROUPS - 1)]


cdef inline uint64_t line_bit(uint64_t line) noexcept nogil:
    """Returns a line's bit in its group, by its number."""
    return <uint64_t>1 << (line & (GROUP_LINES - 1))


cdef inline void line_arrives(LineGroup* groups, uint64_t line) noexcept nogil:
    cdef LineGroup* group = group_entry(groups, line)
    if group.number == line >> GROUP_SHIFT:
        group.lines |= line_bit(line)


cdef inline void remove_line(LineGroup* groups, uint64_t line) noexcept nogil:
    cdef LineGroup* group = group_entry(groups, line)
    if group.number == line >> GROUP_SHIFT:
        group.lines &= ~line_bit(line)


cdef inline uint32_t lines_in_row(const LineGroup* group, uint64_t line) noexcept nogil:
    """Returns how many consecutive lines of a group are present, from one of its lines on."""
    cdef uint64_t absent = ~(group.lines >> (line & (GROUP_LINES - 1)))  # beyond the group's end none is present
    return <uint32_t>trailing_zeros(absent) if absent else GROUP_LINES
