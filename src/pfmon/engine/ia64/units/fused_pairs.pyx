"""Pairs of frequent consecutive instructions, executed by one handler: saves the host an indirect jump.

A pair replaces the handlers of its two instructions when each has a single operation, the two are adjacent, and neither
has a guard (translate.pyx). The second operation stays in place, so that a block can be left or entered between the
two. These pairs are frequent in large programs.
"""

from libc.stdint cimport uint32_t


from pfmon.isa.ia64.encoding_rows import pair

cdef inline Op* pair_add(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = add_value(cpu, op)
    return op + 1

cdef inline Op* adds(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = add_immediate_value(cpu, op)
    return op + 1

cdef inline Op* mov(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = move_value(cpu, op)
    return op + 1

cdef inline Op* pair_shladd(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = shladd_value(cpu, op)
    return op + 1

cdef inline Op* pair_addp4(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = addp4_value(cpu, op)
    return op + 1


cdef inline int run(Cpu* cpu, Op* op) noexcept nogil:
    return op.run(cpu, op)


cdef inline int pair_load(Cpu* cpu, Op* op, uint32_t size) noexcept nogil:
    """A load; returns the operation after it."""
    if unlikely(not load_register(cpu, op, size, NO_UPDATE)):
        return fault_here(cpu, op)
    return next_op(cpu, op)


# --- integer arithmetic twice

cdef int add_add(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, pair_add(cpu, pair_add(cpu, op)))

cdef int add_adds(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, adds(cpu, pair_add(cpu, op)))

cdef int add_mov(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, mov(cpu, pair_add(cpu, op)))

cdef int add_shladd(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, pair_shladd(cpu, pair_add(cpu, op)))

cdef int add_addp4(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, pair_addp4(cpu, pair_add(cpu, op)))

cdef int adds_add(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, pair_add(cpu, adds(cpu, op)))

cdef int adds_adds(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, adds(cpu, adds(cpu, op)))

cdef int adds_mov(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, mov(cpu, adds(cpu, op)))

cdef int adds_shladd(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, pair_shladd(cpu, adds(cpu, op)))

cdef int adds_addp4(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, pair_addp4(cpu, adds(cpu, op)))

cdef int mov_add(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, pair_add(cpu, mov(cpu, op)))

cdef int mov_adds(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, adds(cpu, mov(cpu, op)))

cdef int mov_mov(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, mov(cpu, mov(cpu, op)))

cdef int mov_shladd(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, pair_shladd(cpu, mov(cpu, op)))

cdef int mov_addp4(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, pair_addp4(cpu, mov(cpu, op)))

cdef int shladd_add(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, pair_add(cpu, pair_shladd(cpu, op)))

cdef int shladd_adds(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, adds(cpu, pair_shladd(cpu, op)))

cdef int shladd_mov(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, mov(cpu, pair_shladd(cpu, op)))

cdef int shladd_shladd(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, pair_shladd(cpu, pair_shladd(cpu, op)))

cdef int shladd_addp4(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, pair_addp4(cpu, pair_shladd(cpu, op)))

cdef int addp4_add(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, pair_add(cpu, pair_addp4(cpu, op)))

cdef int addp4_adds(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, adds(cpu, pair_addp4(cpu, op)))

cdef int addp4_mov(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, mov(cpu, pair_addp4(cpu, op)))

cdef int addp4_shladd(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, pair_shladd(cpu, pair_addp4(cpu, op)))

cdef int addp4_addp4(Cpu* cpu, Op* op) noexcept nogil:
    return run(cpu, pair_addp4(cpu, pair_addp4(cpu, op)))


# --- an address, and a load from it

cdef int add_ld1(Cpu* cpu, Op* op) noexcept nogil:
    return pair_load(cpu, pair_add(cpu, op), 1)

cdef int add_ld2(Cpu* cpu, Op* op) noexcept nogil:
    return pair_load(cpu, pair_add(cpu, op), 2)

cdef int add_ld4(Cpu* cpu, Op* op) noexcept nogil:
    return pair_load(cpu, pair_add(cpu, op), 4)

cdef int add_ld8(Cpu* cpu, Op* op) noexcept nogil:
    return pair_load(cpu, pair_add(cpu, op), 8)

cdef int adds_ld1(Cpu* cpu, Op* op) noexcept nogil:
    return pair_load(cpu, adds(cpu, op), 1)

cdef int adds_ld2(Cpu* cpu, Op* op) noexcept nogil:
    return pair_load(cpu, adds(cpu, op), 2)

cdef int adds_ld4(Cpu* cpu, Op* op) noexcept nogil:
    return pair_load(cpu, adds(cpu, op), 4)

cdef int adds_ld8(Cpu* cpu, Op* op) noexcept nogil:
    return pair_load(cpu, adds(cpu, op), 8)

cdef int shladd_ld1(Cpu* cpu, Op* op) noexcept nogil:
    return pair_load(cpu, pair_shladd(cpu, op), 1)

cdef int shladd_ld2(Cpu* cpu, Op* op) noexcept nogil:
    return pair_load(cpu, pair_shladd(cpu, op), 2)

cdef int shladd_ld4(Cpu* cpu, Op* op) noexcept nogil:
    return pair_load(cpu, pair_shladd(cpu, op), 4)

cdef int shladd_ld8(Cpu* cpu, Op* op) noexcept nogil:
    return pair_load(cpu, pair_shladd(cpu, op), 8)

cdef int addp4_ld1(Cpu* cpu, Op* op) noexcept nogil:
    return pair_load(cpu, pair_addp4(cpu, op), 1)

cdef int addp4_ld2(Cpu* cpu, Op* op) noexcept nogil:
    return pair_load(cpu, pair_addp4(cpu, op), 2)

cdef int addp4_ld4(Cpu* cpu, Op* op) noexcept nogil:
    return pair_load(cpu, pair_addp4(cpu, op), 4)

cdef int addp4_ld8(Cpu* cpu, Op* op) noexcept nogil:
    return pair_load(cpu, pair_addp4(cpu, op), 8)


# --- a load, and arithmetic

cdef int ld1_add(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(not load_register(cpu, op, 1, NO_UPDATE)):
        return fault_here(cpu, op)
    return run(cpu, pair_add(cpu, op + 1))

cdef int ld1_adds(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(not load_register(cpu, op, 1, NO_UPDATE)):
        return fault_here(cpu, op)
    return run(cpu, adds(cpu, op + 1))

cdef int ld1_mov(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(not load_register(cpu, op, 1, NO_UPDATE)):
        return fault_here(cpu, op)
    return run(cpu, mov(cpu, op + 1))

cdef int ld2_add(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(not load_register(cpu, op, 2, NO_UPDATE)):
        return fault_here(cpu, op)
    return run(cpu, pair_add(cpu, op + 1))

cdef int ld2_adds(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(not load_register(cpu, op, 2, NO_UPDATE)):
        return fault_here(cpu, op)
    return run(cpu, adds(cpu, op + 1))

cdef int ld2_mov(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(not load_register(cpu, op, 2, NO_UPDATE)):
        return fault_here(cpu, op)
    return run(cpu, mov(cpu, op + 1))

cdef int ld4_add(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(not load_register(cpu, op, 4, NO_UPDATE)):
        return fault_here(cpu, op)
    return run(cpu, pair_add(cpu, op + 1))

cdef int ld4_adds(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(not load_register(cpu, op, 4, NO_UPDATE)):
        return fault_here(cpu, op)
    return run(cpu, adds(cpu, op + 1))

cdef int ld4_mov(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(not load_register(cpu, op, 4, NO_UPDATE)):
        return fault_here(cpu, op)
    return run(cpu, mov(cpu, op + 1))

cdef int ld8_add(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(not load_register(cpu, op, 8, NO_UPDATE)):
        return fault_here(cpu, op)
    return run(cpu, pair_add(cpu, op + 1))

cdef int ld8_adds(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(not load_register(cpu, op, 8, NO_UPDATE)):
        return fault_here(cpu, op)
    return run(cpu, adds(cpu, op + 1))

cdef int ld8_mov(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(not load_register(cpu, op, 8, NO_UPDATE)):
        return fault_here(cpu, op)
    return run(cpu, mov(cpu, op + 1))


# --- a comparison, and the branch on its result

cdef int cmp_lt_rr_br(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is_lt_rr(cpu, op))
    return branch(cpu, op + 1)

cdef int cmp_lt_ir_br(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is_lt_ir(cpu, op))
    return branch(cpu, op + 1)

cdef int cmp_ltu_rr_br(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is_ltu_rr(cpu, op))
    return branch(cpu, op + 1)

cdef int cmp_ltu_ir_br(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is_ltu_ir(cpu, op))
    return branch(cpu, op + 1)

cdef int cmp_eq_rr_br(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is_eq_rr(cpu, op))
    return branch(cpu, op + 1)

cdef int cmp_eq_ir_br(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is_eq_ir(cpu, op))
    return branch(cpu, op + 1)

cdef int cmp4_lt_rr_br(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is4_lt_rr(cpu, op))
    return branch(cpu, op + 1)

cdef int cmp4_lt_ir_br(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is4_lt_ir(cpu, op))
    return branch(cpu, op + 1)

cdef int cmp4_ltu_rr_br(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is4_ltu_rr(cpu, op))
    return branch(cpu, op + 1)

cdef int cmp4_ltu_ir_br(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is4_ltu_ir(cpu, op))
    return branch(cpu, op + 1)

cdef int cmp4_eq_rr_br(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is4_eq_rr(cpu, op))
    return branch(cpu, op + 1)

cdef int cmp4_eq_ir_br(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, is4_eq_ir(cpu, op))
    return branch(cpu, op + 1)


# --- arithmetic, and a branch

cdef int add_br(Cpu* cpu, Op* op) noexcept nogil:
    return branch(cpu, pair_add(cpu, op))

cdef int adds_br(Cpu* cpu, Op* op) noexcept nogil:
    return branch(cpu, adds(cpu, op))

cdef int mov_br(Cpu* cpu, Op* op) noexcept nogil:
    return branch(cpu, mov(cpu, op))


def fused_pairs_rows():
    """No rows: a pair's rows are those of other units."""
    pair("add r1=r2,r3", "add r1=r2,r3", <size_t>&add_add)
    pair("add r1=r2,r3", "adds r1=imm14,r3", <size_t>&add_adds)
    pair("add r1=r2,r3", "mov r1=r3", <size_t>&add_mov)
    pair("add r1=r2,r3", "shladd r1=r2,count2,r3", <size_t>&add_shladd)
    pair("add r1=r2,r3", "addp4 r1=r2,r3", <size_t>&add_addp4)
    pair("adds r1=imm14,r3", "add r1=r2,r3", <size_t>&adds_add)
    pair("adds r1=imm14,r3", "adds r1=imm14,r3", <size_t>&adds_adds)
    pair("adds r1=imm14,r3", "mov r1=r3", <size_t>&adds_mov)
    pair("adds r1=imm14,r3", "shladd r1=r2,count2,r3", <size_t>&adds_shladd)
    pair("adds r1=imm14,r3", "addp4 r1=r2,r3", <size_t>&adds_addp4)
    pair("mov r1=r3", "add r1=r2,r3", <size_t>&mov_add)
    pair("mov r1=r3", "adds r1=imm14,r3", <size_t>&mov_adds)
    pair("mov r1=r3", "mov r1=r3", <size_t>&mov_mov)
    pair("mov r1=r3", "shladd r1=r2,count2,r3", <size_t>&mov_shladd)
    pair("mov r1=r3", "addp4 r1=r2,r3", <size_t>&mov_addp4)
    pair("shladd r1=r2,count2,r3", "add r1=r2,r3", <size_t>&shladd_add)
    pair("shladd r1=r2,count2,r3", "adds r1=imm14,r3", <size_t>&shladd_adds)
    pair("shladd r1=r2,count2,r3", "mov r1=r3", <size_t>&shladd_mov)
    pair("shladd r1=r2,count2,r3", "shladd r1=r2,count2,r3", <size_t>&shladd_shladd)
    pair("shladd r1=r2,count2,r3", "addp4 r1=r2,r3", <size_t>&shladd_addp4)
    pair("addp4 r1=r2,r3", "add r1=r2,r3", <size_t>&addp4_add)
    pair("addp4 r1=r2,r3", "adds r1=imm14,r3", <size_t>&addp4_adds)
    pair("addp4 r1=r2,r3", "mov r1=r3", <size_t>&addp4_mov)
    pair("addp4 r1=r2,r3", "shladd r1=r2,count2,r3", <size_t>&addp4_shladd)
    pair("addp4 r1=r2,r3", "addp4 r1=r2,r3", <size_t>&addp4_addp4)
    pair("add r1=r2,r3", "ld1 r1=[r3]", <size_t>&add_ld1)
    pair("add r1=r2,r3", "ld2 r1=[r3]", <size_t>&add_ld2)
    pair("add r1=r2,r3", "ld4 r1=[r3]", <size_t>&add_ld4)
    pair("add r1=r2,r3", "ld8 r1=[r3]", <size_t>&add_ld8)
    pair("adds r1=imm14,r3", "ld1 r1=[r3]", <size_t>&adds_ld1)
    pair("adds r1=imm14,r3", "ld2 r1=[r3]", <size_t>&adds_ld2)
    pair("adds r1=imm14,r3", "ld4 r1=[r3]", <size_t>&adds_ld4)
    pair("adds r1=imm14,r3", "ld8 r1=[r3]", <size_t>&adds_ld8)
    pair("shladd r1=r2,count2,r3", "ld1 r1=[r3]", <size_t>&shladd_ld1)
    pair("shladd r1=r2,count2,r3", "ld2 r1=[r3]", <size_t>&shladd_ld2)
    pair("shladd r1=r2,count2,r3", "ld4 r1=[r3]", <size_t>&shladd_ld4)
    pair("shladd r1=r2,count2,r3", "ld8 r1=[r3]", <size_t>&shladd_ld8)
    pair("addp4 r1=r2,r3", "ld1 r1=[r3]", <size_t>&addp4_ld1)
    pair("addp4 r1=r2,r3", "ld2 r1=[r3]", <size_t>&addp4_ld2)
    pair("addp4 r1=r2,r3", "ld4 r1=[r3]", <size_t>&addp4_ld4)
    pair("addp4 r1=r2,r3", "ld8 r1=[r3]", <size_t>&addp4_ld8)
    pair("ld1 r1=[r3]", "add r1=r2,r3", <size_t>&ld1_add)
    pair("ld1 r1=[r3]", "adds r1=imm14,r3", <size_t>&ld1_adds)
    pair("ld1 r1=[r3]", "mov r1=r3", <size_t>&ld1_mov)
    pair("ld2 r1=[r3]", "add r1=r2,r3", <size_t>&ld2_add)
    pair("ld2 r1=[r3]", "adds r1=imm14,r3", <size_t>&ld2_adds)
    pair("ld2 r1=[r3]", "mov r1=r3", <size_t>&ld2_mov)
    pair("ld4 r1=[r3]", "add r1=r2,r3", <size_t>&ld4_add)
    pair("ld4 r1=[r3]", "adds r1=imm14,r3", <size_t>&ld4_adds)
    pair("ld4 r1=[r3]", "mov r1=r3", <size_t>&ld4_mov)
    pair("ld8 r1=[r3]", "add r1=r2,r3", <size_t>&ld8_add)
    pair("ld8 r1=[r3]", "adds r1=imm14,r3", <size_t>&ld8_adds)
    pair("ld8 r1=[r3]", "mov r1=r3", <size_t>&ld8_mov)
    pair("cmp.lt p1,p2=r2,r3", "br.cond.sptk.few tgt25", <size_t>&cmp_lt_rr_br)
    pair("cmp.lt p1,p2=imm8,r3", "br.cond.sptk.few tgt25", <size_t>&cmp_lt_ir_br)
    pair("cmp.ltu p1,p2=r2,r3", "br.cond.sptk.few tgt25", <size_t>&cmp_ltu_rr_br)
    pair("cmp.ltu p1,p2=imm8,r3", "br.cond.sptk.few tgt25", <size_t>&cmp_ltu_ir_br)
    pair("cmp.eq p1,p2=r2,r3", "br.cond.sptk.few tgt25", <size_t>&cmp_eq_rr_br)
    pair("cmp.eq p1,p2=imm8,r3", "br.cond.sptk.few tgt25", <size_t>&cmp_eq_ir_br)
    pair("cmp4.lt p1,p2=r2,r3", "br.cond.sptk.few tgt25", <size_t>&cmp4_lt_rr_br)
    pair("cmp4.lt p1,p2=imm8,r3", "br.cond.sptk.few tgt25", <size_t>&cmp4_lt_ir_br)
    pair("cmp4.ltu p1,p2=r2,r3", "br.cond.sptk.few tgt25", <size_t>&cmp4_ltu_rr_br)
    pair("cmp4.ltu p1,p2=imm8,r3", "br.cond.sptk.few tgt25", <size_t>&cmp4_ltu_ir_br)
    pair("cmp4.eq p1,p2=r2,r3", "br.cond.sptk.few tgt25", <size_t>&cmp4_eq_rr_br)
    pair("cmp4.eq p1,p2=imm8,r3", "br.cond.sptk.few tgt25", <size_t>&cmp4_eq_ir_br)
    pair("add r1=r2,r3", "br.cond.sptk.few tgt25", <size_t>&add_br)
    pair("adds r1=imm14,r3", "br.cond.sptk.few tgt25", <size_t>&adds_br)
    pair("mov r1=r3", "br.cond.sptk.few tgt25", <size_t>&mov_br)
