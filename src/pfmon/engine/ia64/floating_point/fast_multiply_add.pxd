"""The fast path of multiply-add: normal operands, round to nearest, a normal result.

All other cases (other roundings, special operands, overflow, underflow, exact zeros, enabled traps) fall back to
arithmetic.pyx, which computes the result from the start. Computation on operand bits is branch-free here: rounding up
is unpredictable for a host's branch predictor.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t


cdef struct Sum:                 # two words: returned in registers
    uint64_t significand         # normalized; 0: use the slow path
    uint64_t word                # exponent, from bit 32 the sign, in bit 63: inexact

cdef enum:
    INEXACT_SHIFT = 63

# Exponents accepted here: more than the range of double-extended numbers, so that neither operands nor the result
# overflow the register format.
# result's overflows the register format.
cdef enum:
    LOWEST = 0x8000
    COUNT = 0x10000


cdef inline Sum no_sum() noexcept nogil:
    cdef Sum result
    result.significand = 0
    result.word = 0
    return result


cdef inline Sum nearest(
    uint64_t high, uint64_t low, uint64_t below, int32_t exponent, uint64_t sign, int drop
) noexcept nogil:
    """Round 192 bits (the highest set) to 64 - drop bits, ties to even. Only bit 0 of `sign` counts."""
    cdef Sum result
    cdef uint64_t unit = <uint64_t>1 << drop
    cdef uint64_t tail = high & (unit - 1)
    cdef uint64_t rest
    cdef uint64_t increase
    cdef uint64_t inexact
    if drop:
        rest = (low | below) != 0
        increase = <uint64_t>(tail > (unit >> 1)) | (
            <uint64_t>(tail == (unit >> 1)) & (rest | ((high >> drop) & 1))
        )
        inexact = (tail | rest) != 0
        high -= tail
    else:
        rest = ((low << 1) | below) != 0
        increase = (low >> 63) & (rest | (high & 1))
        inexact = (low | below) != 0
    high += increase << drop
    if unlikely(high < INTEGER_BIT):
        high = INTEGER_BIT
        exponent += 1
    result.significand = high
    result.word = <uint32_t>exponent | ((sign & 1) << 32) | (inexact << INEXACT_SHIFT)
    return result


cdef inline uint32_t above_lowest(const FloatRegister* x) noexcept nogil:
    """Below COUNT for accepted exponents, also after an OR of several of these."""
    return x.exponent - LOWEST


cdef inline bint is_zero(const FloatRegister* x) noexcept nogil:
    return x.significand == 0 and x.exponent == 0


cdef inline bint is_ordinary(const FloatRegister* x) noexcept nogil:
    return <int64_t>x.significand < 0 and above_lowest(x) < COUNT


cdef inline bint are_ordinary(const FloatRegister* x, const FloatRegister* y) noexcept nogil:
    return <int64_t>(x.significand & y.significand) < 0 and (above_lowest(x) | above_lowest(y)) < COUNT


cdef inline bint all_ordinary(const FloatRegister* x, const FloatRegister* y, const FloatRegister* c) noexcept nogil:
    """Normalized numbers within the exponents above, none of them zero, infinite, NaN or NaTVal."""
    return <int64_t>(x.significand & y.significand & c.significand) < 0 and (
        above_lowest(x) | above_lowest(y) | above_lowest(c)
    ) < COUNT


cdef inline Sum nearest_product(const FloatRegister* x, const FloatRegister* y, uint64_t flip, int drop) noexcept nogil:
    """x * y, of ordinary operands; bit 0 of `flip`: negated."""
    cdef u128 product = <u128>x.significand * y.significand
    cdef uint64_t top = <uint64_t>(product >> 127)
    cdef int32_t exponent = <int32_t>(x.exponent + y.exponent) - 0xFFFF + <int32_t>top
    product += product & (<u128>top - 1)                   # doubled where its highest bit is 0
    return nearest(
        <uint64_t>(product >> 64), <uint64_t>product, 0, exponent, x.sign ^ y.sign ^ flip, drop
    )


cdef inline Sum nearest_far(
    u128 big, u128 small, int32_t distance, int32_t exponent, uint64_t sign, bint differ, int drop
) noexcept nogil:
    """big +- small, both with bit 127 set, exponents 64 or more apart: at most one bit cancels."""
    cdef uint64_t below = 1
    cdef uint64_t shift
    cdef u128 lost
    if distance < 128:
        # Bits below the 64 that are kept matter only as sticky bits.
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
    uint64_t high, uint64_t low, int32_t distance, uint64_t addend, int32_t exponent, uint64_t sign, bint differ,
    int drop,
) noexcept nogil:
    """high:low +- addend (both normalized); the addend's exponent is `exponent`, the product's `distance` more, at
    most 63 either way: exact in 192 bits.

    Shifts are written in two steps where a count of 64 can arise.
    """
    cdef int32_t negative = distance >> 31                 # -1 if the addend's exponent is the larger
    cdef int product_shift = -distance & negative
    cdef int addend_shift = distance & ~negative
    cdef uint64_t below = (low << 1) << (product_shift ^ 63)
    cdef u128 total
    cdef u128 other
    cdef uint64_t carry
    cdef uint64_t flip
    cdef int shift
    low = (low >> product_shift) | ((high << 1) << (product_shift ^ 63))
    high >>= product_shift
    total = (<u128>high << 64) | low
    other = (<u128>(addend >> addend_shift) << 64) | ((addend << 1) << (addend_shift ^ 63))
    exponent += addend_shift
    if differ:
        carry = total < other
        total -= other
        # If the addend is the larger, negate all 192 bits.
        flip = 0 - carry
        below = (below ^ flip) + carry
        total = (total ^ ((<u128>flip << 64) | flip)) + (carry & (below == 0))
        high = <uint64_t>(total >> 64)
        low = <uint64_t>total
        if unlikely(high == 0):
            if low == 0:
                return no_sum()
            high = low
            low = below
            below = 0
            exponent -= 64
        shift = leading_zeros(high)
        high = (high << shift) | ((low >> 1) >> (shift ^ 63))
        low = (low << shift) | ((below >> 1) >> (shift ^ 63))
        return nearest(high, low, below << shift, exponent - shift, sign ^ carry, drop)
    total += other
    carry = total < other
    high = <uint64_t>(total >> 64)
    low = <uint64_t>total
    below |= low & carry
    low = (low >> carry) | ((high & carry) << 63)
    high = (high >> carry) | (carry << 63)
    return nearest(high, low, below, exponent + <int32_t>carry, sign, drop)


cdef inline Sum nearest_multiply_add(
    const FloatRegister* x, const FloatRegister* y, const FloatRegister* c, uint64_t flip_product,
    uint64_t flip_addend, int drop,
) noexcept nogil:
    """x * y + c, of ordinary operands; bit 0 of the flips: that part negated."""
    cdef u128 product = <u128>x.significand * y.significand
    cdef uint64_t top = <uint64_t>(product >> 127)
    cdef int32_t exponent = <int32_t>(x.exponent + y.exponent) - 0xFFFF + <int32_t>top
    cdef int32_t distance = exponent - <int32_t>c.exponent
    cdef uint64_t sign = x.sign ^ y.sign ^ flip_product
    cdef bint differ = (sign ^ c.sign ^ flip_addend) & 1
    product += product & (<u128>top - 1)                   # doubled where its highest bit is 0
    if likely(<uint32_t>(distance + 63) < 127):
        return nearest_near(
            <uint64_t>(product >> 64), <uint64_t>product, distance, c.significand, <int32_t>c.exponent, sign, differ,
            drop
        )
    if distance > 0:
        return nearest_far(product, <u128>c.significand << 64, distance, exponent, sign, differ, drop)
    return nearest_far(
        <u128>c.significand << 64, product, -distance, <int32_t>c.exponent, sign ^ <uint64_t>differ, differ, drop
    )
