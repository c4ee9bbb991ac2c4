"""frcpa and frsqrta (formats F6, F7; SDM volume 3). Op.x is the status field; p2 is Op.r4."""

from libc.stdint cimport uint32_t, uint64_t


from pfmon.isa.ia64.encoding_rows import row


cdef uint32_t deliver_approximation(Cpu* cpu, Op* op, FpOutcome* out) noexcept nogil:
    if not out.faults:
        set_flags(&cpu.fpsr, op.x, out.flags)
        copy_float(&cpu.fr[op.r1], &out.value)
        set_pr(cpu, op.r4, out.predicate)
    return ending(out)


cdef inline bint is_central(const FloatRegister* x) noexcept nogil:
    """A normal number in the range of double-extended numbers: no limit of frcpa is near."""
    return x.significand & INTEGER_BIT and x.exponent - 0xC000 < 0x8000


cdef uint32_t approximate_reciprocal(Cpu* cpu, Op* op) noexcept nogil:
    cdef FpOperand x
    cdef FpOperand y
    cdef FpEnvironment env
    cdef FpOutcome out
    cdef FloatRegister estimate
    if fr_is_natval(cpu, op.r2) or fr_is_natval(cpu, op.r3):
        set_natval(cpu, op.r1)
        set_pr(cpu, op.r4, 0)
        return 0
    y = unpack(cpu.fr[op.r3])
    if likely(is_central(&cpu.fr[op.r2]) and is_central(&cpu.fr[op.r3])):
        estimate = reciprocal_estimate(&y)
        copy_float(&cpu.fr[op.r1], &estimate)
        set_pr(cpu, op.r4, 1)
        return 0
    x = unpack(cpu.fr[op.r2])
    env = environment(cpu.fpsr, op.x, PC_DYNAMIC)
    clear(&out)
    reciprocal(&x, &y, &env, &out)
    return deliver_approximation(cpu, op, &out)


cdef uint32_t approximate_root(Cpu* cpu, Op* op) noexcept nogil:
    cdef FpOperand x
    cdef FpEnvironment env
    cdef FpOutcome out
    if fr_is_natval(cpu, op.r3):
        set_natval(cpu, op.r1)
        set_pr(cpu, op.r4, 0)
        return 0
    x = unpack(cpu.fr[op.r3])
    env = environment(cpu.fpsr, op.x, PC_DYNAMIC)
    clear(&out)
    reciprocal_root(&x, &env, &out)
    return deliver_approximation(cpu, op, &out)


cdef int frcpa(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint32_t code
    if not qualifies(cpu, op):
        set_pr(cpu, op.r4, 0)
        return next_op(cpu, op)
    cpu.mask |= <uint64_t>op.y
    code = approximate_reciprocal(cpu, op)
    if unlikely(code != 0):
        return interrupt(cpu, op, code)
    return next_op(cpu, op)


cdef int frsqrta(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint32_t code
    if not qualifies(cpu, op):
        set_pr(cpu, op.r4, 0)
        return next_op(cpu, op)
    cpu.mask |= <uint64_t>op.y
    code = approximate_root(cpu, op)
    if unlikely(code != 0):
        return interrupt(cpu, op, code)
    return next_op(cpu, op)


def f_approximate_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    for sf in range(4):
        row("F6", f"frcpa.s{sf} f1,p2=f2,f3", <size_t>&frcpa, kind=ARITHMETIC, fp_operations=1,
            predicated="own", reads="ar.fpsr", writes="ar.fpsr", op=0, x=1, q=0, sf=sf, op_x=sf)
        row("F7", f"frsqrta.s{sf} f1,p2=f3", <size_t>&frsqrta, kind=ARITHMETIC, fp_operations=1,
            predicated="own", reads="ar.fpsr", writes="ar.fpsr", op=0, x=1, q=1, sf=sf, op_x=sf)
