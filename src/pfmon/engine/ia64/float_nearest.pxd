"""The short way through multiply-add: normal operands, round to nearest, a normal result.

Whatever else there is (other roundings, special operands, results that overflow or underflow, exact zeros, enabled
traps) is left to float_core, which computes all of it again.
"""

from libc.stdint cimport int32_t, uint16_t, uint32_t, uint64_t

from pfmon.engine.ia64.cpu cimport FloatRegister, likely, unlikely
from pfmon.engine.ia64.float_core cimport leading_zeros, u128
from pfmon.engine.ia64.float_memory cimport INTEGER_BIT

cdef struct Sum:                 # two words: returned in registers
    uint64_t significand         # normalized; 0: take the long way
    int32_t exponent             # biased
    uint16_t inexact
    uint16_t sign


cdef inline Sum nearest(u128 value, bint sticky, int32_t exponent, uint32_t sign, int drop) noexcept nogil:
    """Round 128 bits (bit 127 set) to 64 - drop bits, ties to even."""
    cdef Sum result
    cdef uint64_t high = <uint64_t>(value >> 64)
    cdef uint64_t low = <uint64_t>value
    cdef uint64_t unit = <uint64_t>1 << drop
    cdef uint64_t tail
    cdef uint64_t rest
    cdef bint increase
    if drop:
        tail = high & (unit - 1)
        rest = (low != 0) | sticky
        increase = tail > (unit >> 1) or (tail == (unit >> 1) and (rest != 0 or (high & unit) != 0))
        result.inexact = (tail | rest) != 0
        high -= tail
    else:
        rest = (low << 1) | sticky
        increase = (low >> 63) & ((rest != 0) | (high & 1))
        result.inexact = (low | sticky) != 0
    if increase:
        high += unit
        if unlikely(high == 0):
            high = INTEGER_BIT
            exponent += 1
    result.significand = high
    result.exponent = exponent
    result.sign = sign
    return result


cdef inline bint all_normal(const FloatRegister* x, const FloatRegister* y, const FloatRegister* c) noexcept nogil:
    """Normalized numbers, none of them zero, infinite, NaN, NaTVal or at the ends of the exponent range."""
    return ((x.significand & y.significand & c.significand) & INTEGER_BIT) != 0 and (
        (x.exponent - 1 < 0x1FFFD) & (y.exponent - 1 < 0x1FFFD) & (c.exponent - 1 < 0x1FFFD)
    )


cdef inline Sum nearest_product(const FloatRegister* x, const FloatRegister* y, int drop) noexcept nogil:
    """x * y, of normal operands."""
    cdef u128 product = <u128>x.significand * y.significand
    cdef int32_t exponent = <int32_t>(x.exponent + y.exponent) - 0xFFFE
    if not <uint64_t>(product >> 64) & INTEGER_BIT:
        product <<= 1
        exponent -= 1
    return nearest(product, False, exponent, x.sign ^ y.sign, drop)


cdef inline Sum nearest_difference(
    u128 big, u128 small, uint64_t below, int32_t exponent, uint32_t sign, int drop
) noexcept nogil:
    """big - (small and 64 bits below it), big at least as large."""
    cdef int shift
    cdef Sum nothing
    big = big - small - (below != 0)
    below = 0 - below
    if unlikely(<uint64_t>(big >> 64) == 0):
        if big == 0:
            nothing.significand = 0
            return nothing
        big = (big << 64) | below
        below = 0
        exponent -= 64
    shift = leading_zeros(<uint64_t>(big >> 64))
    if shift:
        big = (big << shift) | (below >> (64 - shift))
        below <<= shift
    return nearest(big, below != 0, exponent - shift, sign, drop)


cdef inline Sum nearest_multiply_add(
    const FloatRegister* x, const FloatRegister* y, const FloatRegister* c, uint32_t negate_product,
    uint32_t negate_addend, int drop,
) noexcept nogil:
    """+-(x * y) +- c, of normal operands."""
    cdef u128 big = <u128>x.significand * y.significand
    cdef int32_t exponent = <int32_t>(x.exponent + y.exponent) - 0xFFFE
    cdef u128 small = <u128>c.significand << 64
    cdef u128 swap
    cdef uint64_t below = 0
    cdef uint32_t sign = x.sign ^ y.sign ^ negate_product
    cdef uint32_t other = c.sign ^ negate_addend
    cdef uint32_t differ = sign ^ other
    cdef int32_t distance
    if not <uint64_t>(big >> 64) & INTEGER_BIT:
        big <<= 1
        exponent -= 1
    distance = exponent - <int32_t>c.exponent
    if distance < 0 or (distance == 0 and big < small):
        swap = big
        big = small
        small = swap
        sign = other
        exponent = c.exponent
        distance = -distance
    if distance >= 128:
        small = 0
        below = 1
    elif distance > 64:
        # Bits further down only matter as being there at all.
        swap = small << (128 - distance)
        below = <uint64_t>(swap >> 64) | (<uint64_t>swap != 0)
        small >>= distance
    elif distance == 64:
        below = <uint64_t>small
        small >>= 64
    elif distance:
        below = <uint64_t>small << (64 - distance)
        small >>= distance
    if differ:
        return nearest_difference(big, small, below, exponent, sign, drop)
    big += small
    if big < small:
        below = below | (<uint64_t>big & 1)
        big = (big >> 1) | (<u128>INTEGER_BIT << 64)
        exponent += 1
    return nearest(big, below != 0, exponent, sign, drop)
