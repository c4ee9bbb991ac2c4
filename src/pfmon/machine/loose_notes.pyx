"""Unattributed events, which belong to no cycle with an issue: a part without instructions. Most recur."""

from libc.stdint cimport uint32_t, uint64_t

cdef uint64_t SPREAD = 0x9E3779B97F4A7C15

cdef void write_loose_notes(Loose* loose, Notes* notes, Records records, uint64_t number,
                            uint32_t instruction) noexcept nogil:
    cdef uint64_t code = number | <uint64_t>1 << 32 | <uint64_t>instruction << 48, sum = code
    cdef Loose* known
    cdef uint32_t i, count = notes.count
    cdef bint same
    if count == 0:
        return
    for i in range(count):
        sum += notes.items[i] << i
    known = &loose[sum * SPREAD >> (64 - LOOSE_SHIFT)]
    same = known.code == code and known.count == count
    for i in range(count if same else 0):
        same &= known.items[i] == notes.items[i]
    if not same:
        known.code, known.count = code, count if count <= LOOSE_NOTES else 0
        for i in range(known.count):
            known.items[i] = notes.items[i]
        known.part = records.part(code, 0, 0, 0, records.note_list(notes))
    notes.count = 0
    records.add_cycle(known.part)
