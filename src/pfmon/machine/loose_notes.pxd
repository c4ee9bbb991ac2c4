"""Unattributed events, which belong to no cycle with an issue: see loose_notes.pyx."""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.machine.notes cimport Notes
from pfmon.machine.records cimport Records

cdef enum:
    LOOSE_SHIFT = 9
    LOOSE_PARTS = 1 << LOOSE_SHIFT
    LOOSE_NOTES = 13

cdef struct Loose:               # a part of events alone, as it was recorded last: 128 bytes
    uint64_t code                # Part.code
    uint64_t items[LOOSE_NOTES]
    uint32_t count               # 0: none
    uint32_t part

# Records them as events of an instruction of a block; ``loose``: LOOSE_PARTS of them, by contents.
cdef void write_loose_notes(Loose* loose, Notes* notes, Records records, uint64_t number,
                            uint32_t instruction) noexcept nogil
