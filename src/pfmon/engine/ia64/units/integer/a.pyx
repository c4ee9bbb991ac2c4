"""A unit: integer arithmetic and logic (SDM volume 3, 4.2.1; formats A1 to A5)."""

from libc.stdint cimport uint64_t


from pfmon.isa.ia64.encoding_rows import row
from pfmon.isa.ia64.encoding_rows import guarded


# --- A1, A2: register and register ---------------------------------------------------------------------------

cdef int add(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = add_value(cpu, op)
    return next_op(cpu, op)

cdef int add_guarded(Cpu* cpu, Op* op) noexcept nogil:
    return write_if_qualified(cpu, op, add_value(cpu, op))


cdef int add_one(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = cpu.gr[op.r2] + cpu.gr[op.r3] + 1
    return next_op(cpu, op)


cdef int sub(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = sub_value(cpu, op)
    return next_op(cpu, op)

cdef int sub_guarded(Cpu* cpu, Op* op) noexcept nogil:
    return write_if_qualified(cpu, op, sub_value(cpu, op))


cdef int sub_one(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = cpu.gr[op.r2] - cpu.gr[op.r3] - 1
    return next_op(cpu, op)


cdef int addp4(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = addp4_value(cpu, op)
    return next_op(cpu, op)


cdef int and_(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = and_value(cpu, op)
    return next_op(cpu, op)

cdef int and_guarded(Cpu* cpu, Op* op) noexcept nogil:
    return write_if_qualified(cpu, op, and_value(cpu, op))


cdef int andcm(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = cpu.gr[op.r2] & ~cpu.gr[op.r3]
    return next_op(cpu, op)


cdef int or_(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = cpu.gr[op.r2] | cpu.gr[op.r3]
    return next_op(cpu, op)


cdef int xor(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = cpu.gr[op.r2] ^ cpu.gr[op.r3]
    return next_op(cpu, op)


cdef int shladd(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = shladd_value(cpu, op)
    return next_op(cpu, op)

cdef int shladd_guarded(Cpu* cpu, Op* op) noexcept nogil:
    return write_if_qualified(cpu, op, shladd_value(cpu, op))


cdef int shladdp4(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = region((cpu.gr[op.r2] << op.imm) + cpu.gr[op.r3], cpu.gr[op.r3])
    return next_op(cpu, op)


# --- A3: 8-bit immediate and register ------------------------------------------------------------------------

cdef int sub_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = <uint64_t>op.imm - cpu.gr[op.r3]
    return next_op(cpu, op)


cdef int and_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = <uint64_t>op.imm & cpu.gr[op.r3]
    return next_op(cpu, op)


cdef int andcm_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = <uint64_t>op.imm & ~cpu.gr[op.r3]
    return next_op(cpu, op)


cdef int or_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = <uint64_t>op.imm | cpu.gr[op.r3]
    return next_op(cpu, op)


cdef int xor_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = <uint64_t>op.imm ^ cpu.gr[op.r3]
    return next_op(cpu, op)


# --- A4, A5: longer immediates -------------------------------------------------------------------------------

cdef int add_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = add_immediate_value(cpu, op)
    return next_op(cpu, op)

cdef int add_immediate_guarded(Cpu* cpu, Op* op) noexcept nogil:
    return write_if_qualified(cpu, op, add_immediate_value(cpu, op))


cdef int move(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = move_value(cpu, op)
    return next_op(cpu, op)

cdef int move_guarded(Cpu* cpu, Op* op) noexcept nogil:
    return write_if_qualified(cpu, op, move_value(cpu, op))


cdef inline uint64_t move_immediate_value(Cpu* cpu, Op* op) noexcept nogil:
    return <uint64_t>op.imm

cdef int move_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = move_immediate_value(cpu, op)
    return next_op(cpu, op)

cdef int move_immediate_guarded(Cpu* cpu, Op* op) noexcept nogil:
    return write_if_qualified(cpu, op, move_immediate_value(cpu, op))


cdef int addp4_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = region(<uint64_t>op.imm + cpu.gr[op.r3], cpu.gr[op.r3])
    return next_op(cpu, op)


def a_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    row("A1", "add r1=r2,r3", <size_t>&add, op=8, x2a=0, ve=0, x4=0, x2b=0)
    guarded(<size_t>&add, <size_t>&add_guarded)
    row("A1", "add r1=r2,r3,1", <size_t>&add_one, op=8, x2a=0, ve=0, x4=0, x2b=1)
    row("A1", "sub r1=r2,r3", <size_t>&sub, op=8, x2a=0, ve=0, x4=1, x2b=1)
    guarded(<size_t>&sub, <size_t>&sub_guarded)
    row("A1", "sub r1=r2,r3,1", <size_t>&sub_one, op=8, x2a=0, ve=0, x4=1, x2b=0)
    row("A1", "addp4 r1=r2,r3", <size_t>&addp4, op=8, x2a=0, ve=0, x4=2, x2b=0)
    row("A1", "and r1=r2,r3", <size_t>&and_, op=8, x2a=0, ve=0, x4=3, x2b=0)
    guarded(<size_t>&and_, <size_t>&and_guarded)
    row("A1", "andcm r1=r2,r3", <size_t>&andcm, op=8, x2a=0, ve=0, x4=3, x2b=1)
    row("A1", "or r1=r2,r3", <size_t>&or_, op=8, x2a=0, ve=0, x4=3, x2b=2)
    row("A1", "xor r1=r2,r3", <size_t>&xor, op=8, x2a=0, ve=0, x4=3, x2b=3)
    row("A2", "shladd r1=r2,count2,r3", <size_t>&shladd, op=8, x2a=0, ve=0, x4=4)
    guarded(<size_t>&shladd, <size_t>&shladd_guarded)
    row("A2", "shladdp4 r1=r2,count2,r3", <size_t>&shladdp4, op=8, x2a=0, ve=0, x4=6)
    row("A3", "sub r1=imm8,r3", <size_t>&sub_immediate, op=8, x2a=0, ve=0, x4=9, x2b=1)
    row("A3", "and r1=imm8,r3", <size_t>&and_immediate, op=8, x2a=0, ve=0, x4=11, x2b=0)
    row("A3", "andcm r1=imm8,r3", <size_t>&andcm_immediate, op=8, x2a=0, ve=0, x4=11, x2b=1)
    row("A3", "or r1=imm8,r3", <size_t>&or_immediate, op=8, x2a=0, ve=0, x4=11, x2b=2)
    row("A3", "xor r1=imm8,r3", <size_t>&xor_immediate, op=8, x2a=0, ve=0, x4=11, x2b=3)
    row("A4", "adds r1=imm14,r3", <size_t>&add_immediate, op=8, x2a=2, ve=0)
    row("A5", "addl r1=imm22,r3", <size_t>&add_immediate, op=9)
    guarded(<size_t>&add_immediate, <size_t>&add_immediate_guarded)
    row("A4", "mov r1=r3", <size_t>&move, over="adds r1=imm14,r3", op=8, x2a=2, ve=0, s=0, imm6d=0, imm7b=0)
    guarded(<size_t>&move, <size_t>&move_guarded)
    row("A5", "mov r1=imm22", <size_t>&move_immediate, over="addl r1=imm22,r3", op=9, r3=0)
    guarded(<size_t>&move_immediate, <size_t>&move_immediate_guarded)
    row("A4", "addp4 r1=imm14,r3", <size_t>&addp4_immediate, op=8, x2a=3, ve=0)
