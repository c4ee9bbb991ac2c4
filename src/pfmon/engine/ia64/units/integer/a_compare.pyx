"""A unit: integer comparison (SDM volume 3, 4.2.2, and cmp, cmp4; formats A6 to A8).

Every handler is a relation, its width (64 bits, or the low 32 for cmp4), what is compared (two registers "rr",
zero and a register "zr", an immediate and a register "ir") and the comparison type (predicates.pxd).
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t


from pfmon.isa.ia64.encoding_rows import row

cdef int cmp_lt_rr(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is_lt_rr(cpu, op))
    return next_op(cpu, op)

cdef int cmp_lt_rr_unc(Cpu* cpu, Op* op) noexcept nogil:
    compare_unc(cpu, op, is_lt_rr(cpu, op))
    return next_op(cpu, op)

cdef int cmp_ltu_rr(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is_ltu_rr(cpu, op))
    return next_op(cpu, op)

cdef int cmp_ltu_rr_unc(Cpu* cpu, Op* op) noexcept nogil:
    compare_unc(cpu, op, is_ltu_rr(cpu, op))
    return next_op(cpu, op)

cdef int cmp_eq_rr(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is_eq_rr(cpu, op))
    return next_op(cpu, op)

cdef int cmp_eq_rr_unc(Cpu* cpu, Op* op) noexcept nogil:
    compare_unc(cpu, op, is_eq_rr(cpu, op))
    return next_op(cpu, op)

cdef int cmp_lt_ir(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is_lt_ir(cpu, op))
    return next_op(cpu, op)

cdef int cmp_lt_ir_unc(Cpu* cpu, Op* op) noexcept nogil:
    compare_unc(cpu, op, is_lt_ir(cpu, op))
    return next_op(cpu, op)

cdef int cmp_ltu_ir(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is_ltu_ir(cpu, op))
    return next_op(cpu, op)

cdef int cmp_ltu_ir_unc(Cpu* cpu, Op* op) noexcept nogil:
    compare_unc(cpu, op, is_ltu_ir(cpu, op))
    return next_op(cpu, op)

cdef int cmp_eq_ir(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is_eq_ir(cpu, op))
    return next_op(cpu, op)

cdef int cmp_eq_ir_unc(Cpu* cpu, Op* op) noexcept nogil:
    compare_unc(cpu, op, is_eq_ir(cpu, op))
    return next_op(cpu, op)

cdef int cmp4_lt_rr(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is4_lt_rr(cpu, op))
    return next_op(cpu, op)

cdef int cmp4_lt_rr_unc(Cpu* cpu, Op* op) noexcept nogil:
    compare_unc(cpu, op, is4_lt_rr(cpu, op))
    return next_op(cpu, op)

cdef int cmp4_ltu_rr(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is4_ltu_rr(cpu, op))
    return next_op(cpu, op)

cdef int cmp4_ltu_rr_unc(Cpu* cpu, Op* op) noexcept nogil:
    compare_unc(cpu, op, is4_ltu_rr(cpu, op))
    return next_op(cpu, op)

cdef int cmp4_eq_rr(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is4_eq_rr(cpu, op))
    return next_op(cpu, op)

cdef int cmp4_eq_rr_unc(Cpu* cpu, Op* op) noexcept nogil:
    compare_unc(cpu, op, is4_eq_rr(cpu, op))
    return next_op(cpu, op)

cdef int cmp4_lt_ir(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is4_lt_ir(cpu, op))
    return next_op(cpu, op)

cdef int cmp4_lt_ir_unc(Cpu* cpu, Op* op) noexcept nogil:
    compare_unc(cpu, op, is4_lt_ir(cpu, op))
    return next_op(cpu, op)

cdef int cmp4_ltu_ir(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is4_ltu_ir(cpu, op))
    return next_op(cpu, op)

cdef int cmp4_ltu_ir_unc(Cpu* cpu, Op* op) noexcept nogil:
    compare_unc(cpu, op, is4_ltu_ir(cpu, op))
    return next_op(cpu, op)

cdef int cmp4_eq_ir(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is4_eq_ir(cpu, op))
    return next_op(cpu, op)

cdef int cmp4_eq_ir_unc(Cpu* cpu, Op* op) noexcept nogil:
    compare_unc(cpu, op, is4_eq_ir(cpu, op))
    return next_op(cpu, op)


# --- parallel types: eq, ne ----------------------------------------------------------------------------------

cdef int cmp_eq_rr_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, cpu.gr[op.r2] == cpu.gr[op.r3])
    return next_op(cpu, op)

cdef int cmp_eq_rr_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, cpu.gr[op.r2] == cpu.gr[op.r3])
    return next_op(cpu, op)

cdef int cmp_eq_rr_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, cpu.gr[op.r2] == cpu.gr[op.r3])
    return next_op(cpu, op)

cdef int cmp_ne_rr_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, cpu.gr[op.r2] != cpu.gr[op.r3])
    return next_op(cpu, op)

cdef int cmp_ne_rr_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, cpu.gr[op.r2] != cpu.gr[op.r3])
    return next_op(cpu, op)

cdef int cmp_ne_rr_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, cpu.gr[op.r2] != cpu.gr[op.r3])
    return next_op(cpu, op)

cdef int cmp_eq_ir_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, <uint64_t>op.imm == cpu.gr[op.r3])
    return next_op(cpu, op)

cdef int cmp_eq_ir_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, <uint64_t>op.imm == cpu.gr[op.r3])
    return next_op(cpu, op)

cdef int cmp_eq_ir_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, <uint64_t>op.imm == cpu.gr[op.r3])
    return next_op(cpu, op)

cdef int cmp_ne_ir_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, <uint64_t>op.imm != cpu.gr[op.r3])
    return next_op(cpu, op)

cdef int cmp_ne_ir_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, <uint64_t>op.imm != cpu.gr[op.r3])
    return next_op(cpu, op)

cdef int cmp_ne_ir_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, <uint64_t>op.imm != cpu.gr[op.r3])
    return next_op(cpu, op)

cdef int cmp4_eq_rr_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, u32(cpu, op.r2) == u32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_eq_rr_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, u32(cpu, op.r2) == u32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_eq_rr_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, u32(cpu, op.r2) == u32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_ne_rr_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, u32(cpu, op.r2) != u32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_ne_rr_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, u32(cpu, op.r2) != u32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_ne_rr_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, u32(cpu, op.r2) != u32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_eq_ir_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, <uint32_t>op.imm == u32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_eq_ir_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, <uint32_t>op.imm == u32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_eq_ir_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, <uint32_t>op.imm == u32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_ne_ir_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, <uint32_t>op.imm != u32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_ne_ir_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, <uint32_t>op.imm != u32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_ne_ir_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, <uint32_t>op.imm != u32(cpu, op.r3))
    return next_op(cpu, op)


# --- parallel types: zero and a register ---------------------------------------------------------------------

cdef int cmp_gt_zr_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, 0 > s64(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp_gt_zr_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, 0 > s64(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp_gt_zr_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, 0 > s64(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp_le_zr_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, 0 <= s64(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp_le_zr_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, 0 <= s64(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp_le_zr_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, 0 <= s64(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp_ge_zr_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, 0 >= s64(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp_ge_zr_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, 0 >= s64(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp_ge_zr_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, 0 >= s64(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp_lt_zr_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, 0 < s64(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp_lt_zr_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, 0 < s64(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp_lt_zr_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, 0 < s64(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_gt_zr_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, 0 > s32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_gt_zr_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, 0 > s32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_gt_zr_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, 0 > s32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_le_zr_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, 0 <= s32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_le_zr_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, 0 <= s32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_le_zr_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, 0 <= s32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_ge_zr_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, 0 >= s32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_ge_zr_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, 0 >= s32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_ge_zr_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, 0 >= s32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_lt_zr_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, 0 < s32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_lt_zr_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, 0 < s32(cpu, op.r3))
    return next_op(cpu, op)

cdef int cmp4_lt_zr_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, 0 < s32(cpu, op.r3))
    return next_op(cpu, op)


# --- rows ----------------------------------------------------------------------------------------------------
# Major opcodes C, D, E choose the relation of the normal types and the type of the parallel ones (SDM volume 3,
# tables "Integer Compare Opcode Extensions" and "Integer Compare Immediate Opcode Extensions").


def _four(text, ctype, predicated, runs, fields, tb):
    """The rows of cmp and cmp4 with two registers (A6; x2 = 0, 1) and with an immediate (A8; x2 = 2, 3)."""
    for run, mnemonic, x2 in zip(runs, ("cmp", "cmp", "cmp4", "cmp4"), (0, 2, 1, 3), strict=True):
        common = dict(fields, x2=x2, nat="compare", ctype=ctype, predicated=predicated)
        if x2 < 2:
            row("A6", f"{mnemonic}.{text} p1,p2=r2,r3", run, tb=tb, **common)
        else:
            row("A8", f"{mnemonic}.{text} p1,p2=imm8,r3", run, **common)


def a_compare_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    # (relation, opcode): the run addresses of cmp rr, cmp ir, cmp4 rr, cmp4 ir; first normal, then unc.
    normal = {
        ("lt", 0xC): (
            (<size_t>&cmp_lt_rr, <size_t>&cmp_lt_ir, <size_t>&cmp4_lt_rr, <size_t>&cmp4_lt_ir),
            (<size_t>&cmp_lt_rr_unc, <size_t>&cmp_lt_ir_unc, <size_t>&cmp4_lt_rr_unc, <size_t>&cmp4_lt_ir_unc),
        ),
        ("ltu", 0xD): (
            (<size_t>&cmp_ltu_rr, <size_t>&cmp_ltu_ir, <size_t>&cmp4_ltu_rr, <size_t>&cmp4_ltu_ir),
            (<size_t>&cmp_ltu_rr_unc, <size_t>&cmp_ltu_ir_unc, <size_t>&cmp4_ltu_rr_unc, <size_t>&cmp4_ltu_ir_unc),
        ),
        ("eq", 0xE): (
            (<size_t>&cmp_eq_rr, <size_t>&cmp_eq_ir, <size_t>&cmp4_eq_rr, <size_t>&cmp4_eq_ir),
            (<size_t>&cmp_eq_rr_unc, <size_t>&cmp_eq_ir_unc, <size_t>&cmp4_eq_rr_unc, <size_t>&cmp4_eq_ir_unc),
        ),
    }

    # (type, opcode): for each relation the same four addresses.
    parallel = {
        ("and", 0xC): (
            (<size_t>&cmp_eq_rr_and, <size_t>&cmp_eq_ir_and, <size_t>&cmp4_eq_rr_and, <size_t>&cmp4_eq_ir_and),
            (<size_t>&cmp_ne_rr_and, <size_t>&cmp_ne_ir_and, <size_t>&cmp4_ne_rr_and, <size_t>&cmp4_ne_ir_and),
        ),
        ("or", 0xD): (
            (<size_t>&cmp_eq_rr_or, <size_t>&cmp_eq_ir_or, <size_t>&cmp4_eq_rr_or, <size_t>&cmp4_eq_ir_or),
            (<size_t>&cmp_ne_rr_or, <size_t>&cmp_ne_ir_or, <size_t>&cmp4_ne_rr_or, <size_t>&cmp4_ne_ir_or),
        ),
        ("or.andcm", 0xE): (
            (<size_t>&cmp_eq_rr_or_andcm, <size_t>&cmp_eq_ir_or_andcm, <size_t>&cmp4_eq_rr_or_andcm,
             <size_t>&cmp4_eq_ir_or_andcm),
            (<size_t>&cmp_ne_rr_or_andcm, <size_t>&cmp_ne_ir_or_andcm, <size_t>&cmp4_ne_rr_or_andcm,
             <size_t>&cmp4_ne_ir_or_andcm),
        ),
    }

    # (type, opcode): for gt, le, ge, lt the addresses of cmp and cmp4.
    zero = {
        ("and", 0xC): (
            (<size_t>&cmp_gt_zr_and, <size_t>&cmp4_gt_zr_and),
            (<size_t>&cmp_le_zr_and, <size_t>&cmp4_le_zr_and),
            (<size_t>&cmp_ge_zr_and, <size_t>&cmp4_ge_zr_and),
            (<size_t>&cmp_lt_zr_and, <size_t>&cmp4_lt_zr_and),
        ),
        ("or", 0xD): (
            (<size_t>&cmp_gt_zr_or, <size_t>&cmp4_gt_zr_or),
            (<size_t>&cmp_le_zr_or, <size_t>&cmp4_le_zr_or),
            (<size_t>&cmp_ge_zr_or, <size_t>&cmp4_ge_zr_or),
            (<size_t>&cmp_lt_zr_or, <size_t>&cmp4_lt_zr_or),
        ),
        ("or.andcm", 0xE): (
            (<size_t>&cmp_gt_zr_or_andcm, <size_t>&cmp4_gt_zr_or_andcm),
            (<size_t>&cmp_le_zr_or_andcm, <size_t>&cmp4_le_zr_or_andcm),
            (<size_t>&cmp_ge_zr_or_andcm, <size_t>&cmp4_ge_zr_or_andcm),
            (<size_t>&cmp_lt_zr_or_andcm, <size_t>&cmp4_lt_zr_or_andcm),
        ),
    }

    for (relation, op), runs in normal.items():
        _four(relation, "none", "guard", runs[0], {"op": op, "ta": 0, "c": 0}, tb=0)
        _four(f"{relation}.unc", "unc", "own", runs[1], {"op": op, "ta": 0, "c": 1}, tb=0)

    for (ctype, op), runs in parallel.items():
        _four(f"eq.{ctype}", ctype, "guard", runs[0], {"op": op, "ta": 1, "c": 0}, tb=0)
        _four(f"ne.{ctype}", ctype, "guard", runs[1], {"op": op, "ta": 1, "c": 1}, tb=0)

    for (ctype, op), runs in zero.items():
        for relation, ta, c, pair in zip(("gt", "le", "ge", "lt"), (0, 0, 1, 1), (0, 1, 0, 1), runs, strict=True):
            for mnemonic, x2, run in zip(("cmp", "cmp4"), (0, 1), pair, strict=True):
                row("A7", f"{mnemonic}.{relation}.{ctype} p1,p2=r0,r3", run, nat="compare", ctype=ctype,
                    op=op, tb=1, ta=ta, c=c, x2=x2)
