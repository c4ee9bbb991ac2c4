"""Parallel floating-point: pairs of singles in a significand (SDM volume 3: fpma, fpms, fpnma, fpcmp, fpmin, fpcvt,
fprcpa, fprsqrta and relatives).

Each half is a single-precision operation of its own; faults and traps of both are reported together. pc and wre of the
status field have no effect.
"""

from libc.stdint cimport uint32_t, uint64_t


from pfmon.isa.ia64.encoding_rows import row
cdef enum:
    X_NEGATE_PRODUCT = 1 << 2
    X_NEGATE_ADDEND = 1 << 3

cdef enum:
    HALVES = 2                   # 0: low, 1: high


cdef inline uint32_t half_bits(Cpu* cpu, int number, int half) noexcept nogil:
    return <uint32_t>(cpu.fr[number].significand >> (32 * half))


cdef inline FpOperand operand(Cpu* cpu, int number, int half) noexcept nogil:
    return unpack(from_single(half_bits(cpu, number, half)))


cdef uint32_t deliver_parallel(Cpu* cpu, Op* op, const FpOutcome* outs, uint64_t high, uint64_t low) noexcept nogil:
    """Write a pair and the flags of both halves, unless one of them faults."""
    if not (outs[0].faults | outs[1].faults):
        set_flags(&cpu.fpsr, op.x & X_SF, outs[0].flags | outs[1].flags)
        set_float(&cpu.fr[op.r1], 0, EXPONENT_INTEGER, (high << 32) | low)
        note_tiny(cpu, op, &outs[0])
        note_tiny(cpu, op, &outs[1])
    return ending_pair(&outs[1], &outs[0])


cdef uint32_t multiply_add_pair(Cpu* cpu, Op* op) noexcept nogil:
    cdef FpEnvironment env = environment(cpu.fpsr, op.x & X_SF, PC_PARALLEL)
    cdef FpOutcome outs[HALVES]
    cdef FpOperand x
    cdef FpOperand y
    cdef FpOperand addend
    cdef int half
    if fr_is_natval(cpu, op.r2) or fr_is_natval(cpu, op.r3) or fr_is_natval(cpu, op.r4):
        set_natval(cpu, op.r1)
        return 0
    for half in range(HALVES):
        x = operand(cpu, op.r3, half)
        y = operand(cpu, op.r4, half)
        addend = operand(cpu, op.r2, half)
        multiply_add(
            &x, &y, &addend, op.r2 != 0, (op.x & X_NEGATE_PRODUCT) != 0, (op.x & X_NEGATE_ADDEND) != 0, &env,
            &outs[half],
        )
    return deliver_parallel(cpu, op, outs, to_single(outs[1].value), to_single(outs[0].value))


cdef int fpma(Cpu* cpu, Op* op) noexcept nogil:
    return then_go(cpu, op, multiply_add_pair(cpu, op))


def _multiply_add_rows() -> None:
    implicit = {"kind": ARITHMETIC, "fp_operations": 4, "fp_halves": True, "reads": "ar.fpsr",
                "writes": "ar.fpsr", "x": 1}
    for name, short, opcode, negate in (
        ("fpma", "fpmpy", 9, 0),
        ("fpms", "", 11, X_NEGATE_ADDEND),
        ("fpnma", "fpnmpy", 13, X_NEGATE_PRODUCT),
    ):
        for sf in range(4):
            fixed = {**implicit, "op": opcode, "sf": sf, "op_x": sf | negate}
            row("F1", f"{name}.s{sf} f1=f3,f4,f2", <size_t>&fpma, **fixed)
            if short:
                row("F1", f"{short}.s{sf} f1=f3,f4", <size_t>&fpma, over=f"{name}.s{sf} f1=f3,f4,f2", f2=0, **fixed)


cdef uint32_t order_pair(Cpu* cpu, Op* op, bint quiet, bint absolute, FpOutcome* outs, int* found) noexcept nogil:
    """Order both halves of f2 and f3 (not NaTVal)."""
    cdef FpEnvironment env = environment(cpu.fpsr, op.x & X_SF, PC_PARALLEL)
    cdef FpOperand x
    cdef FpOperand y
    cdef int half
    for half in range(HALVES):
        x = operand(cpu, op.r2, half)
        y = operand(cpu, op.r3, half)
        clear(&outs[half])
        comparison_exceptions(&x, &y, quiet, &env, &outs[half])
        if absolute:
            x.sign = 0
            y.sign = 0
        found[half] = order(&x, &y)
    return 0


cdef uint32_t compare_pair(Cpu* cpu, Op* op) noexcept nogil:
    """All ones in each half for which the relation holds."""
    cdef FpOutcome outs[HALVES]
    cdef int found[HALVES]
    cdef uint64_t masks[HALVES]
    cdef int half
    if fr_is_natval(cpu, op.r2) or fr_is_natval(cpu, op.r3):
        set_natval(cpu, op.r1)
        return 0
    order_pair(cpu, op, (op.x & X_QUIET) != 0, False, outs, found)
    for half in range(HALVES):
        masks[half] = 0xFFFFFFFFU if (op.x >> X_RELATION) & found[half] else 0
    return deliver_parallel(cpu, op, outs, masks[1], masks[0])


cdef int fpcmp(Cpu* cpu, Op* op) noexcept nogil:
    return then_go(cpu, op, compare_pair(cpu, op))


cdef uint32_t select_pair(Cpu* cpu, Op* op) noexcept nogil:
    """Each half: f2's if it is less (min) or greater (max), else f3's."""
    cdef FpOutcome outs[HALVES]
    cdef int found[HALVES]
    cdef uint64_t chosen[HALVES]
    cdef int wanted = ORDER_GREATER if op.x & X_MAXIMUM else ORDER_LESS
    cdef int half
    if fr_is_natval(cpu, op.r2) or fr_is_natval(cpu, op.r3):
        set_natval(cpu, op.r1)
        return 0
    order_pair(cpu, op, False, (op.x & X_ABSOLUTE) != 0, outs, found)
    for half in range(HALVES):
        chosen[half] = half_bits(cpu, op.r2 if found[half] == wanted else op.r3, half)
    return deliver_parallel(cpu, op, outs, chosen[1], chosen[0])


cdef int fpminmax(Cpu* cpu, Op* op) noexcept nogil:
    return then_go(cpu, op, select_pair(cpu, op))


cdef uint32_t convert_pair(Cpu* cpu, Op* op) noexcept nogil:
    cdef FpEnvironment env = environment(cpu.fpsr, op.x & X_SF, PC_PARALLEL)
    cdef FpOutcome outs[HALVES]
    cdef uint64_t values[HALVES]
    cdef FpOperand x
    cdef int half
    if fr_is_natval(cpu, op.r2):
        set_natval(cpu, op.r1)
        return 0
    for half in range(HALVES):
        x = operand(cpu, op.r2, half)
        clear(&outs[half])
        values[half] = to_integer(
            &x, 32, (op.x & X_SIGNED) != 0, (op.x & X_TRUNCATE) != 0, &env, &outs[half]
        ) & 0xFFFFFFFFU
    return deliver_parallel(cpu, op, outs, values[1], values[0])


cdef int fpcvt(Cpu* cpu, Op* op) noexcept nogil:
    return then_go(cpu, op, convert_pair(cpu, op))


cdef uint32_t approximate_pair(Cpu* cpu, Op* op, bint root) noexcept nogil:
    """fprcpa or fprsqrta; p2 is 1 only if both halves need iterations."""
    cdef FpEnvironment env = environment(cpu.fpsr, op.x & X_SF, PC_PARALLEL)
    cdef FpOutcome outs[HALVES]
    cdef FpOperand x
    cdef FpOperand y
    cdef int half
    cdef uint32_t code
    if fr_is_natval(cpu, op.r3) or (not root and fr_is_natval(cpu, op.r2)):
        set_natval(cpu, op.r1)
        set_pr(cpu, op.r4, 0)
        return 0
    for half in range(HALVES):
        y = operand(cpu, op.r3, half)
        clear(&outs[half])
        if root:
            reciprocal_root(&y, &env, &outs[half])
        else:
            x = operand(cpu, op.r2, half)
            reciprocal(&x, &y, &env, &outs[half])
    code = deliver_parallel(cpu, op, outs, to_single(outs[1].value), to_single(outs[0].value))
    if not (outs[0].faults | outs[1].faults):
        set_pr(cpu, op.r4, outs[0].predicate and outs[1].predicate)
    return code


cdef inline int approximate(Cpu* cpu, Op* op, bint root) noexcept nogil:
    cdef uint32_t code
    if not qualifies(cpu, op):
        set_pr(cpu, op.r4, 0)
        return next_op(cpu, op)
    cpu.mask |= <uint64_t>op.y
    code = approximate_pair(cpu, op, root)
    if unlikely(code != 0):
        return interrupt(cpu, op, code)
    return next_op(cpu, op)


cdef int fprcpa(Cpu* cpu, Op* op) noexcept nogil:
    return approximate(cpu, op, False)


cdef int fprsqrta(Cpu* cpu, Op* op) noexcept nogil:
    return approximate(cpu, op, True)


def _parallel_rows() -> None:
    relations = (
        ("eq", ORDER_EQUAL, X_QUIET),
        ("lt", ORDER_LESS, 0),
        ("le", ORDER_LESS | ORDER_EQUAL, 0),
        ("unord", ORDER_UNORDERED, X_QUIET),
    )
    opposites = {"eq": "neq", "lt": "nlt", "le": "nle", "unord": "ord"}
    everything = ORDER_LESS | ORDER_EQUAL | ORDER_GREATER | ORDER_UNORDERED
    for sf in range(4):
        fixed = {"kind": ARITHMETIC, "fp_operations": 2, "reads": "ar.fpsr", "writes": "ar.fpsr",
                 "op": 1, "sf": sf}
        for number, (name, holds, quiet) in enumerate(relations):
            row("F8", f"fpcmp.{name}.s{sf} f1=f2,f3", <size_t>&fpcmp, x=0, x6=0x30 + number,
                op_x=sf | holds << X_RELATION | quiet, **fixed)
            row("F8", f"fpcmp.{opposites[name]}.s{sf} f1=f2,f3", <size_t>&fpcmp, x=0, x6=0x34 + number,
                op_x=sf | (everything ^ holds) << X_RELATION | quiet, **fixed)
        for number, (name, x) in enumerate((
            ("fpmin", 0), ("fpmax", X_MAXIMUM), ("fpamin", X_ABSOLUTE), ("fpamax", X_ABSOLUTE | X_MAXIMUM),
        )):
            row("F8", f"{name}.s{sf} f1=f2,f3", <size_t>&fpminmax, x=0, x6=0x14 + number, op_x=sf | x, **fixed)
        for number, (name, x) in enumerate((
            ("fx", X_SIGNED), ("fxu", 0), ("fx.trunc", X_SIGNED | X_TRUNCATE), ("fxu.trunc", X_TRUNCATE),
        )):
            row("F10", f"fpcvt.{name}.s{sf} f1=f2", <size_t>&fpcvt, x=0, x6=0x18 + number, op_x=sf | x, **fixed)
        row("F6", f"fprcpa.s{sf} f1,p2=f2,f3", <size_t>&fprcpa, x=1, q=0, predicated="own", op_x=sf, **fixed)
        row("F7", f"fprsqrta.s{sf} f1,p2=f3", <size_t>&fprsqrta, x=1, q=1, predicated="own", op_x=sf, **fixed)


def f_parallel_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    _multiply_add_rows()
    _parallel_rows()
