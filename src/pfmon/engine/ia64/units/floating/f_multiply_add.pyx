"""fma, fms, fnma in every precision, and their forms with f0 or f1 (format F1; SDM volume 3, fma, fms, fnma).

Op.x: the shift of the status field in FPSR, and in bits 8 and 9 whether the product and the addend are negated.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t


from pfmon.isa.ia64.encoding_rows import row

cdef extern from *:
    """
    #include <string.h>
    static inline double pfmon_as_double(unsigned long long bits)
    {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    static inline unsigned long long pfmon_as_bits(double value)
    {
        unsigned long long bits;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    """
    int trailing_zeros "__builtin_ctzll"(uint64_t) nogil
    double as_double "pfmon_as_double"(uint64_t) nogil
    uint64_t as_bits "pfmon_as_bits"(double) nogil

cdef extern from "<math.h>" nogil:
    double host_fma "fma"(double, double, double)

# A status field, as (FPSR >> shift): ftz 0, wre 1, pc 2-3, rc 4-5, td 6, flags 7-12.
cdef enum:
    FIELD_WRE = 1 << 1
    FIELD_PC = 3 << 2
    FIELD_RC = 3 << 4
    FIELD_I = 1 << 12
    NEGATE_PRODUCT = 1 << 8
    NEGATE_ADDEND = 1 << 9


cdef uint32_t exactly(Cpu* cpu, Op* op, int pc) noexcept nogil:
    """The instruction in all its architectural cases. Returns how it ended (f.pxd).

    With f2 = f0 it is an IEEE multiplication: nothing is added, so that -0 stays -0.
    """
    cdef FpOperand x
    cdef FpOperand y
    cdef FpOperand addend
    cdef FpEnvironment env
    cdef FpOutcome out
    cdef int sf = ((op.x & 0x3F) - 6) // 13
    if fr_is_natval(cpu, op.r3) or fr_is_natval(cpu, op.r4) or fr_is_natval(cpu, op.r2):
        set_natval(cpu, op.r1)
        return 0
    x = unpack(cpu.fr[op.r3])
    y = unpack(cpu.fr[op.r4])
    addend = unpack(cpu.fr[op.r2])
    env = environment(cpu.fpsr, sf, pc)
    multiply_add(
        &x, &y, &addend, op.r2 != 0, (op.x & NEGATE_PRODUCT) != 0, (op.x & NEGATE_ADDEND) != 0, &env, &out
    )
    if not out.faults:
        set_flags(&cpu.fpsr, sf, out.flags)
        set_float(&cpu.fr[op.r1], out.value.sign, out.value.exponent, out.value.significand)
        note_tiny(cpu, op, &out)
    return ending(&out)


cdef inline bint i_trap_disabled(uint64_t fpsr, uint64_t field) noexcept nogil:
    return ((fpsr >> 5) | (field >> 6)) & 1


cdef inline uint32_t deliver_sum(
    Cpu* cpu, Op* op, uint64_t field, Sum result, uint32_t lowest, uint32_t count, int pc
) noexcept nogil:
    """Write the rounded result if its exponent is one of `count` from `lowest` and it does not trap."""
    # A smaller exponent may be tiny, a larger one an overflow, significand 0 an exact zero.
    if unlikely(result.significand == 0 or <uint32_t>result.word - lowest >= count):
        return exactly(cpu, op, pc)
    if result.word >> INEXACT_SHIFT:
        if unlikely(not i_trap_disabled(cpu.fpsr, field)):
            return exactly(cpu, op, pc)
        cpu.fpsr |= <uint64_t>FIELD_I << (op.x & 0x3F)
        result.word ^= <uint64_t>1 << INEXACT_SHIFT
    cpu.fr[op.r1].significand = result.significand
    (<uint64_t*>&cpu.fr[op.r1].exponent)[0] = result.word
    return 0


cdef inline Sum nearest_sum(Cpu* cpu, Op* op, bint has_addend, int drop) noexcept nogil:
    """The instruction's result for ordinary operands and result; else significand 0."""
    cdef const FloatRegister* x = &cpu.fr[op.r3]
    cdef const FloatRegister* y = &cpu.fr[op.r4]
    cdef const FloatRegister* c = &cpu.fr[op.r2]
    if has_addend:
        if likely(all_ordinary(x, y, c)):
            return nearest_multiply_add(x, y, c, op.x >> 8, op.x >> 9, drop)
        if is_ordinary(c):
            # A zero product can be left out: its sign has no effect.
            if (is_zero(x) and (is_zero(y) or is_ordinary(y))) or (is_zero(y) and is_ordinary(x)):
                return nearest(c.significand, 0, 0, c.exponent, c.sign ^ (op.x >> 9), drop)
            return no_sum()
        # So can a zero addend; f0 adds nothing.
        if not is_zero(c):
            return no_sum()
    if unlikely(not are_ordinary(x, y)):
        return no_sum()
    return nearest_product(x, y, op.x >> 8, drop)


cdef uint32_t rounded_double(Cpu* cpu, Op* op, bint has_addend) noexcept nogil:
    cdef uint64_t field = cpu.fpsr >> (op.x & 0x3F)
    if unlikely((field & FIELD_RC) != 0):
        return exactly(cpu, op, PC_DOUBLE)
    return deliver_sum(
        cpu, op, field, nearest_sum(cpu, op, has_addend, 11), 1 if field & FIELD_WRE else EXPONENT_DOUBLE + 1,
        0x1FFFD if field & FIELD_WRE else 0x7FE, PC_DOUBLE
    )


cdef uint32_t rounded_single(Cpu* cpu, Op* op, bint has_addend) noexcept nogil:
    cdef uint64_t field = cpu.fpsr >> (op.x & 0x3F)
    if unlikely((field & FIELD_RC) != 0):
        return exactly(cpu, op, PC_SINGLE)
    return deliver_sum(
        cpu, op, field, nearest_sum(cpu, op, has_addend, 40), 1 if field & FIELD_WRE else EXPONENT_SINGLE + 1,
        0x1FFFD if field & FIELD_WRE else 0xFE, PC_SINGLE
    )


cdef inline uint32_t rounded_dynamic(Cpu* cpu, Op* op, bint has_addend) noexcept nogil:
    cdef uint64_t field = cpu.fpsr >> (op.x & 0x3F)
    if unlikely((field & (FIELD_RC | FIELD_PC)) != FIELD_PC):
        return exactly(cpu, op, PC_DYNAMIC)
    return deliver_sum(
        cpu, op, field, nearest_sum(cpu, op, has_addend, 0), 1 if field & FIELD_WRE else EXPONENT_EXTENDED + 1,
        0x1FFFD if field & FIELD_WRE else 0x7FFE, PC_DYNAMIC
    )


cdef int fma_double_long(Cpu* cpu, Op* op) noexcept nogil:
    return then_go(cpu, op, rounded_double(cpu, op, True))


cdef int fmpy_double_long(Cpu* cpu, Op* op) noexcept nogil:
    return then_go(cpu, op, rounded_double(cpu, op, False))


cdef inline bint host_rounds(uint64_t fpsr, uint64_t field) noexcept nogil:
    """Whether the host's rounding serves: round to nearest in double's own range, I already set and not trapping."""
    return (field & (FIELD_I | FIELD_RC | FIELD_WRE)) == FIELD_I and (fpsr & FLAG_I) != 0


cdef inline bint host_rounds_and_tells(uint64_t fpsr, uint64_t field) noexcept nogil:
    """The same with I not yet set: the exactness of the result has to be known."""
    return (field & (FIELD_I | FIELD_RC | FIELD_WRE)) == 0 and (fpsr & FLAG_I) != 0


# Doubles from 2**-255 to below 2**256 go to the host: no product or sum of these overflows or is tiny.
cdef enum:
    HOST_LOWEST = 0xFFFF - 255


cdef inline double host_double(const FloatRegister* x, uint64_t negate) noexcept nogil:
    # Exponent and sign are read separately, as a recent load may have written them.
    return as_double(
        ((x.sign ^ negate) << 63) | (<uint64_t>(x.exponent - EXPONENT_DOUBLE) << 52) | ((x.significand << 1) >> 12)
    )


cdef inline uint32_t host_exponent(const FloatRegister* x) noexcept nogil:
    return x.exponent - HOST_LOWEST


cdef inline bint store_double(FloatRegister* target, double value) noexcept nogil:
    """Store a nonzero value; False, with nothing done, for zero."""
    cdef uint64_t bits = as_bits(value)
    if unlikely(bits << 1 == 0):
        return False
    target.significand = INTEGER_BIT | (bits << 11)
    (<uint64_t*>&target.exponent)[0] = (((bits >> 52) & 0x7FF) + EXPONENT_DOUBLE) | ((bits >> 63) << 32)
    return True


cdef inline bint exact_product(const FloatRegister* x, const FloatRegister* y) noexcept nogil:
    """Whether x * y certainly fits in 53 bits."""
    return trailing_zeros(x.significand) + trailing_zeros(y.significand) >= 2 * 64 - 53


cdef inline int store_sum(Cpu* cpu, Op* op, double x, double y) noexcept nogil:
    """x + y rounded, and I if inexact: the rounding error of a sum is itself a double. 0 for zero."""
    cdef double total = x + y
    cdef double part = total - x
    cdef double error = (x - (total - part)) + (y - part)
    if not store_double(&cpu.fr[op.r1], total):
        return 0
    if error != 0.0:
        cpu.fpsr |= <uint64_t>FIELD_I << (op.x & 0x3F)
    return 1


cdef int fma_double_telling(Cpu* cpu, Op* op) noexcept nogil:
    cdef const FloatRegister* x = &cpu.fr[op.r3]
    cdef const FloatRegister* y = &cpu.fr[op.r4]
    cdef const FloatRegister* c = &cpu.fr[op.r2]
    if (
        host_rounds_and_tells(cpu.fpsr, cpu.fpsr >> (op.x & 0x3F))
        and ((x.significand | y.significand | c.significand) << 53) == 0
        and <int64_t>(x.significand & y.significand & c.significand) < 0
        and (host_exponent(x) | host_exponent(y) | host_exponent(c)) < 0x200
        and exact_product(x, y)
        and store_sum(cpu, op, host_double(x, op.x >> 8) * host_double(y, 0), host_double(c, op.x >> 9))
    ):
        return next_op(cpu, op)
    return fma_double_long(cpu, op)


cdef int fadd_double_telling(Cpu* cpu, Op* op) noexcept nogil:
    cdef const FloatRegister* x = &cpu.fr[op.r3]
    cdef const FloatRegister* c = &cpu.fr[op.r2]
    if (
        host_rounds_and_tells(cpu.fpsr, cpu.fpsr >> (op.x & 0x3F))
        and ((x.significand | c.significand) << 53) == 0
        and <int64_t>(x.significand & c.significand) < 0
        and (host_exponent(x) | host_exponent(c)) < 0x200
        and store_sum(cpu, op, host_double(x, op.x >> 8), host_double(c, op.x >> 9))
    ):
        return next_op(cpu, op)
    return fma_double_long(cpu, op)


cdef int fmpy_double_telling(Cpu* cpu, Op* op) noexcept nogil:
    cdef const FloatRegister* x = &cpu.fr[op.r3]
    cdef const FloatRegister* y = &cpu.fr[op.r4]
    if (
        host_rounds_and_tells(cpu.fpsr, cpu.fpsr >> (op.x & 0x3F))
        and ((x.significand | y.significand) << 53) == 0
        and <int64_t>(x.significand & y.significand) < 0
        and (host_exponent(x) | host_exponent(y)) < 0x200
        and exact_product(x, y)
        and store_double(&cpu.fr[op.r1], host_double(x, op.x >> 8) * host_double(y, 0))
    ):
        return next_op(cpu, op)
    return fmpy_double_long(cpu, op)


cdef int fma_double(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint32_t flips = op.x
    cdef const FloatRegister* x = &cpu.fr[op.r3]
    cdef const FloatRegister* y = &cpu.fr[op.r4]
    cdef const FloatRegister* c = &cpu.fr[op.r2]
    if likely(
        host_rounds(cpu.fpsr, cpu.fpsr >> (flips & 0x3F))
        and ((x.significand | y.significand | c.significand) << 53) == 0
        and <int64_t>(x.significand & y.significand & c.significand) < 0
        and (host_exponent(x) | host_exponent(y) | host_exponent(c)) < 0x200
    ):
        if likely(
            store_double(
                &cpu.fr[op.r1],
                host_fma(host_double(x, flips >> 8), host_double(y, 0), host_double(c, flips >> 9)),
            )
        ):
            return next_op(cpu, op)
    return fma_double_telling(cpu, op)


cdef int fmpy_double(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint32_t flips = op.x
    cdef const FloatRegister* x = &cpu.fr[op.r3]
    cdef const FloatRegister* y = &cpu.fr[op.r4]
    if likely(
        host_rounds(cpu.fpsr, cpu.fpsr >> (flips & 0x3F))
        and ((x.significand | y.significand) << 53) == 0
        and <int64_t>(x.significand & y.significand) < 0
        and (host_exponent(x) | host_exponent(y)) < 0x200
    ):
        if likely(store_double(&cpu.fr[op.r1], host_double(x, flips >> 8) * host_double(y, 0))):
            return next_op(cpu, op)
    return fmpy_double_telling(cpu, op)


cdef int fadd_double(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint32_t flips = op.x
    cdef const FloatRegister* x = &cpu.fr[op.r3]
    cdef const FloatRegister* c = &cpu.fr[op.r2]
    if likely(
        host_rounds(cpu.fpsr, cpu.fpsr >> (flips & 0x3F))
        and ((x.significand | c.significand) << 53) == 0
        and <int64_t>(x.significand & c.significand) < 0
        and (host_exponent(x) | host_exponent(c)) < 0x200
    ):
        if likely(store_double(&cpu.fr[op.r1], host_double(x, flips >> 8) + host_double(c, flips >> 9))):
            return next_op(cpu, op)
    return fadd_double_telling(cpu, op)


cdef int fma_single(Cpu* cpu, Op* op) noexcept nogil:
    return then_go(cpu, op, rounded_single(cpu, op, True))


cdef int fmpy_single(Cpu* cpu, Op* op) noexcept nogil:
    return then_go(cpu, op, rounded_single(cpu, op, False))


cdef int fma_dynamic(Cpu* cpu, Op* op) noexcept nogil:
    return then_go(cpu, op, rounded_dynamic(cpu, op, True))


cdef int fmpy_dynamic(Cpu* cpu, Op* op) noexcept nogil:
    return then_go(cpu, op, rounded_dynamic(cpu, op, False))


def f_multiply_add_rows():
    """The rows of F1, and of its forms with f0 and f1 (encoding_rows.py)."""
    # Completer, status fields, major opcode bit 0, x; handlers: general, with f2 = f0, with f4 = f1. By convention
    # field 1 has the widest range, in which doubles are not the host's.
    precisions = (
        ("", (0, 1, 2, 3), 0, 0, <size_t>&fma_dynamic, <size_t>&fmpy_dynamic, <size_t>&fma_dynamic),
        (".s", (0, 1, 2, 3), 0, 1, <size_t>&fma_single, <size_t>&fmpy_single, <size_t>&fma_single),
        (".d", (0, 2, 3), 1, 0, <size_t>&fma_double, <size_t>&fmpy_double, <size_t>&fadd_double),
        (".d", (1,), 1, 0, <size_t>&fma_double_long, <size_t>&fmpy_double_long, <size_t>&fma_double_long),
    )

    # Mnemonic, opcode, negations; the names with f2 = f0, with f4 = f1, with both.
    operations = (
        ("fma", 8, 0, "fmpy", "fadd", "fnorm"),
        ("fms", 10, NEGATE_ADDEND, "", "fsub", ""),
        ("fnma", 12, NEGATE_PRODUCT, "fnmpy", "", ""),
    )

    implicit = {"kind": ARITHMETIC, "fp_operations": 2, "fp_halves": True, "reads": "ar.fpsr",
                "writes": "ar.fpsr"}
    for completer, fields, low_bit, x, full, product, total in precisions:
        for name, opcode, negate, by_f0, by_f1, by_both in operations:
            for sf in fields:
                tail = f"{completer}.s{sf}"
                fixed = {**implicit, "op": opcode + low_bit, "x": x, "sf": sf, "op_x": 6 + 13 * sf | negate}
                texts = [f"{name}{tail} f1=f3,f4,f2"]
                row("F1", texts[0], full, **fixed)
                if by_f0:
                    row("F1", f"{by_f0}{tail} f1=f3,f4", product, over=tuple(texts), f2=0, **fixed)
                    texts.append(f"{by_f0}{tail} f1=f3,f4")
                if by_f1:
                    row("F1", f"{by_f1}{tail} f1=f3,f2", total, over=texts[0], f4=1, **fixed)
                    texts.append(f"{by_f1}{tail} f1=f3,f2")
                if by_both:
                    row("F1", f"{by_both}{tail} f1=f3", product, over=tuple(texts), f2=0, f4=1, **fixed)
