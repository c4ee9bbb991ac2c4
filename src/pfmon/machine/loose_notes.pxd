"""Notes that belong to no cycle with an issue: see loose_notes.pyx."""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.machine.notes cimport Notes
from pfmon.machine.records cimport Records

cdef enum:
    LOOSE_PARTS = 512            # a power of two
    LOOSE_NOTES = 5

cdef struct Loose:               # a part of notes alone, as it was written down last: 64 bytes
    uint64_t code                # Part.code
    uint64_t items[LOOSE_NOTES]
    uint32_t count               # 0: none
    uint32_t part

# They are written down, as those of an instruction of a block; ``loose``: LOOSE_PARTS of them, by block.
cdef void write_loose_notes(Loose* loose, Notes* notes, Records records, uint64_t number,
                            uint32_t instruction) noexcept nogil
