"""Exact floating-point arithmetic of the IA-64 F unit (SDM volume 1, chapter 5; volume 3, fma, frcpa, fcvt).

Every operation is computed exactly, as up to 128 leading bits and a sticky bit, and rounded once by `round_value`.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t


cdef FpEnvironment environment(uint64_t fpsr, int sf, int pc) noexcept nogil:
    """Precision, range and rounding of one operation (SDM volume 1, table 5-6: pc, wre and the .s/.d completers)."""
    cdef FpEnvironment env
    cdef uint32_t control = <uint32_t>(fpsr >> field_shift(sf)) & 0x7F
    cdef bint widest = (control >> 1) & 1
    cdef int selected = (control >> 2) & 3
    env.rounding = (control >> 4) & 3
    env.flush = control & 1
    env.enabled = enabled_exceptions(fpsr, sf)
    env.parallel = pc == PC_PARALLEL
    env.minimum = -65534
    env.maximum = 65535
    if pc == PC_DYNAMIC:
        env.precision = 24 if selected == 0 else 53 if selected == 2 else 64
        if not widest:
            env.minimum = -16382
            env.maximum = 16383
    elif pc == PC_DOUBLE:
        env.precision = 53
        if not widest:
            env.minimum = -1022
            env.maximum = 1023
    else:
        env.precision = 24
        if env.parallel or not widest:
            env.minimum = -126
            env.maximum = 127
    return env


cdef bint raise_fault(uint32_t flag, const FpEnvironment* env, FpOutcome* out) noexcept nogil:
    """Record a V, D or Z exception; true if it is enabled and so faults."""
    out.flags |= flag
    if env.enabled & flag:
        out.faults |= flag
        return True
    return False


cdef inline bint rounds_away(int mode, uint32_t sign, bint odd, bint guard, bint rest) noexcept nogil:
    if mode == ROUND_NEAREST:
        return guard and (rest or odd)
    if mode == ROUND_ZERO:
        return False
    return (guard or rest) and sign == (1 if mode == ROUND_DOWN else 0)


cdef struct Rounded:
    u128 kept                    # at most 65 bits
    bint inexact
    bint increased


cdef Rounded drop_bits(u128 significand, int drop, bint sticky, int mode, uint32_t sign) noexcept nogil:
    """Round away the low `drop` bits (1 or more)."""
    cdef Rounded result
    cdef bint guard = False
    cdef bint rest = sticky
    cdef u128 one = 1
    if drop > 128:
        result.kept = 0
        rest = True
    else:
        result.kept = significand >> drop if drop < 128 else <u128>0
        guard = <bint>((significand >> (drop - 1)) & 1)
        if drop > 1 and (significand & ((one << (drop - 1)) - 1)) != 0:
            rest = True
    result.inexact = guard or rest
    result.increased = rounds_away(mode, sign, <bint>(result.kept & 1), guard, rest)
    if result.increased:
        result.kept += 1
    return result


cdef void trap_bits(uint32_t causes, bint increased, FpOutcome* out) noexcept nogil:
    out.traps = causes | (TRAP_FPA if increased else 0)


cdef void overflow(uint32_t sign, const FpEnvironment* env, FpOutcome* out) noexcept nogil:
    """Overflow without its trap: infinity or the largest number, by rounding mode (SDM volume 1, 5.4.2)."""
    cdef bint to_infinity = env.rounding == ROUND_NEAREST or env.rounding == (ROUND_DOWN if sign else ROUND_UP)
    cdef uint64_t ones = ~<uint64_t>0
    out.flags |= FLAG_O | FLAG_I
    if to_infinity:
        out.value = infinity(sign)
    else:
        out.value = float_register(sign, env.maximum + EXPONENT_ONE, ones << (64 - env.precision))
    if env.enabled & FLAG_I:
        trap_bits(TRAP_I, to_infinity, out)


cdef uint32_t wrapped(int32_t exponent, const FpEnvironment* env) noexcept nogil:
    """The exponent that a trapped overflow or underflow delivers: modulo the width of the exponent field."""
    cdef uint32_t biased
    if env.parallel:
        # Placed so that to_single picks the 8 bits.
        biased = <uint32_t>(exponent + 127) & 0xFF
        return ((biased & 0x80) << 9) | (biased & 0x7F)
    return <uint32_t>(exponent + EXPONENT_ONE) & 0x1FFFF


cdef void deliver_wrapped(
    uint32_t sign, int32_t exponent, Rounded rounded, uint32_t flag, uint32_t trap, const FpEnvironment* env,
    FpOutcome* out
) noexcept nogil:
    """The response to an overflow or a tiny result whose trap is enabled."""
    cdef uint64_t significand = <uint64_t>rounded.kept << (64 - env.precision)
    out.value = float_register(sign, wrapped(exponent, env), significand)
    out.flags |= flag
    if rounded.inexact:
        out.flags |= FLAG_I
        trap |= TRAP_I
    trap_bits(trap, rounded.increased, out)


cdef void denormalize(
    uint32_t sign, int32_t exponent, u128 significand, bint sticky, const FpEnvironment* env, FpOutcome* out
) noexcept nogil:
    """A tiny result without its trap: denormalize the exact value, then round it (SDM volume 1, 5.4.3)."""
    cdef Rounded rounded
    cdef int32_t drop = 128 - env.precision + (env.minimum - exponent)
    cdef uint32_t field = env.minimum + EXPONENT_ONE
    out.tiny = 2 if env.flush else 1
    if env.flush:
        out.value = float_register(sign, 0, 0)
        out.flags |= FLAG_U | FLAG_I
        if env.enabled & FLAG_I:
            trap_bits(TRAP_I, False, out)
        return
    rounded = drop_bits(significand, drop, sticky, env.rounding, sign)
    significand = rounded.kept << (64 - env.precision)
    if significand == 0 or (env.minimum == -16382 and not <uint64_t>significand & INTEGER_BIT):
        # Double-extended denormals have exponent 0 in a register (SDM volume 1, table 5-2).
        field = 0
    out.value = float_register(sign, field, <uint64_t>significand)
    if rounded.inexact:
        out.flags |= FLAG_U | FLAG_I
        if env.enabled & FLAG_I:
            trap_bits(TRAP_I, rounded.increased, out)


cdef void round_value(
    uint32_t sign, int32_t exponent, u128 significand, bint sticky, const FpEnvironment* env, FpOutcome* out
) noexcept nogil:
    """Deliver a nonzero exact value: bit 127 of the significand is set and weighs 2**exponent; sticky: lower bits are
    set.

    Tininess is detected after rounding (SDM volume 1, 5.4.3).
    """
    cdef Rounded rounded = drop_bits(significand, 128 - env.precision, sticky, env.rounding, sign)
    cdef int32_t rounded_exponent = exponent
    if (rounded.kept >> env.precision) != 0:
        rounded.kept >>= 1
        rounded_exponent += 1
    if rounded_exponent > env.maximum:
        if env.enabled & FLAG_O:
            deliver_wrapped(sign, rounded_exponent, rounded, FLAG_O, TRAP_O, env, out)
        else:
            overflow(sign, env, out)
    elif rounded_exponent < env.minimum:
        if env.enabled & FLAG_U:
            deliver_wrapped(sign, rounded_exponent, rounded, FLAG_U, TRAP_U, env, out)
        else:
            denormalize(sign, exponent, significand, sticky, env, out)
    else:
        out.value = float_register(
            sign, rounded_exponent + EXPONENT_ONE, <uint64_t>rounded.kept << (64 - env.precision)
        )
        if rounded.inexact:
            out.flags |= FLAG_I
            if env.enabled & FLAG_I:
                trap_bits(TRAP_I, rounded.increased, out)


cdef bint propagate_nan(
    const FpOperand* first, const FpOperand* second, const FpOperand* third, const FpEnvironment* env, FpOutcome* out
) noexcept nogil:
    """Unsupported operands and NaNs: true if they decide the result. The first NaN in the given order is delivered."""
    cdef const FpOperand* chosen
    if first.kind == KIND_UNSUPPORTED or second.kind == KIND_UNSUPPORTED or third.kind == KIND_UNSUPPORTED:
        raise_fault(FLAG_V, env, out)
        out.value = indefinite()
        return True
    if is_nan(first):
        chosen = first
    elif is_nan(second):
        chosen = second
    elif is_nan(third):
        chosen = third
    else:
        return False
    if first.kind == KIND_SIGNALING or second.kind == KIND_SIGNALING or third.kind == KIND_SIGNALING:
        raise_fault(FLAG_V, env, out)
    out.value = float_register(chosen.sign, EXPONENT_SPECIAL, chosen.significand | (INTEGER_BIT >> 1))
    return True


cdef void add_magnitudes(
    u128 big, int32_t big_exponent, uint32_t big_sign, u128 small, int32_t small_exponent, bint subtract,
    const FpEnvironment* env, FpOutcome* out,
) noexcept nogil:
    """Round big +- small: 128-bit significands with bit 127 set, |big| >= |small|.

    64 bits are kept below the sum. That is exact while leading bits can cancel (exponents at most 1 apart); after
    that at most one bit cancels and the lowest kept bit may stand for everything below.
    """
    cdef int32_t distance = big_exponent - small_exponent
    cdef uint64_t below = 0
    cdef u128 total
    cdef u128 lost
    cdef u128 one = 1
    cdef int shift
    if distance >= 128:
        small = 0
        below = 1
    elif distance:
        lost = small << (128 - distance)
        below = <uint64_t>(lost >> 64) | (1 if <uint64_t>lost else 0)
        small >>= distance
    if not subtract:
        total = big + small
        if total < big:
            below = (below >> 1) | (below & 1) | ((<uint64_t>total & 1) << 63)
            total = (total >> 1) | (one << 127)
            big_exponent += 1
        round_value(big_sign, big_exponent, total, below != 0, env, out)
        return
    total = big - small - (1 if below else 0)
    below = 0 - below
    if total == 0 and below == 0:
        # x - x: +0, except when rounding down (SDM volume 1, 5.4: signed zero results).
        out.value = float_register(1 if env.rounding == ROUND_DOWN else 0, 0, 0)
        return
    while <uint64_t>(total >> 64) == 0:
        total = (total << 64) | below
        below = 0
        big_exponent -= 64
    shift = leading_zeros(<uint64_t>(total >> 64))
    if shift:
        total = (total << shift) | (below >> (64 - shift))
        below <<= shift
    round_value(big_sign, big_exponent - shift, total, below != 0, env, out)


cdef void add_to_product(
    uint32_t sign, int32_t exponent, u128 product, const FpOperand* addend, uint32_t addend_sign,
    const FpEnvironment* env, FpOutcome* out,
) noexcept nogil:
    cdef u128 other = <u128>addend.significand << 64
    cdef bint subtract = sign != addend_sign
    if exponent > addend.exponent or (exponent == addend.exponent and product >= other):
        add_magnitudes(product, exponent, sign, other, addend.exponent, subtract, env, out)
    else:
        add_magnitudes(other, addend.exponent, addend_sign, product, exponent, subtract, env, out)


cdef void add_finite(
    const FpOperand* x, const FpOperand* y, const FpOperand* addend, bint has_addend, uint32_t sign,
    uint32_t addend_sign, const FpEnvironment* env, FpOutcome* out,
) noexcept nogil:
    """x * y + addend for numbers that are not infinite; `sign` is the product's."""
    cdef u128 product
    cdef int32_t exponent
    if x.kind == KIND_ZERO or y.kind == KIND_ZERO:
        if not has_addend:
            out.value = float_register(sign, 0, 0)
        elif addend.kind != KIND_ZERO:
            round_value(addend_sign, addend.exponent, <u128>addend.significand << 64, False, env, out)
        elif sign == addend_sign:
            out.value = float_register(sign, 0, 0)
        else:
            out.value = float_register(1 if env.rounding == ROUND_DOWN else 0, 0, 0)
        return
    product = <u128>x.significand * y.significand
    exponent = x.exponent + y.exponent + 1
    if not <uint64_t>(product >> 64) & INTEGER_BIT:
        product <<= 1
        exponent -= 1
    if not has_addend or addend.kind == KIND_ZERO:
        round_value(sign, exponent, product, False, env, out)
    else:
        add_to_product(sign, exponent, product, addend, addend_sign, env, out)


cdef void multiply_add(
    const FpOperand* x, const FpOperand* y, const FpOperand* addend, bint has_addend, bint negate_product,
    bint negate_addend, const FpEnvironment* env, FpOutcome* out,
) noexcept nogil:
    """+-(x * y) +- addend with one rounding; has_addend is false when the instruction names f0 (IEEE multiply).

    SDM volume 3, fma, fms, fnma: NaNs are taken from f4 (y), then f2 (addend), then f3 (x).
    """
    cdef uint32_t sign = x.sign ^ y.sign ^ (1 if negate_product else 0)
    cdef uint32_t addend_sign = addend.sign ^ (1 if negate_addend else 0)
    cdef bint product_infinite = x.kind == KIND_INFINITE or y.kind == KIND_INFINITE
    cdef bint addend_infinite = addend.kind == KIND_INFINITE
    out.flags = 0
    out.faults = 0
    out.tiny = 0
    out.traps = 0
    if propagate_nan(y, addend, x, env, out):
        return
    if product_infinite:
        # A pseudo-zero times infinity is infinity (SDM volume 1, 5.1.3).
        if (x.kind == KIND_ZERO and not x.unnormal) or (y.kind == KIND_ZERO and not y.unnormal) or (
            addend_infinite and sign != addend_sign
        ):
            raise_fault(FLAG_V, env, out)
            out.value = indefinite()
            return
    if x.unnormal or y.unnormal or addend.unnormal:
        if raise_fault(FLAG_D, env, out):
            return
    if product_infinite or addend_infinite:
        out.value = infinity(sign if product_infinite else addend_sign)
        return
    add_finite(x, y, addend, has_addend, sign, addend_sign, env, out)


cdef void divide(const FpOperand* x, const FpOperand* y, const FpEnvironment* env, FpOutcome* out) noexcept nogil:
    """x / y for finite nonzero operands."""
    cdef u128 divisor = y.significand
    cdef u128 numerator = <u128>x.significand << 63
    cdef u128 high = numerator / divisor
    cdef u128 remainder = (numerator % divisor) << 64
    cdef u128 quotient = (high << 64) | (remainder / divisor)
    cdef int32_t exponent = x.exponent - y.exponent
    if not <uint64_t>high & INTEGER_BIT:
        quotient <<= 1
        exponent -= 1
    round_value(x.sign ^ y.sign, exponent, quotient, remainder % divisor != 0, env, out)


cdef void square_root(const FpOperand* x, const FpEnvironment* env, FpOutcome* out) noexcept nogil:
    """The square root of a finite positive operand, digit by digit: 64 bits, a guard bit and a sticky bit."""
    cdef bint odd = x.exponent & 1
    cdef u128 radicand = <u128>x.significand << (64 if odd else 63)
    cdef u128 remainder = 0
    cdef uint64_t root = 0
    cdef u128 trial
    cdef int i
    for i in range(64):
        remainder = (remainder << 2) | (radicand >> 126)
        radicand <<= 2
        trial = (<u128>root << 2) | 1
        root <<= 1
        if remainder >= trial:
            remainder -= trial
            root |= 1
    # (root + 1/2)**2 = root**2 + root + 1/4: the next bit is set exactly if the remainder exceeds the root.
    trial = <u128>root << 64
    if remainder > root:
        trial |= INTEGER_BIT
    round_value(0, (x.exponent - (1 if odd else 0)) // 2, trial, remainder != 0, env, out)


cdef uint64_t to_integer(
    const FpOperand* x, int width, bint is_signed, bint truncate, const FpEnvironment* env, FpOutcome* out
) noexcept nogil:
    """fcvt.fx and fpcvt.fx with their variants: an integer of 64 or 32 bits, or the integer indefinite (SDM volume
    3)."""
    cdef uint64_t unrepresentable = <uint64_t>1 << (width - 1)
    cdef uint64_t magnitude = 0
    cdef Rounded rounded
    cdef int mode = ROUND_ZERO if truncate else env.rounding
    cdef bint invalid
    rounded.kept = 0
    rounded.inexact = False
    rounded.increased = False
    invalid = x.kind > KIND_FINITE or (x.kind == KIND_FINITE and x.exponent >= width)
    if not invalid and x.kind == KIND_FINITE:
        rounded = drop_bits(
            <u128>x.significand << 64, 127 - x.exponent if x.exponent >= -2 else 129, False, mode, x.sign
        )
        if is_signed:
            invalid = rounded.kept > unrepresentable - (0 if x.sign else 1)
        else:
            invalid = (rounded.kept >> width) != 0 or (x.sign and rounded.kept != 0)
    if invalid:
        raise_fault(FLAG_V, env, out)
        return unrepresentable
    if x.unnormal and raise_fault(FLAG_D, env, out):
        return 0
    if rounded.inexact:
        out.flags |= FLAG_I
        if env.enabled & FLAG_I:
            trap_bits(TRAP_I, rounded.increased, out)
    magnitude = <uint64_t>rounded.kept
    return 0 - magnitude if x.sign else magnitude
