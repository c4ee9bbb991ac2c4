"""frcpa, frsqrta, fprcpa, fprsqrta: the architected approximations (SDM volume 3, those instructions).

A processor raises a software-assist fault where the following iterations could leave the exponent range; the operating
system then completes the instruction with the IEEE quotient or square root and p2 = 0. This result is delivered here.
"""

from libc.math cimport sqrt
from libc.stdint cimport int32_t, uint16_t, uint32_t, uint64_t


# The exponents of a single's and of a register's range. SPAN: number of bits by which a dividend or radicand exceeds
# the smallest number, so that remainders stay normal.
cdef enum:
    PARALLEL_MINIMUM = -126
    PARALLEL_MAXIMUM = 127
    PARALLEL_SPAN = 24
    REGISTER_MINIMUM = -65534
    REGISTER_MAXIMUM = 65535
    REGISTER_SPAN = 64

cdef uint16_t reciprocal_table[256]
cdef uint16_t root_table[256]


cdef uint32_t rounded_quotient(uint32_t numerator, uint32_t denominator) noexcept:
    return (2 * numerator + denominator) // (2 * denominator)


cdef void fill_tables() noexcept:
    """10 bits after the leading 1 of 2/x, and of 2/sqrt(x) or 4/sqrt(x), at the middle of each interval.

    SDM volume 3, frcpa and frsqrta: tables RECIP_TABLE (intervals of 1/256) and RECIP_SQRT_TABLE (of 1/128: odd
    exponents first). The manual lists the values; the formulas give exactly those.
    """
    cdef uint32_t i, place, x
    for i in range(256):
        # x = (513 + 2 i) / 512
        reciprocal_table[i] = <uint16_t>(rounded_quotient(2 * 512 * 1024, 513 + 2 * i) - 1024)
    for place in range(256):
        # x = (257 + 2 i) / 256 for even exponents, twice that for odd ones: nearest to 1024 * 2 / sqrt(x).
        x = (257 + 2 * (place & 127)) << (place < 128)
        root_table[place] = <uint16_t>((<uint32_t>sqrt(<double>((<uint64_t>1 << 32) // x)) + 1) // 2 - 1024)


fill_tables()


def tables() -> tuple[list[int], list[int]]:
    """The two tables as the manual prints them."""
    return [reciprocal_table[i] for i in range(256)], [root_table[i] for i in range(256)]


cdef FloatRegister reciprocal_estimate(const FpOperand* x) noexcept nogil:
    """About 1/x for a finite nonzero operand."""
    cdef uint64_t digits = reciprocal_table[(x.significand >> 55) & 0xFF]
    return float_register(x.sign, <uint32_t>(EXPONENT_ONE - 1 - x.exponent), INTEGER_BIT | (digits << 53))


cdef FloatRegister root_estimate(const FpOperand* x) noexcept nogil:
    """About 1/sqrt(x) for a finite positive operand."""
    cdef bint odd = x.exponent & 1
    cdef uint64_t digits = root_table[(0 if odd else 128) + ((x.significand >> 56) & 0x7F)]
    cdef int32_t half = (x.exponent - (1 if odd else 0)) // 2
    return float_register(0, <uint32_t>(EXPONENT_ONE - 1 - half), INTEGER_BIT | (digits << 53))


cdef bint needs_assistance(const FpOperand* x, const FpOperand* y) noexcept nogil:
    """Whether iterations for x/y could leave the register range."""
    cdef int32_t quotient = x.exponent - y.exponent
    return (
        y.exponent < REGISTER_MINIMUM
        or y.exponent >= REGISTER_MAXIMUM - 2
        or quotient <= REGISTER_MINIMUM + 1
        or quotient >= REGISTER_MAXIMUM
        or x.exponent < REGISTER_MINIMUM + REGISTER_SPAN
    )


cdef void reciprocal_single(const FpOperand* x, const FpOperand* y, FpOutcome* out) noexcept nogil:
    """One half of fprcpa. Operands outside the limits get p2 = 0 (no iterations) without assistance."""
    cdef int32_t quotient = x.exponent - y.exponent
    if y.exponent < PARALLEL_MINIMUM:
        out.value = infinity(y.sign)
    elif y.exponent >= PARALLEL_MAXIMUM - 2:
        out.value = float_register(y.sign, 0, 0)
    else:
        out.value = reciprocal_estimate(y)
        out.predicate = not (
            quotient <= PARALLEL_MINIMUM + 1
            or quotient >= PARALLEL_MAXIMUM
            or x.exponent < PARALLEL_MINIMUM + PARALLEL_SPAN
        )


cdef void reciprocal(const FpOperand* x, const FpOperand* y, const FpEnvironment* env, FpOutcome* out) noexcept nogil:
    """frcpa, or one half of fprcpa, of x/y: the quotient where it is a special value, else about 1/y and p2 = 1."""
    cdef uint32_t sign = x.sign ^ y.sign
    if propagate_nan(x, y, x, env, out):
        return
    if x.kind == y.kind and (x.kind == KIND_INFINITE or x.kind == KIND_ZERO):
        raise_fault(FLAG_V, env, out)
        out.value = indefinite()
        return
    if y.kind == KIND_ZERO and x.kind != KIND_INFINITE:
        raise_fault(FLAG_Z, env, out)
        out.value = infinity(sign)
        return
    if (x.unnormal or y.unnormal) and raise_fault(FLAG_D, env, out):
        return
    if x.kind == KIND_INFINITE:
        out.value = infinity(sign)
    elif x.kind == KIND_ZERO or y.kind == KIND_INFINITE:
        out.value = float_register(sign, 0, 0)
    elif env.parallel:
        reciprocal_single(x, y, out)
    elif needs_assistance(x, y):
        divide(x, y, env, out)
    else:
        out.value = reciprocal_estimate(y)
        out.predicate = True


cdef void reciprocal_root(const FpOperand* x, const FpEnvironment* env, FpOutcome* out) noexcept nogil:
    """frsqrta, or one half of fprsqrta. For zero and infinity frsqrta returns the square root, fprsqrta its
    reciprocal."""
    if propagate_nan(x, x, x, env, out):
        return
    if x.sign and x.kind != KIND_ZERO:
        raise_fault(FLAG_V, env, out)
        out.value = indefinite()
        return
    if x.unnormal and raise_fault(FLAG_D, env, out):
        return
    if x.kind == KIND_ZERO:
        out.value = infinity(x.sign) if env.parallel else float_register(x.sign, 0, 0)
    elif x.kind == KIND_INFINITE:
        out.value = float_register(0, 0, 0) if env.parallel else infinity(0)
    elif env.parallel:
        out.value = root_estimate(x)
        out.predicate = x.exponent >= PARALLEL_MINIMUM + PARALLEL_SPAN
    elif x.exponent < REGISTER_MINIMUM + REGISTER_SPAN:
        square_root(x, env, out)
    else:
        out.value = root_estimate(x)
        out.predicate = True
