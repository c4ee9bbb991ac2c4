"""The short way through multiply-add: normal operands, round to nearest, a normal result.

Whatever else there is (other roundings, special operands, results that overflow or underflow, exact zeros, enabled
traps) is left to float_core, which computes all of it again. What depends on the operands' bits and not on their
kind is computed without branches here: a processor cannot foresee whether a significand rounds up.
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


cdef inline Sum no_sum() noexcept nogil:
    cdef Sum result
    result.significand = 0
    result.exponent = 0
    result.inexact = 0
    result.sign = 0
    return result


cdef inline Sum nearest(
    uint64_t high, uint64_t low, uint64_t below, int32_t exponent, uint32_t sign, int drop
) noexcept nogil:
    """Round 192 bits (the highest set) to 64 - drop bits, ties to even."""
    cdef Sum result
    cdef uint64_t unit = <uint64_t>1 << drop
    cdef uint64_t tail = high & (unit - 1)
    cdef uint64_t rest
    cdef uint64_t increase
    if drop:
        rest = (low | below) != 0
        increase = <uint64_t>(tail > (unit >> 1)) | (
            <uint64_t>(tail == (unit >> 1)) & (rest | ((high >> drop) & 1))
        )
        result.inexact = (tail | rest) != 0
        high -= tail
    else:
        rest = ((low << 1) | below) != 0
        increase = (low >> 63) & (rest | (high & 1))
        result.inexact = (low | below) != 0
    high += increase << drop
    if unlikely(high < INTEGER_BIT):
        high = INTEGER_BIT
        exponent += 1
    result.significand = high
    result.exponent = exponent
    result.sign = <uint16_t>sign
    return result


cdef inline bint are_normal(const FloatRegister* x, const FloatRegister* y) noexcept nogil:
    """Normalized numbers, neither zero, infinite, NaN, NaTVal nor at the ends of the exponent range."""
    return ((x.significand & y.significand) & INTEGER_BIT) != 0 and (
        <uint32_t>(x.exponent - 1 < 0x1FFFD) & <uint32_t>(y.exponent - 1 < 0x1FFFD)
    ) != 0


cdef inline bint is_normal(const FloatRegister* x) noexcept nogil:
    return (x.significand & INTEGER_BIT) != 0 and x.exponent - 1 < 0x1FFFD


cdef inline Sum nearest_product(const FloatRegister* x, const FloatRegister* y, int drop) noexcept nogil:
    """x * y, of normal operands."""
    cdef u128 product = <u128>x.significand * y.significand
    cdef uint64_t high = <uint64_t>(product >> 64)
    cdef uint64_t low = <uint64_t>product
    cdef int32_t exponent = <int32_t>(x.exponent + y.exponent) - 0xFFFF + <int32_t>(high >> 63)
    cdef int shift = <int>(high >> 63) ^ 1
    high = (high << shift) | ((low >> 63) & <uint64_t>shift)
    low <<= shift
    return nearest(high, low, 0, exponent, x.sign ^ y.sign, drop)


cdef inline Sum nearest_far(
    u128 big, u128 small, int32_t distance, int32_t exponent, uint32_t sign, uint32_t differ, int drop
) noexcept nogil:
    """big +- small, both with bit 127 set, exponents 64 or more apart: at most one bit cancels."""
    cdef uint64_t below = 1
    cdef uint64_t shift
    cdef u128 lost
    if distance < 128:
        # Bits below the 64 that are kept only matter as being there at all.
        lost = small << (128 - distance) if distance > 64 else small << 64
        below = <uint64_t>(lost >> 64) | (<uint64_t>lost != 0)
        small >>= distance
    else:
        small = 0
    if differ:
        big = big - small - (below != 0)
        below = 0 - below
        shift = (<uint64_t>(big >> 64) >> 63) ^ 1
        big = (big << shift) | (below >> 63 if shift else 0)
        below <<= shift
        exponent -= <int32_t>shift
    else:
        # The sum stays below a power of two unless bits carry through.
        big += small
        if big < small:
            below |= <uint64_t>big & 1
            big = (big >> 1) | (<u128>INTEGER_BIT << 64)
            exponent += 1
    return nearest(<uint64_t>(big >> 64), <uint64_t>big, below, exponent, sign, drop)


cdef inline Sum nearest_near(
    u128 product, int32_t product_exponent, uint64_t addend, int32_t exponent, uint32_t sign, uint32_t differ, int drop
) noexcept nogil:
    """product +- addend (both normalized), `exponent` of the addend at most 63 away: exact in 192 bits."""
    cdef int32_t distance = product_exponent - exponent
    cdef int32_t negative = distance >> 31                 # -1 if the addend's exponent is the larger
    cdef int product_shift = -distance & negative
    cdef int addend_shift = distance & ~negative
    cdef uint64_t low = <uint64_t>product
    cdef uint64_t below = (low << 1) << (63 - product_shift)
    cdef u128 total = product >> product_shift
    cdef u128 other = (<u128>addend << 64) >> addend_shift
    cdef uint64_t carry
    cdef u128 flip
    cdef int shift
    exponent += addend_shift
    if differ:
        carry = total < other
        # Where the addend is the larger, take the negative of all 192 bits.
        flip = 0 - <u128>carry
        total = (total - other) ^ flip
        below = (below ^ <uint64_t>flip) + carry
        total += carry & (below == 0)
        if unlikely(<uint64_t>(total >> 64) == 0):
            if total == 0:
                return no_sum()
            total = (total << 64) | below
            below = 0
            exponent -= 64
        shift = leading_zeros(<uint64_t>(total >> 64))
        total = (total << shift) | ((below >> 1) >> (63 - shift))
        below <<= shift
        return nearest(<uint64_t>(total >> 64), <uint64_t>total, below, exponent - shift, sign ^ carry, drop)
    total += other
    carry = total < other
    below |= <uint64_t>total & carry
    total = (total >> <int>carry) | (<u128>(carry << 63) << 64)
    return nearest(<uint64_t>(total >> 64), <uint64_t>total, below, exponent + <int32_t>carry, sign, drop)


cdef inline Sum nearest_multiply_add(
    const FloatRegister* x, const FloatRegister* y, const FloatRegister* c, uint32_t negate_product,
    uint32_t negate_addend, int drop,
) noexcept nogil:
    """+-(x * y) +- c, of normal operands."""
    cdef u128 product = <u128>x.significand * y.significand
    cdef uint64_t top = <uint64_t>(product >> 127)
    cdef int32_t exponent = <int32_t>(x.exponent + y.exponent) - 0xFFFF + <int32_t>top
    cdef uint32_t sign = x.sign ^ y.sign ^ negate_product
    cdef uint32_t differ = sign ^ c.sign ^ negate_addend
    cdef int32_t distance = exponent - <int32_t>c.exponent
    product += product & (<u128>top - 1)                   # doubled where its highest bit is 0
    if likely(<uint32_t>(distance + 63) < 127):
        return nearest_near(product, exponent, c.significand, <int32_t>c.exponent, sign, differ, drop)
    if distance > 0:
        return nearest_far(product, <u128>c.significand << 64, distance, exponent, sign, differ, drop)
    return nearest_far(
        <u128>c.significand << 64, product, -distance, <int32_t>c.exponent, sign ^ differ, differ, drop
    )
