"""Order of floating-point operands and the exceptions of comparing them (SDM volume 3, fcmp, fmin, fpcmp)."""

# The four possible orders of two values, as bits: a relation is the set of those for which it holds.
cdef enum:
    ORDER_LESS = 1
    ORDER_EQUAL = 2
    ORDER_GREATER = 4
    ORDER_UNORDERED = 8


cdef inline int magnitude_order(const FpOperand* x, const FpOperand* y) noexcept nogil:
    """The order of |x| and |y|, neither of them a NaN or unsupported."""
    if x.kind != y.kind:
        # The kinds zero, finite and infinite ascend by magnitude.
        return ORDER_LESS if x.kind < y.kind else ORDER_GREATER
    if x.kind == KIND_ZERO or x.kind == KIND_INFINITE:
        return ORDER_EQUAL
    if x.exponent != y.exponent:
        return ORDER_LESS if x.exponent < y.exponent else ORDER_GREATER
    if x.significand != y.significand:
        return ORDER_LESS if x.significand < y.significand else ORDER_GREATER
    return ORDER_EQUAL


cdef inline int order(const FpOperand* x, const FpOperand* y) noexcept nogil:
    cdef int result
    if x.kind > KIND_INFINITE or y.kind > KIND_INFINITE:
        return ORDER_UNORDERED
    if x.kind == KIND_ZERO and y.kind == KIND_ZERO:
        return ORDER_EQUAL
    if x.sign != y.sign:
        return ORDER_LESS if x.sign else ORDER_GREATER
    result = magnitude_order(x, y)
    if x.sign and result != ORDER_EQUAL:
        return ORDER_LESS + ORDER_GREATER - result
    return result


cdef inline void comparison_exceptions(
    const FpOperand* x, const FpOperand* y, bint quiet, const FpEnvironment* env, FpOutcome* out
) noexcept nogil:
    """V for unsupported operands and SNaNs, and for QNaNs unless the relation is quiet (eq, unord); else D."""
    if x.kind == KIND_UNSUPPORTED or y.kind == KIND_UNSUPPORTED:
        raise_fault(FLAG_V, env, out)
    elif is_nan(x) or is_nan(y):
        if not quiet or x.kind == KIND_SIGNALING or y.kind == KIND_SIGNALING:
            raise_fault(FLAG_V, env, out)
    elif x.unnormal or y.unnormal:
        raise_fault(FLAG_D, env, out)
