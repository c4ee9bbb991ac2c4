"""Computations of frequent integer instructions, for their own handlers and those of pairs (fused_pairs.pyx)."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t


cdef inline uint64_t region(uint64_t sum, uint64_t base) noexcept nogil:
    """A 32-bit pointer extended to 64 bits: bits 31:30 of the base become 62:61, the region (SDM volume 3, addp4)."""
    return <uint32_t>sum | ((base >> 30) & 3) << 61


# --- values (SDM volume 3: add, sub, and, shladd, adds and addl, mov, addp4)

cdef inline uint64_t add_value(Cpu* cpu, Op* op) noexcept nogil:
    return cpu.gr[op.r2] + cpu.gr[op.r3]

cdef inline uint64_t sub_value(Cpu* cpu, Op* op) noexcept nogil:
    return cpu.gr[op.r2] - cpu.gr[op.r3]

cdef inline uint64_t and_value(Cpu* cpu, Op* op) noexcept nogil:
    return cpu.gr[op.r2] & cpu.gr[op.r3]

cdef inline uint64_t shladd_value(Cpu* cpu, Op* op) noexcept nogil:
    return (cpu.gr[op.r2] << op.imm) + cpu.gr[op.r3]

cdef inline uint64_t add_immediate_value(Cpu* cpu, Op* op) noexcept nogil:
    return <uint64_t>op.imm + cpu.gr[op.r3]

cdef inline uint64_t move_value(Cpu* cpu, Op* op) noexcept nogil:
    return cpu.gr[op.r3]

cdef inline uint64_t addp4_value(Cpu* cpu, Op* op) noexcept nogil:
    return region(cpu.gr[op.r2] + cpu.gr[op.r3], cpu.gr[op.r3])


# --- relations of cmp (is) and cmp4 (is4): of two registers (rr), of an immediate and a register (ir)

cdef inline int64_t s64(Cpu* cpu, unsigned int r) noexcept nogil:
    return <int64_t>cpu.gr[r]

cdef inline int32_t s32(Cpu* cpu, unsigned int r) noexcept nogil:
    return <int32_t>cpu.gr[r]

cdef inline uint32_t u32(Cpu* cpu, unsigned int r) noexcept nogil:
    return <uint32_t>cpu.gr[r]

cdef inline bint is_lt_rr(Cpu* cpu, Op* op) noexcept nogil:
    return s64(cpu, op.r2) < s64(cpu, op.r3)

cdef inline bint is_ltu_rr(Cpu* cpu, Op* op) noexcept nogil:
    return cpu.gr[op.r2] < cpu.gr[op.r3]

cdef inline bint is_eq_rr(Cpu* cpu, Op* op) noexcept nogil:
    return cpu.gr[op.r2] == cpu.gr[op.r3]

cdef inline bint is_lt_ir(Cpu* cpu, Op* op) noexcept nogil:
    return op.imm < s64(cpu, op.r3)

cdef inline bint is_ltu_ir(Cpu* cpu, Op* op) noexcept nogil:
    return <uint64_t>op.imm < cpu.gr[op.r3]

cdef inline bint is_eq_ir(Cpu* cpu, Op* op) noexcept nogil:
    return <uint64_t>op.imm == cpu.gr[op.r3]

cdef inline bint is4_lt_rr(Cpu* cpu, Op* op) noexcept nogil:
    return s32(cpu, op.r2) < s32(cpu, op.r3)

cdef inline bint is4_ltu_rr(Cpu* cpu, Op* op) noexcept nogil:
    return u32(cpu, op.r2) < u32(cpu, op.r3)

cdef inline bint is4_eq_rr(Cpu* cpu, Op* op) noexcept nogil:
    return u32(cpu, op.r2) == u32(cpu, op.r3)

cdef inline bint is4_lt_ir(Cpu* cpu, Op* op) noexcept nogil:
    return <int32_t>op.imm < s32(cpu, op.r3)

cdef inline bint is4_ltu_ir(Cpu* cpu, Op* op) noexcept nogil:
    return <uint32_t>op.imm < u32(cpu, op.r3)

cdef inline bint is4_eq_ir(Cpu* cpu, Op* op) noexcept nogil:
    return <uint32_t>op.imm == u32(cpu, op.r3)
