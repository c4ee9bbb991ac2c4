"""fcmp, fclass (formats F4, F5), fmin, fmax, famin, famax (F8); SDM volume 3."""

from libc.stdint cimport uint32_t, uint64_t


from pfmon.isa.ia64.encoding_rows import row
cdef enum:
    X_SF = 3
    X_RELATION = 2               # fcmp: shift of the relation (ORDER_ bits)
    X_QUIET = 1 << 6             # fcmp: a QNaN is no exception
    X_ABSOLUTE = 1 << 2          # famin, famax
    X_MAXIMUM = 1 << 3           # fmax, famax


cdef uint32_t order_of(Cpu* cpu, Op* op, bint quiet, bint absolute, int* result) noexcept nogil:
    """Order f2 and f3 and set flags. Returns how it ended (f.pxd)."""
    cdef FpOperand x = unpack(cpu.fr[op.r2])
    cdef FpOperand y = unpack(cpu.fr[op.r3])
    cdef FpEnvironment env = environment(cpu.fpsr, op.x & X_SF, PC_DYNAMIC)
    cdef FpOutcome out
    clear(&out)
    comparison_exceptions(&x, &y, quiet, &env, &out)
    if not out.faults:
        set_flags(&cpu.fpsr, op.x & X_SF, out.flags)
    if absolute:
        x.sign = 0
        y.sign = 0
    result[0] = order(&x, &y)
    return ending(&out)


cdef inline bint is_plain_value(const FloatRegister* x) noexcept nogil:
    """Whether it is a normal number, or zero: comparing it raises nothing."""
    if likely(x.significand & INTEGER_BIT):
        return x.exponent - 1 < 0x1FFFE
    return x.significand == 0 and x.exponent == 0


cdef inline int plain_order(const FloatRegister* x, const FloatRegister* y) noexcept nogil:
    """The order of two numbers, without branches: a host cannot predict it."""
    cdef u128 a = (<u128>x.exponent << 64) | x.significand
    cdef u128 b = (<u128>y.exponent << 64) | y.significand
    cdef uint32_t differ = x.sign ^ y.sign
    cdef uint32_t equal = <uint32_t>(a == b) & ((differ ^ 1) | <uint32_t>(a == 0))
    cdef uint32_t less = ((differ & x.sign) | ((differ ^ 1) & (<uint32_t>(a < b) ^ x.sign))) & (equal ^ 1)
    return less * ORDER_LESS | equal * ORDER_EQUAL | ((equal | less) ^ 1) * ORDER_GREATER


cdef uint32_t compare(Cpu* cpu, Op* op) noexcept nogil:
    """Set p1 and p2."""
    cdef const FloatRegister* x = &cpu.fr[op.r2]
    cdef const FloatRegister* y = &cpu.fr[op.r3]
    cdef uint32_t code = 0
    cdef int found
    cdef uint64_t holds
    if likely(is_plain_value(x) and is_plain_value(y)):
        found = plain_order(x, y)
    elif fr_is_natval(cpu, op.r2) or fr_is_natval(cpu, op.r3):
        set_pr_pair(cpu, op.r1, 0, op.r4, 0)
        return 0
    else:
        code = order_of(cpu, op, (op.x & X_QUIET) != 0, False, &found)
        if code:
            return code
    holds = ((op.x >> X_RELATION) & found) != 0
    set_pr_pair(cpu, op.r1, holds, op.r4, holds ^ 1)
    return 0


cdef int fcmp(Cpu* cpu, Op* op) noexcept nogil:
    return then_go(cpu, op, compare(cpu, op))


cdef int fcmp_unc(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint32_t code
    if not qualifies(cpu, op):
        set_pr_pair(cpu, op.r1, 0, op.r4, 0)
        return next_op(cpu, op)
    code = compare(cpu, op)
    if unlikely(code != 0):
        return interrupt(cpu, op, code)
    cpu.mask |= <uint64_t>op.y
    return next_op(cpu, op)


def _compare_rows() -> None:
    relations = (  # name, rb, ra, holds for, quiet
        ("eq", 0, 0, ORDER_EQUAL, X_QUIET),
        ("lt", 1, 0, ORDER_LESS, 0),
        ("le", 0, 1, ORDER_LESS | ORDER_EQUAL, 0),
        ("unord", 1, 1, ORDER_UNORDERED, X_QUIET),
    )
    implicit = {"kind": ARITHMETIC, "fp_operations": 1, "reads": "ar.fpsr", "writes": "ar.fpsr",
                "op": 4}
    for name, rb, ra, holds, quiet in relations:
        for sf in range(4):
            fixed = {**implicit, "rb": rb, "ra": ra, "sf": sf, "op_x": sf | holds << X_RELATION | quiet}
            row("F4", f"fcmp.{name}.s{sf} p1,p2=f2,f3", <size_t>&fcmp, ta=0, ctype="none", **fixed)
            row("F4", f"fcmp.{name}.unc.s{sf} p1,p2=f2,f3", <size_t>&fcmp_unc, ta=1, ctype="unc", predicated="own",
                **fixed)


# The bits of fclass9 (SDM volume 3, table "Floating-point Class Relations").
cdef enum:
    CLASS_POSITIVE = 1 << 0
    CLASS_NEGATIVE = 1 << 1
    CLASS_ZERO = 1 << 2
    CLASS_UNNORMALIZED = 1 << 3
    CLASS_NORMALIZED = 1 << 4
    CLASS_INFINITY = 1 << 5
    CLASS_SIGNALING = 1 << 6
    CLASS_QUIET = 1 << 7
    CLASS_NATVAL = 1 << 8


cdef uint64_t is_member(FloatRegister value, uint64_t classes) noexcept nogil:
    """Whether a register other than NaTVal is in one of the classes."""
    cdef FpOperand x = unpack(value)
    if x.kind == KIND_QUIET:
        return (classes & CLASS_QUIET) != 0
    if x.kind == KIND_SIGNALING:
        return (classes & CLASS_SIGNALING) != 0
    if x.kind == KIND_UNSUPPORTED or not classes & (CLASS_NEGATIVE if x.sign else CLASS_POSITIVE):
        return 0
    if x.kind == KIND_INFINITE:
        return (classes & CLASS_INFINITY) != 0
    if x.unnormal:
        return (classes & CLASS_UNNORMALIZED) != 0
    return (classes & (CLASS_ZERO if x.kind == KIND_ZERO else CLASS_NORMALIZED)) != 0


cdef void classify(Cpu* cpu, Op* op) noexcept nogil:
    """Set p1 and p2; for a NaTVal that the classes exclude, both are 0."""
    cdef uint64_t holds
    if fr_is_natval(cpu, op.r2):
        holds = (<uint64_t>op.imm & CLASS_NATVAL) != 0
        set_pr_pair(cpu, op.r1, holds, op.r4, 0)
        return
    holds = is_member(cpu.fr[op.r2], <uint64_t>op.imm)
    set_pr_pair(cpu, op.r1, holds, op.r4, holds ^ 1)


cdef int fclass(Cpu* cpu, Op* op) noexcept nogil:
    classify(cpu, op)
    return next_op(cpu, op)


cdef int fclass_unc(Cpu* cpu, Op* op) noexcept nogil:
    if qualifies(cpu, op):
        cpu.mask |= <uint64_t>op.y
        classify(cpu, op)
    else:
        set_pr_pair(cpu, op.r1, 0, op.r4, 0)
    return next_op(cpu, op)


cdef uint32_t select(Cpu* cpu, Op* op) noexcept nogil:
    """f1 = f2 if it is less (min) or greater (max) than f3, else f3: also when they are unordered."""
    cdef uint32_t code
    cdef int found
    if fr_is_natval(cpu, op.r2) or fr_is_natval(cpu, op.r3):
        set_natval(cpu, op.r1)
        return 0
    code = order_of(cpu, op, False, (op.x & X_ABSOLUTE) != 0, &found)
    if not code:
        if found == (ORDER_GREATER if op.x & X_MAXIMUM else ORDER_LESS):
            copy_float(&cpu.fr[op.r1], &cpu.fr[op.r2])
        else:
            copy_float(&cpu.fr[op.r1], &cpu.fr[op.r3])
    return code


cdef int fminmax(Cpu* cpu, Op* op) noexcept nogil:
    return then_go(cpu, op, select(cpu, op))


def f_compare_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    _compare_rows()
    row("F5", "fclass.m p1,p2=f2,fclass9", <size_t>&fclass, kind=ARITHMETIC, ctype="none", op=5, ta=0)
    row("F5", "fclass.m.unc p1,p2=f2,fclass9", <size_t>&fclass_unc, kind=ARITHMETIC, ctype="unc",
        predicated="own", op=5, ta=1)

    for sf in range(4):
        for name, x6, x in (
            ("fmin", 0x14, 0),
            ("fmax", 0x15, X_MAXIMUM),
            ("famin", 0x16, X_ABSOLUTE),
            ("famax", 0x17, X_ABSOLUTE | X_MAXIMUM),
        ):
            row("F8", f"{name}.s{sf} f1=f2,f3", <size_t>&fminmax, kind=ARITHMETIC,
                fp_operations=1, reads="ar.fpsr", writes="ar.fpsr", op=0, x=0, x6=x6, sf=sf, op_x=sf | x)
