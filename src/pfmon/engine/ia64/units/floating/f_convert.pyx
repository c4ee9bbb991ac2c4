"""fcvt.fx, fcvt.fxu, their truncating forms, fcvt.xf (formats F10, F11; SDM volume 3)."""

from libc.stdint cimport uint32_t, uint64_t


from pfmon.isa.ia64.encoding_rows import row
cdef enum:
    X_SIGNED = 1 << 2
    X_TRUNCATE = 1 << 3


cdef uint32_t convert(Cpu* cpu, Op* op) noexcept nogil:
    cdef FpOperand x
    cdef FpEnvironment env
    cdef FpOutcome out
    cdef uint64_t value
    if fr_is_natval(cpu, op.r2):
        set_natval(cpu, op.r1)
        return 0
    x = unpack(cpu.fr[op.r2])
    env = environment(cpu.fpsr, op.x & X_SF, PC_DYNAMIC)
    clear(&out)
    value = to_integer(&x, 64, (op.x & X_SIGNED) != 0, (op.x & X_TRUNCATE) != 0, &env, &out)
    if not out.faults:
        set_flags(&cpu.fpsr, op.x & X_SF, out.flags)
        set_float(&cpu.fr[op.r1], 0, EXPONENT_INTEGER, value)
    return ending(&out)


cdef int fcvt(Cpu* cpu, Op* op) noexcept nogil:
    return then_go(cpu, op, convert(cpu, op))


cdef int fcvt_trunc(Cpu* cpu, Op* op) noexcept nogil:
    """The common case: a normal number from 1 to below 2**63 that is an integer or need not trap."""
    cdef const FloatRegister* x = &cpu.fr[op.r2]
    cdef uint32_t exponent = x.exponent - EXPONENT_ONE
    cdef uint64_t inexact
    if unlikely(
        exponent > 62 or not x.significand & INTEGER_BIT or (x.sign and not op.x & X_SIGNED) or not cpu.fpsr & FLAG_I
    ):
        return fcvt(cpu, op)
    inexact = (x.significand << (exponent + 1)) != 0
    cpu.fpsr |= (inexact * FLAG_I) << (field_shift(op.x & X_SF) + 7)
    set_float(
        &cpu.fr[op.r1], 0, EXPONENT_INTEGER, ((x.significand >> (63 - exponent)) ^ (0 - <uint64_t>x.sign)) + x.sign
    )
    return next_op(cpu, op)


cdef int fcvt_xf(Cpu* cpu, Op* op) noexcept nogil:
    """A signed integer as a number: exact, so there is nothing to round."""
    cdef uint64_t value = cpu.fr[op.r2].significand
    cdef uint32_t sign = <uint32_t>(value >> 63)
    cdef int shift
    if fr_is_natval(cpu, op.r2):
        set_natval(cpu, op.r1)
    elif value == 0:
        set_float(&cpu.fr[op.r1], 0, 0, 0)
    else:
        if sign:
            value = 0 - value
        shift = leading_zeros(value)
        set_float(&cpu.fr[op.r1], sign, EXPONENT_INTEGER - shift, value << shift)
    return next_op(cpu, op)


def f_convert_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    for sf in range(4):
        for name, x6, x in (
            ("fcvt.fx", 0x18, X_SIGNED),
            ("fcvt.fxu", 0x19, 0),
            ("fcvt.fx.trunc", 0x1A, X_SIGNED | X_TRUNCATE),
            ("fcvt.fxu.trunc", 0x1B, X_TRUNCATE),
        ):
            row("F10", f"{name}.s{sf} f1=f2", <size_t>&fcvt_trunc if x & X_TRUNCATE else <size_t>&fcvt,
                kind=ARITHMETIC, fp_operations=1, reads="ar.fpsr", writes="ar.fpsr", op=0, x=0, x6=x6, sf=sf,
                op_x=sf | x)

    row("F11", "fcvt.xf f1=f2", <size_t>&fcvt_xf, kind=ARITHMETIC, fp_operations=1, op=0, x=0, x6=0x1C)
