"""Which lines of code are in L1I or in the streaming buffer, a bit each: a stream asks about many that follow each other."""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.machine.bits cimport trailing_zeros

cdef extern from *:
    const uint64_t NO_GROUP "UINT64_MAX"

cdef enum:
    GROUP_SHIFT = 6              # as many lines in a group as a word has bits
    GROUP_LINES = 1 << GROUP_SHIFT
    LINE_GROUPS = 256            # a power of two

cdef struct LineGroup:           # what is known of a group; of groups with equal low bits one is known
    uint64_t number              # of its lines, without their low bits; NO_GROUP
    uint64_t lines               # those that are there


cdef inline void start_groups(LineGroup* groups) noexcept nogil:
    cdef uint32_t i
    for i in range(LINE_GROUPS):
        groups[i].number = NO_GROUP


cdef inline LineGroup* place_of_group(LineGroup* groups, uint64_t line) noexcept nogil:
    """Where the group of a line is, by the line's number, if it is known."""
    return &groups[(line >> GROUP_SHIFT) & (LINE_GROUPS - 1)]


cdef inline uint64_t line_bit(uint64_t line) noexcept nogil:
    """Of a line, by its number, among those of its group."""
    return <uint64_t>1 << (line & (GROUP_LINES - 1))


cdef inline void line_arrives(LineGroup* groups, uint64_t line) noexcept nogil:
    cdef LineGroup* group = place_of_group(groups, line)
    if group.number == line >> GROUP_SHIFT:
        group.lines |= line_bit(line)


cdef inline void line_leaves(LineGroup* groups, uint64_t line) noexcept nogil:
    cdef LineGroup* group = place_of_group(groups, line)
    if group.number == line >> GROUP_SHIFT:
        group.lines &= ~line_bit(line)


cdef inline uint32_t lines_in_row(const LineGroup* group, uint64_t line) noexcept nogil:
    """How many lines of a group are there, from a line of it on one after the other."""
    cdef uint64_t absent = ~(group.lines >> (line & (GROUP_LINES - 1)))  # beyond the group's end none is there
    return <uint32_t>trailing_zeros(absent) if absent else GROUP_LINES
