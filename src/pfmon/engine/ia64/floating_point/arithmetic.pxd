"""Exact floating-point arithmetic of the IA-64 F unit: unpacked operands, one rounding, flags, faults and traps.

SDM volume 1, chapter 5. Handlers in units/f*.pyx do the common cases themselves and call this for the rest.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t

cdef extern from *:
    """
    typedef unsigned __int128 pfmon_u128;
    #define pfmon_leading_zeros(x) __builtin_clzll(x)
    """
    ctypedef unsigned long long u128 "pfmon_u128"    # 128 bits; Cython only needs to know that it is unsigned
    int leading_zeros "pfmon_leading_zeros"(uint64_t) nogil

# Exceptions, in the order of FPSR.traps and of the flags of a status field.
cdef enum:
    FLAG_V = 1                   # invalid operation
    FLAG_D = 2                   # denormal/unnormal operand
    FLAG_Z = 4                   # zero divide
    FLAG_O = 8
    FLAG_U = 16
    FLAG_I = 32

# Trap bits of ISR.code, from bit 11 for a scalar operation and the high half, bit 7 for the low half.
cdef enum:
    TRAP_O = 1
    TRAP_U = 2
    TRAP_I = 4
    TRAP_FPA = 8                 # the result's magnitude is above the exact one

cdef enum:
    ROUND_NEAREST = 0
    ROUND_DOWN = 1
    ROUND_UP = 2
    ROUND_ZERO = 3

# Precision of an instruction; DYNAMIC takes it from the status field.
cdef enum:
    PC_DYNAMIC = 0
    PC_SINGLE = 1
    PC_DOUBLE = 2
    PC_PARALLEL = 3

cdef enum:
    KIND_ZERO = 0                # pseudo-zeros as well, with unnormal set
    KIND_FINITE = 1
    KIND_INFINITE = 2
    KIND_QUIET = 3
    KIND_SIGNALING = 4
    KIND_UNSUPPORTED = 5

cdef struct FpOperand:
    int kind
    bint unnormal                # raises D
    uint32_t sign
    int32_t exponent             # unbiased, of the leading one
    uint64_t significand         # normalized; unchanged for NaNs and unsupported operands

cdef struct FpEnvironment:
    int32_t precision            # bits
    int32_t minimum              # Emin, unbiased
    int32_t maximum              # Emax
    int rounding
    bint flush                   # ftz
    bint parallel
    uint32_t enabled             # exceptions that fault or trap

cdef struct FpOutcome:
    FloatRegister value
    uint32_t flags               # to be set in the status field
    uint32_t faults              # nonzero: the only effect
    uint32_t traps               # raised after the value is delivered
    bint predicate               # frcpa, frsqrta: p2
    uint32_t tiny                # 1: the result was tiny; 2: and flushed to zero


cdef inline FpOperand unpack(FloatRegister value) noexcept nogil:
    """Classify and normalize a register other than NaTVal (SDM volume 1, table 5-2)."""
    cdef FpOperand operand
    cdef int shift
    operand.sign = value.sign
    operand.significand = value.significand
    operand.exponent = <int32_t>value.exponent - EXPONENT_ONE
    operand.unnormal = False
    operand.kind = KIND_FINITE
    if value.exponent == EXPONENT_SPECIAL:
        if not value.significand & INTEGER_BIT:
            operand.kind = KIND_UNSUPPORTED
        elif value.significand == INTEGER_BIT:
            operand.kind = KIND_INFINITE
        elif value.significand & (INTEGER_BIT >> 1):
            operand.kind = KIND_QUIET
        else:
            operand.kind = KIND_SIGNALING
    elif value.significand == 0:
        operand.kind = KIND_ZERO
        operand.unnormal = value.exponent != 0
    else:
        if value.exponent == 0:
            # Double-extended denormals and pseudo-denormals: the exponent is that of the smallest normal.
            operand.exponent = -16382
            operand.unnormal = True
        if not value.significand & INTEGER_BIT:
            shift = leading_zeros(value.significand)
            operand.significand = value.significand << shift
            operand.exponent -= shift
            operand.unnormal = True
    return operand


cdef inline FloatRegister infinity(uint32_t sign) noexcept nogil:
    return float_register(sign, EXPONENT_SPECIAL, INTEGER_BIT)


cdef inline FloatRegister indefinite() noexcept nogil:
    """The QNaN indefinite, result of an invalid operation that does not fault."""
    return float_register(1, EXPONENT_SPECIAL, INTEGER_BIT | (INTEGER_BIT >> 1))


cdef inline bint is_nan(const FpOperand* operand) noexcept nogil:
    return operand.kind == KIND_QUIET or operand.kind == KIND_SIGNALING


# The status fields of FPSR (SDM volume 1, 5.2).

cdef inline int field_shift(int sf) noexcept nogil:
    return 6 + 13 * sf


cdef inline void set_flags(uint64_t* fpsr, int sf, uint32_t flags) noexcept nogil:
    fpsr[0] |= <uint64_t>flags << (field_shift(sf) + 7)


cdef inline uint32_t enabled_exceptions(uint64_t fpsr, int sf) noexcept nogil:
    """The exceptions that fault or trap: none where the field's td is set; sf0 has no td."""
    if sf and (fpsr >> (field_shift(sf) + 6)) & 1:
        return 0
    return ~<uint32_t>fpsr & 0x3F


cdef FpEnvironment environment(uint64_t fpsr, int sf, int pc) noexcept nogil
cdef void round_value(
    uint32_t sign, int32_t exponent, u128 significand, bint sticky, const FpEnvironment* env, FpOutcome* out
) noexcept nogil
cdef void multiply_add(
    const FpOperand* x, const FpOperand* y, const FpOperand* addend, bint has_addend, bint negate_product,
    bint negate_addend, const FpEnvironment* env, FpOutcome* out,
) noexcept nogil
cdef void divide(const FpOperand* x, const FpOperand* y, const FpEnvironment* env, FpOutcome* out) noexcept nogil
cdef void square_root(const FpOperand* x, const FpEnvironment* env, FpOutcome* out) noexcept nogil
cdef bint raise_fault(uint32_t flag, const FpEnvironment* env, FpOutcome* out) noexcept nogil
cdef bint propagate_nan(
    const FpOperand* first, const FpOperand* second, const FpOperand* third, const FpEnvironment* env, FpOutcome* out
) noexcept nogil
cdef uint64_t to_integer(
    const FpOperand* x, int width, bint is_signed, bint truncate, const FpEnvironment* env, FpOutcome* out
) noexcept nogil

cdef FloatRegister reciprocal_estimate(const FpOperand* x) noexcept nogil
cdef void reciprocal(const FpOperand* x, const FpOperand* y, const FpEnvironment* env, FpOutcome* out) noexcept nogil
cdef void reciprocal_root(const FpOperand* x, const FpEnvironment* env, FpOutcome* out) noexcept nogil
