"""Converts the fields of a PowerPC instruction to register bits (isa/common/operand_masks.pxd).

There are more registers than bits. Each general register has a bit. CR0, CR6 and CR7, which compilers use, have one
each; the other fields of the condition register share one. The first 18 floating-point and vector registers have one
each; of the others two share one.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset

from pfmon.stream._stream cimport RegisterMasks

cdef enum:
    CONDITIONS = 32              # CR0, CR7, CR6, others
    LINK = 36
    COUNT = 37
    FIXED_EXCEPTION = 38         # XER
    FLOATING = 39
    OWN = 18                     # floating-point registers with a bit each
    SPR_XER = 1
    SPR_LR = 8
    SPR_CTR = 9


cdef inline uint64_t bit(uint32_t number) noexcept nogil:
    return <uint64_t>1 << number


cdef inline uint64_t floating(uint32_t number) noexcept nogil:
    return bit(FLOATING + (number if number < OWN else OWN + (number - OWN) // 2))


cdef inline uint64_t condition(uint32_t field) noexcept nogil:
    if field == 0:
        return bit(CONDITIONS)
    return bit(CONDITIONS + 1 + (7 - field)) if field >= 6 else bit(CONDITIONS + 3)


cdef inline uint64_t registers_from(uint32_t first) noexcept nogil:
    """Bits of the general registers from the first on."""
    return 0xFFFFFFFFULL >> first << first


cdef uint64_t special(uint32_t word) noexcept nogil:
    """The bit of LR, CTR or XER; others have none. The halves of the number are swapped."""
    cdef uint32_t number = word >> 16 & 31 | (word >> 11 & 31) << 5
    if number == SPR_LR:
        return bit(LINK)
    if number == SPR_CTR:
        return bit(COUNT)
    return bit(FIXED_EXCEPTION) if number == SPR_XER else 0


cdef uint64_t masked(uint32_t word) noexcept nogil:
    """Bits of the condition register's fields in FXM."""
    cdef uint32_t field
    cdef uint64_t bits = 0
    for field in range(8):
        if word >> (12 + 7 - field) & 1:
            bits |= condition(field)
    return bits


cdef uint64_t condition_bits_read(uint32_t word) noexcept nogil:
    """Registers tested by a conditional branch: the condition unless BO ignores it, CTR if it counts."""
    cdef uint32_t options = word >> 21 & 31
    return (0 if options & 0x10 else condition((word >> 16 & 31) >> 2)) | (0 if options & 4 else bit(COUNT))


cdef uint64_t written(uint32_t word, uint32_t uses) noexcept nogil:
    cdef uint32_t target = word >> 21 & 31
    cdef uint64_t bits = 0
    if uses & Use.WRITE_RT:
        bits |= bit(target)
    if uses & Use.WRITE_RA:
        bits |= bit(word >> 16 & 31)
    if uses & Use.WRITE_FT:
        bits |= floating(target)
    if uses & Use.WRITE_RT_ON:
        bits |= registers_from(target)
    if uses & Use.WRITE_BF:
        bits |= condition(target >> 2)
    if uses & Use.WRITE_FXM:
        bits |= masked(word)
    if uses & Use.WRITE_SPR:
        bits |= special(word)
    if uses & Use.WRITE_CA:
        bits |= bit(FIXED_EXCEPTION)
    if uses & Use.WRITE_CR0 or (uses & Use.RECORD and word & 1):
        bits |= condition(0)
    if uses & Use.RECORD_1 and word & 1:
        bits |= condition(1)
    if uses & Use.WRITE_LR and word & 1:
        bits |= bit(LINK)
    return bits


cdef uint64_t read_registers(uint32_t word, uint32_t uses) noexcept nogil:
    """Bits of general, floating-point and vector registers read."""
    cdef uint32_t t = word >> 21 & 31, a = word >> 16 & 31, b = word >> 11 & 31
    cdef uint64_t bits = 0
    if uses & Use.READ_RT:
        bits |= bit(t)
    if uses & Use.READ_RA or (uses & Use.READ_RA0 and a):
        bits |= bit(a)
    if uses & Use.READ_RB:
        bits |= bit(b)
    if uses & Use.READ_RT_ON:
        bits |= registers_from(t)
    if uses & Use.READ_FT:
        bits |= floating(t)
    if uses & Use.READ_FA:
        bits |= floating(a)
    if uses & Use.READ_FB:
        bits |= floating(b)
    if uses & Use.READ_FC:
        bits |= floating(word >> 6 & 31)
    return bits


cdef uint64_t read_others(uint32_t word, uint32_t uses) noexcept nogil:
    """Bits of the condition register, LR, CTR and XER read."""
    cdef uint64_t bits = 0
    if uses & Use.READ_BC:
        bits |= condition((word >> 6 & 31) >> 2)
    if uses & Use.READ_BITS:
        bits |= condition((word >> 16 & 31) >> 2) | condition((word >> 11 & 31) >> 2)
    if uses & Use.READ_CR:
        bits |= <uint64_t>0xF << CONDITIONS
    if uses & Use.READ_SPR:
        bits |= special(word)
    if uses & Use.READ_CA:
        bits |= bit(FIXED_EXCEPTION)
    if uses & Use.READ_BO:
        bits |= condition_bits_read(word)
    if uses & Use.READ_LR:
        bits |= bit(LINK)
    if uses & Use.READ_CTR:
        bits |= bit(COUNT)
    return bits


cdef void fill_operands(RegisterMasks* place, uint32_t word, uint32_t uses) noexcept nogil:
    cdef uint32_t a = word >> 16 & 31
    place.written = written(word, uses)
    if uses & Use.ADDRESS_RA0 and a:
        place.addressed |= bit(a)
    if uses & Use.ADDRESS_RB:
        place.addressed |= bit(word >> 11 & 31)
    place.read = read_registers(word, uses) | read_others(word, uses) | place.addressed


def registers_used(uint32_t word, uint32_t uses):
    """Bits of the registers read, written, and used in addresses, for Python."""
    cdef RegisterMasks found
    memset(&found, 0, sizeof(found))
    fill_operands(&found, word, uses)
    return found.read, found.written, found.addressed
