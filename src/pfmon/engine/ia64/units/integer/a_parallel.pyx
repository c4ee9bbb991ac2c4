"""A unit: parallel integer arithmetic (SDM volume 3, 4.2.3; formats A9 and A10)."""

from libc.stdint cimport int64_t, uint64_t


from pfmon.isa.ia64.encoding_rows import row
_WIDTH = {1: {"za": 0, "zb": 0}, 2: {"za": 0, "zb": 1}, 4: {"za": 1, "zb": 0}}


def _parallel_row_a(text, width, run, x4, x2b):
    row("A9", f"{text} r1=r2,r3", run, op=8, x2a=1, x4=x4, x2b=x2b, **_WIDTH[width])


cdef int padd1(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_unsigned(cpu.gr[op.r2], cpu.gr[op.r3], 8, plus)
    return next_op(cpu, op)


cdef int padd1_sss(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = saturate_sss(cpu.gr[op.r2], cpu.gr[op.r3], 8, plus)
    return next_op(cpu, op)


cdef int padd1_uuu(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = saturate_uuu(cpu.gr[op.r2], cpu.gr[op.r3], 8, plus)
    return next_op(cpu, op)


cdef int padd1_uus(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = saturate_uus(cpu.gr[op.r2], cpu.gr[op.r3], 8, plus)
    return next_op(cpu, op)


cdef int padd2(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_unsigned(cpu.gr[op.r2], cpu.gr[op.r3], 16, plus)
    return next_op(cpu, op)


cdef int padd2_sss(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = saturate_sss(cpu.gr[op.r2], cpu.gr[op.r3], 16, plus)
    return next_op(cpu, op)


cdef int padd2_uuu(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = saturate_uuu(cpu.gr[op.r2], cpu.gr[op.r3], 16, plus)
    return next_op(cpu, op)


cdef int padd2_uus(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = saturate_uus(cpu.gr[op.r2], cpu.gr[op.r3], 16, plus)
    return next_op(cpu, op)


cdef int padd4(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_unsigned(cpu.gr[op.r2], cpu.gr[op.r3], 32, plus)
    return next_op(cpu, op)


cdef int psub1(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_unsigned(cpu.gr[op.r2], cpu.gr[op.r3], 8, minus)
    return next_op(cpu, op)


cdef int psub1_sss(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = saturate_sss(cpu.gr[op.r2], cpu.gr[op.r3], 8, minus)
    return next_op(cpu, op)


cdef int psub1_uuu(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = saturate_uuu(cpu.gr[op.r2], cpu.gr[op.r3], 8, minus)
    return next_op(cpu, op)


cdef int psub1_uus(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = saturate_uus(cpu.gr[op.r2], cpu.gr[op.r3], 8, minus)
    return next_op(cpu, op)


cdef int psub2(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_unsigned(cpu.gr[op.r2], cpu.gr[op.r3], 16, minus)
    return next_op(cpu, op)


cdef int psub2_sss(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = saturate_sss(cpu.gr[op.r2], cpu.gr[op.r3], 16, minus)
    return next_op(cpu, op)


cdef int psub2_uuu(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = saturate_uuu(cpu.gr[op.r2], cpu.gr[op.r3], 16, minus)
    return next_op(cpu, op)


cdef int psub2_uus(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = saturate_uus(cpu.gr[op.r2], cpu.gr[op.r3], 16, minus)
    return next_op(cpu, op)


cdef int psub4(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_unsigned(cpu.gr[op.r2], cpu.gr[op.r3], 32, minus)
    return next_op(cpu, op)


cdef int pavg1(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_unsigned(cpu.gr[op.r2], cpu.gr[op.r3], 8, average)
    return next_op(cpu, op)


cdef int pavg1_raz(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_unsigned(cpu.gr[op.r2], cpu.gr[op.r3], 8, average_away)
    return next_op(cpu, op)


cdef int pavgsub1(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_unsigned(cpu.gr[op.r2], cpu.gr[op.r3], 8, average_difference)
    return next_op(cpu, op)


cdef int pavg2(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_unsigned(cpu.gr[op.r2], cpu.gr[op.r3], 16, average)
    return next_op(cpu, op)


cdef int pavg2_raz(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_unsigned(cpu.gr[op.r2], cpu.gr[op.r3], 16, average_away)
    return next_op(cpu, op)


cdef int pavgsub2(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_unsigned(cpu.gr[op.r2], cpu.gr[op.r3], 16, average_difference)
    return next_op(cpu, op)


cdef int pcmp1_eq(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_signed(cpu.gr[op.r2], cpu.gr[op.r3], 8, equal)
    return next_op(cpu, op)


cdef int pcmp1_gt(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_signed(cpu.gr[op.r2], cpu.gr[op.r3], 8, greater)
    return next_op(cpu, op)


cdef int pcmp2_eq(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_signed(cpu.gr[op.r2], cpu.gr[op.r3], 16, equal)
    return next_op(cpu, op)


cdef int pcmp2_gt(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_signed(cpu.gr[op.r2], cpu.gr[op.r3], 16, greater)
    return next_op(cpu, op)


cdef int pcmp4_eq(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_signed(cpu.gr[op.r2], cpu.gr[op.r3], 32, equal)
    return next_op(cpu, op)


cdef int pcmp4_gt(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_signed(cpu.gr[op.r2], cpu.gr[op.r3], 32, greater)
    return next_op(cpu, op)


cdef inline uint64_t shift_left_add(uint64_t x, uint64_t y, int64_t count) noexcept nogil:
    """A shift and an addition in one lane; a lane whose shift saturates is not added to (SDM volume 3, pshladd)."""
    cdef uint64_t result = 0
    cdef int64_t shifted
    cdef int lane
    for lane in range(4):
        shifted = signed_lane(x, lane, 16) * (<int64_t>1 << count)
        if shifted == clamp(shifted, -0x8000, 0x7FFF):
            shifted += signed_lane(y, lane, 16)
        result |= joined(clamp(shifted, -0x8000, 0x7FFF), lane, 16)
    return result


cdef int pshladd2(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = shift_left_add(cpu.gr[op.r2], cpu.gr[op.r3], op.imm)
    return next_op(cpu, op)


cdef inline uint64_t shift_right_add(uint64_t x, uint64_t y, int64_t count) noexcept nogil:
    cdef uint64_t result = 0
    cdef int64_t value
    cdef int lane
    for lane in range(4):
        value = (signed_lane(x, lane, 16) >> count) + signed_lane(y, lane, 16)
        result |= joined(clamp(value, -0x8000, 0x7FFF), lane, 16)
    return result


cdef int pshradd2(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = shift_right_add(cpu.gr[op.r2], cpu.gr[op.r3], op.imm)
    return next_op(cpu, op)


def a_parallel_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    _parallel_row_a("padd1", 1, <size_t>&padd1, 0, 0)
    _parallel_row_a("padd1.sss", 1, <size_t>&padd1_sss, 0, 1)
    _parallel_row_a("padd1.uuu", 1, <size_t>&padd1_uuu, 0, 2)
    _parallel_row_a("padd1.uus", 1, <size_t>&padd1_uus, 0, 3)
    _parallel_row_a("padd2", 2, <size_t>&padd2, 0, 0)
    _parallel_row_a("padd2.sss", 2, <size_t>&padd2_sss, 0, 1)
    _parallel_row_a("padd2.uuu", 2, <size_t>&padd2_uuu, 0, 2)
    _parallel_row_a("padd2.uus", 2, <size_t>&padd2_uus, 0, 3)
    _parallel_row_a("padd4", 4, <size_t>&padd4, 0, 0)
    _parallel_row_a("psub1", 1, <size_t>&psub1, 1, 0)
    _parallel_row_a("psub1.sss", 1, <size_t>&psub1_sss, 1, 1)
    _parallel_row_a("psub1.uuu", 1, <size_t>&psub1_uuu, 1, 2)
    _parallel_row_a("psub1.uus", 1, <size_t>&psub1_uus, 1, 3)
    _parallel_row_a("psub2", 2, <size_t>&psub2, 1, 0)
    _parallel_row_a("psub2.sss", 2, <size_t>&psub2_sss, 1, 1)
    _parallel_row_a("psub2.uuu", 2, <size_t>&psub2_uuu, 1, 2)
    _parallel_row_a("psub2.uus", 2, <size_t>&psub2_uus, 1, 3)
    _parallel_row_a("psub4", 4, <size_t>&psub4, 1, 0)
    _parallel_row_a("pavg1", 1, <size_t>&pavg1, 2, 2)
    _parallel_row_a("pavg1.raz", 1, <size_t>&pavg1_raz, 2, 3)
    _parallel_row_a("pavgsub1", 1, <size_t>&pavgsub1, 3, 2)
    _parallel_row_a("pavg2", 2, <size_t>&pavg2, 2, 2)
    _parallel_row_a("pavg2.raz", 2, <size_t>&pavg2_raz, 2, 3)
    _parallel_row_a("pavgsub2", 2, <size_t>&pavgsub2, 3, 2)
    _parallel_row_a("pcmp1.eq", 1, <size_t>&pcmp1_eq, 9, 0)
    _parallel_row_a("pcmp1.gt", 1, <size_t>&pcmp1_gt, 9, 1)
    _parallel_row_a("pcmp2.eq", 2, <size_t>&pcmp2_eq, 9, 0)
    _parallel_row_a("pcmp2.gt", 2, <size_t>&pcmp2_gt, 9, 1)
    _parallel_row_a("pcmp4.eq", 4, <size_t>&pcmp4_eq, 9, 0)
    _parallel_row_a("pcmp4.gt", 4, <size_t>&pcmp4_gt, 9, 1)
    # The count field's value 3 would be a shift by 4: reserved (SDM volume 3, 4.8).
    for ct2d in range(3):
        row("A10", "pshladd2 r1=r2,count2,r3", <size_t>&pshladd2, op=8, x2a=1, za=0, zb=1, x4=4, ct2d=ct2d)
        row("A10", "pshradd2 r1=r2,count2,r3", <size_t>&pshradd2, op=8, x2a=1, za=0, zb=1, x4=6, ct2d=ct2d)
