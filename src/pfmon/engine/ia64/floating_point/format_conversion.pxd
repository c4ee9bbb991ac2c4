"""Conversions between the floating-point register format and memory, general registers and integers.

Pure functions, for the M unit (loads, stores, setf, getf) and for the F unit (fpack and parallel operands).
SDM volume 1, section 5.3.1 (data formats in memory) and figures 5-3 to 5-8; volume 3, ldf, stf, setf, getf.
Callers handle NaTVal and NaT bits: a load that defers and setf from a NaT give `natval()`, a store or getf tests
`is_natval` first.
"""

from libc.stdint cimport uint32_t, uint64_t


cdef enum:
    EXPONENT_SPECIAL = 0x1FFFF       # infinities and NaNs
    EXPONENT_NATVAL = 0x1FFFE        # of NaTVal: sign 0, significand 0
    EXPONENT_INTEGER = 0x1003E       # biased 63: integers and parallel pairs
    EXPONENT_ONE = 0xFFFF            # biased 0
    EXPONENT_SINGLE = 0xFF80         # biased exponent of single precision 0; denormals have 1 more
    EXPONENT_DOUBLE = 0xFC00
    EXPONENT_EXTENDED = 0xC000

cdef extern from *:
    """
    #define PFMON_INTEGER_BIT 0x8000000000000000ULL
    """
    const uint64_t INTEGER_BIT "PFMON_INTEGER_BIT"   # significand{63}


cdef inline FloatRegister float_register(uint32_t sign, uint32_t exponent, uint64_t significand) noexcept nogil:
    cdef FloatRegister value
    value.sign = sign
    value.exponent = exponent
    value.significand = significand
    return value


cdef inline void set_float(FloatRegister* target, uint32_t sign, uint32_t exponent,
                           uint64_t significand) noexcept nogil:
    """Write a register. Exponent and sign are written as one word (little-endian hosts), so that a later copy of the
    register as two words does not stall on two partial stores."""
    target.significand = significand
    (<uint64_t*>&target.exponent)[0] = exponent | (<uint64_t>sign << 32)


cdef inline FloatRegister natval() noexcept nogil:
    """NaTVal: the deferred exception of a floating-point register."""
    return float_register(0, EXPONENT_NATVAL, 0)


cdef inline bint is_natval(FloatRegister value) noexcept nogil:
    return value.significand == 0 and value.exponent == EXPONENT_NATVAL and value.sign == 0


# Memory to register.

cdef inline FloatRegister from_single(uint32_t bits) noexcept nogil:
    """ldfs, setf.s, one half of a parallel pair."""
    cdef uint32_t sign = bits >> 31
    cdef uint32_t exponent = (bits >> 23) & 0xFF
    cdef uint64_t fraction = <uint64_t>(bits & 0x7FFFFF) << 40
    if exponent == 0:
        return float_register(sign, EXPONENT_SINGLE + 1 if fraction else 0, fraction)
    exponent = EXPONENT_SPECIAL if exponent == 0xFF else exponent + EXPONENT_SINGLE
    return float_register(sign, exponent, fraction | INTEGER_BIT)


cdef inline FloatRegister from_double(uint64_t bits) noexcept nogil:
    """ldfd, setf.d."""
    cdef uint32_t sign = <uint32_t>(bits >> 63)
    cdef uint32_t exponent = <uint32_t>(bits >> 52) & 0x7FF
    cdef uint64_t fraction = (bits & 0xFFFFFFFFFFFFFULL) << 11
    if exponent == 0:
        return float_register(sign, EXPONENT_DOUBLE + 1 if fraction else 0, fraction)
    exponent = EXPONENT_SPECIAL if exponent == 0x7FF else exponent + EXPONENT_DOUBLE
    return float_register(sign, exponent, fraction | INTEGER_BIT)


cdef inline FloatRegister from_extended(uint64_t significand, uint32_t sign_exponent) noexcept nogil:
    """ldfe: bytes 0-7 and bytes 8-9. Denormals and pseudo-denormals keep exponent 0."""
    cdef uint32_t exponent = sign_exponent & 0x7FFF
    if exponent == 0x7FFF:
        exponent = EXPONENT_SPECIAL
    elif exponent:
        exponent += EXPONENT_EXTENDED
    return float_register((sign_exponent >> 15) & 1, exponent, significand)


cdef inline FloatRegister from_significand(uint64_t significand) noexcept nogil:
    """ldf8, ldfp8, setf.sig: a 64-bit integer or a pair of singles."""
    return float_register(0, EXPONENT_INTEGER, significand)


cdef inline FloatRegister from_spill(uint64_t low, uint64_t high) noexcept nogil:
    """ldf.fill: bytes 0-7 hold the significand, bytes 8-15 the exponent and, in bit 17, the sign."""
    return float_register(<uint32_t>(high >> 17) & 1, <uint32_t>high & 0x1FFFF, low)


cdef inline FloatRegister from_sign_exponent(uint64_t value) noexcept nogil:
    """setf.exp: exponent in bits 16:0, sign in bit 17, significand 1.0."""
    return float_register(<uint32_t>(value >> 17) & 1, <uint32_t>value & 0x1FFFF, INTEGER_BIT)


# Register to memory. The value has to be in the precision and range of the target: bits are selected, nothing is
# rounded.
# is rounded.

cdef inline uint32_t to_single(FloatRegister value) noexcept nogil:
    """stfs, getf.s, fpack: a significand without its integer bit is a denormal or zero."""
    cdef uint32_t exponent = 0
    if value.significand & INTEGER_BIT:
        exponent = ((value.exponent >> 16) << 7) | (value.exponent & 0x7F)
    return (value.sign << 31) | (exponent << 23) | (<uint32_t>(value.significand >> 40) & 0x7FFFFF)


cdef inline uint64_t to_double(FloatRegister value) noexcept nogil:
    """stfd, getf.d."""
    cdef uint64_t exponent = 0
    if value.significand & INTEGER_BIT:
        exponent = ((value.exponent >> 16) << 10) | (value.exponent & 0x3FF)
    return (<uint64_t>value.sign << 63) | (exponent << 52) | ((value.significand >> 11) & 0xFFFFFFFFFFFFFULL)


cdef inline uint32_t to_extended(FloatRegister value) noexcept nogil:
    """stfe, bytes 8-9: sign and exponent; bytes 0-7 are the significand."""
    return (value.sign << 15) | ((value.exponent >> 16) << 14) | (value.exponent & 0x3FFF)


cdef inline uint64_t to_spill(FloatRegister value) noexcept nogil:
    """stf.spill, bytes 8-15; bytes 0-7 are the significand (also used by stf8 and getf.sig)."""
    return (<uint64_t>value.sign << 17) | value.exponent


cdef inline uint64_t to_sign_exponent(FloatRegister value) noexcept nogil:
    """getf.exp."""
    return (<uint64_t>value.sign << 17) | value.exponent
