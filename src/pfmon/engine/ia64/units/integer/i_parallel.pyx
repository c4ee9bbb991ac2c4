"""I unit: parallel integer arithmetic and permutations (SDM volume 3, 4.3.1; formats I1 to I9, czx of I29)."""

from libc.stdint cimport int64_t, uint64_t


from pfmon.isa.ia64.encoding_rows import row

cdef extern from *:
    int __builtin_popcountll(unsigned long long) nogil


# Lane width in bytes -> the fields that choose it.


def _parallel_row_i(layout, text, width, run, **fields):
    row(layout, text, run, op=7, ve=0, **_WIDTH[width], **fields)


# --- I1, I2: multiplication --------------------------------------------------------------------------------------

cdef inline uint64_t products(uint64_t x, uint64_t y, int first) noexcept nogil:
    """Signed 16-bit lanes ``first`` and ``first`` + 2 multiplied into two 32-bit lanes."""
    return joined(signed_lane(x, first, 16) * signed_lane(y, first, 16), 0, 32) \
        | joined(signed_lane(x, first + 2, 16) * signed_lane(y, first + 2, 16), 1, 32)


cdef int pmpy2_r(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = products(cpu.gr[op.r2], cpu.gr[op.r3], 0)
    return next_op(cpu, op)


cdef int pmpy2_l(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = products(cpu.gr[op.r2], cpu.gr[op.r3], 1)
    return next_op(cpu, op)


cdef int pmpyshr2(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t x = cpu.gr[op.r2]
    cdef uint64_t y = cpu.gr[op.r3]
    cdef uint64_t result = 0
    cdef int lane
    for lane in range(4):
        result |= joined(signed_lane(x, lane, 16) * signed_lane(y, lane, 16) >> op.imm, lane, 16)
    cpu.gr[op.r1] = result
    return next_op(cpu, op)


cdef int pmpyshr2_u(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t x = cpu.gr[op.r2]
    cdef uint64_t y = cpu.gr[op.r3]
    cdef uint64_t result = 0
    cdef int lane
    for lane in range(4):
        result |= joined(unsigned_lane(x, lane, 16) * unsigned_lane(y, lane, 16) >> op.imm, lane, 16)
    cpu.gr[op.r1] = result
    return next_op(cpu, op)


# --- I2: mix, unpack, pack ---------------------------------------------------------------------------------------

cdef int mix1_r(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = interleaved(cpu.gr[op.r2], cpu.gr[op.r3], 8, 0, 2)
    return next_op(cpu, op)


cdef int mix1_l(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = interleaved(cpu.gr[op.r2], cpu.gr[op.r3], 8, 1, 2)
    return next_op(cpu, op)


cdef int mix2_r(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = interleaved(cpu.gr[op.r2], cpu.gr[op.r3], 16, 0, 2)
    return next_op(cpu, op)


cdef int mix2_l(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = interleaved(cpu.gr[op.r2], cpu.gr[op.r3], 16, 1, 2)
    return next_op(cpu, op)


# With two lanes a register, mix and unpack are the same.
cdef int right4(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = interleaved(cpu.gr[op.r2], cpu.gr[op.r3], 32, 0, 1)
    return next_op(cpu, op)


cdef int left4(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = interleaved(cpu.gr[op.r2], cpu.gr[op.r3], 32, 1, 1)
    return next_op(cpu, op)


cdef int unpack1_h(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = interleaved(cpu.gr[op.r2], cpu.gr[op.r3], 8, 4, 1)
    return next_op(cpu, op)


cdef int unpack1_l(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = interleaved(cpu.gr[op.r2], cpu.gr[op.r3], 8, 0, 1)
    return next_op(cpu, op)


cdef int unpack2_h(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = interleaved(cpu.gr[op.r2], cpu.gr[op.r3], 16, 2, 1)
    return next_op(cpu, op)


cdef int unpack2_l(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = interleaved(cpu.gr[op.r2], cpu.gr[op.r3], 16, 0, 1)
    return next_op(cpu, op)


cdef int pack2_uss(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = narrowed(cpu.gr[op.r2], cpu.gr[op.r3], 16, 0, 0xFF)
    return next_op(cpu, op)


cdef int pack2_sss(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = narrowed(cpu.gr[op.r2], cpu.gr[op.r3], 16, -0x80, 0x7F)
    return next_op(cpu, op)


cdef int pack4_sss(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = narrowed(cpu.gr[op.r2], cpu.gr[op.r3], 32, -0x8000, 0x7FFF)
    return next_op(cpu, op)


# --- I2: minimum, maximum, sum of absolute differences -----------------------------------------------------------

cdef int pmin1_u(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_unsigned(cpu.gr[op.r2], cpu.gr[op.r3], 8, least)
    return next_op(cpu, op)


cdef int pmax1_u(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_unsigned(cpu.gr[op.r2], cpu.gr[op.r3], 8, most_of)
    return next_op(cpu, op)


cdef int pmin2(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_signed(cpu.gr[op.r2], cpu.gr[op.r3], 16, least)
    return next_op(cpu, op)


cdef int pmax2(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = each_signed(cpu.gr[op.r2], cpu.gr[op.r3], 16, most_of)
    return next_op(cpu, op)


cdef int psad1(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t x = cpu.gr[op.r2]
    cdef uint64_t y = cpu.gr[op.r3]
    cdef uint64_t result = 0
    cdef int64_t difference
    cdef int lane
    for lane in range(8):
        difference = unsigned_lane(x, lane, 8) - unsigned_lane(y, lane, 8)
        result += <uint64_t>(difference if difference >= 0 else -difference)
    cpu.gr[op.r1] = result
    return next_op(cpu, op)


# --- I3, I4: permutations ----------------------------------------------------------------------------------------

cdef int mux1(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t order = <uint64_t>ORDERS[op.x]
    cdef uint64_t source = cpu.gr[op.r2]
    cdef uint64_t result = 0
    cdef int lane
    for lane in range(8):
        result |= joined(unsigned_lane(source, <int>(order >> (4 * lane) & 7), 8), lane, 8)
    cpu.gr[op.r1] = result
    return next_op(cpu, op)

# The number of the source byte for every target byte, leftmost first.
cdef uint64_t[16] ORDERS
ORDERS[0x0] = 0x00000000
ORDERS[0x8] = 0x73516240
ORDERS[0x9] = 0x73625140
ORDERS[0xA] = 0x75316420
ORDERS[0xB] = 0x01234567


cdef int mux2(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t source = cpu.gr[op.r2]
    cdef uint64_t result = 0
    cdef int lane
    for lane in range(4):
        result |= joined(unsigned_lane(source, <int>(op.imm >> (2 * lane) & 3), 16), lane, 16)
    cpu.gr[op.r1] = result
    return next_op(cpu, op)


# --- I5 to I8: shifts --------------------------------------------------------------------------------------------

cdef inline uint64_t shifted_left(uint64_t value, int width, uint64_t count) noexcept nogil:
    cdef uint64_t result = 0
    cdef int lane
    if count >= <uint64_t>width:
        return 0
    for lane in range(64 // width):
        result |= joined(unsigned_lane(value, lane, width) << count, lane, width)
    return result


cdef inline uint64_t shifted_right(uint64_t value, int width, uint64_t count) noexcept nogil:
    cdef uint64_t result = 0
    cdef int lane
    count = count if count < <uint64_t>width else width
    for lane in range(64 // width):
        result |= joined(signed_lane(value, lane, width) >> count, lane, width)
    return result


cdef inline uint64_t shifted_right_unsigned(uint64_t value, int width, uint64_t count) noexcept nogil:
    cdef uint64_t result = 0
    cdef int lane
    count = count if count < <uint64_t>width else width
    for lane in range(64 // width):
        result |= joined(unsigned_lane(value, lane, width) >> count, lane, width)
    return result


cdef int pshr2(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = shifted_right(cpu.gr[op.r3], 16, cpu.gr[op.r2])
    return next_op(cpu, op)


cdef int pshr2_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = shifted_right(cpu.gr[op.r3], 16, <uint64_t>op.imm)
    return next_op(cpu, op)


cdef int pshr2_u(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = shifted_right_unsigned(cpu.gr[op.r3], 16, cpu.gr[op.r2])
    return next_op(cpu, op)


cdef int pshr2_u_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = shifted_right_unsigned(cpu.gr[op.r3], 16, <uint64_t>op.imm)
    return next_op(cpu, op)


cdef int pshl2(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = shifted_left(cpu.gr[op.r2], 16, cpu.gr[op.r3])
    return next_op(cpu, op)


cdef int pshl2_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = shifted_left(cpu.gr[op.r2], 16, <uint64_t>op.imm)
    return next_op(cpu, op)


cdef int pshr4(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = shifted_right(cpu.gr[op.r3], 32, cpu.gr[op.r2])
    return next_op(cpu, op)


cdef int pshr4_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = shifted_right(cpu.gr[op.r3], 32, <uint64_t>op.imm)
    return next_op(cpu, op)


cdef int pshr4_u(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = shifted_right_unsigned(cpu.gr[op.r3], 32, cpu.gr[op.r2])
    return next_op(cpu, op)


cdef int pshr4_u_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = shifted_right_unsigned(cpu.gr[op.r3], 32, <uint64_t>op.imm)
    return next_op(cpu, op)


cdef int pshl4(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = shifted_left(cpu.gr[op.r2], 32, cpu.gr[op.r3])
    return next_op(cpu, op)


cdef int pshl4_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = shifted_left(cpu.gr[op.r2], 32, <uint64_t>op.imm)
    return next_op(cpu, op)


# --- I9, I29: counting -------------------------------------------------------------------------------------------

cdef int popcnt(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = __builtin_popcountll(cpu.gr[op.r3])
    return next_op(cpu, op)


cdef inline uint64_t zero_from_left(uint64_t value, int width) noexcept nogil:
    """The number of lanes left of the leftmost zero lane; all, when none is zero."""
    cdef int lanes = 64 // width
    cdef int lane
    for lane in range(lanes):
        if unsigned_lane(value, lanes - 1 - lane, width) == 0:
            return lane
    return lanes


cdef inline uint64_t zero_from_right(uint64_t value, int width) noexcept nogil:
    cdef int lanes = 64 // width
    cdef int lane
    for lane in range(lanes):
        if unsigned_lane(value, lane, width) == 0:
            return lane
    return lanes


cdef int czx1_l(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = zero_from_left(cpu.gr[op.r3], 8)
    return next_op(cpu, op)


cdef int czx1_r(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = zero_from_right(cpu.gr[op.r3], 8)
    return next_op(cpu, op)


cdef int czx2_l(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = zero_from_left(cpu.gr[op.r3], 16)
    return next_op(cpu, op)


cdef int czx2_r(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = zero_from_right(cpu.gr[op.r3], 16)
    return next_op(cpu, op)


def i_parallel_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    _parallel_row_i("I2", "pmpy2.r r1=r2,r3", 2, <size_t>&pmpy2_r, x2a=2, x2b=1, x2c=3)
    _parallel_row_i("I2", "pmpy2.l r1=r2,r3", 2, <size_t>&pmpy2_l, x2a=2, x2b=3, x2c=3)
    _parallel_row_i("I1", "pmpyshr2 r1=r2,r3,count2", 2, <size_t>&pmpyshr2, x2a=0, x2b=3)
    _parallel_row_i("I1", "pmpyshr2.u r1=r2,r3,count2", 2, <size_t>&pmpyshr2_u, x2a=0, x2b=1)
    for width, (mix_r, mix_l, unpack_h, unpack_l) in {
        1: (<size_t>&mix1_r, <size_t>&mix1_l, <size_t>&unpack1_h, <size_t>&unpack1_l),
        2: (<size_t>&mix2_r, <size_t>&mix2_l, <size_t>&unpack2_h, <size_t>&unpack2_l),
        4: (<size_t>&right4, <size_t>&left4, <size_t>&left4, <size_t>&right4),
    }.items():
        _parallel_row_i("I2", f"mix{width}.r r1=r2,r3", width, mix_r, x2a=2, x2b=0, x2c=2)
        _parallel_row_i("I2", f"mix{width}.l r1=r2,r3", width, mix_l, x2a=2, x2b=2, x2c=2)
        _parallel_row_i("I2", f"unpack{width}.h r1=r2,r3", width, unpack_h, x2a=2, x2b=0, x2c=1)
        _parallel_row_i("I2", f"unpack{width}.l r1=r2,r3", width, unpack_l, x2a=2, x2b=2, x2c=1)

    _parallel_row_i("I2", "pack2.uss r1=r2,r3", 2, <size_t>&pack2_uss, x2a=2, x2b=0, x2c=0)
    _parallel_row_i("I2", "pack2.sss r1=r2,r3", 2, <size_t>&pack2_sss, x2a=2, x2b=2, x2c=0)
    _parallel_row_i("I2", "pack4.sss r1=r2,r3", 4, <size_t>&pack4_sss, x2a=2, x2b=2, x2c=0)
    _parallel_row_i("I2", "pmin1.u r1=r2,r3", 1, <size_t>&pmin1_u, x2a=2, x2b=1, x2c=0)
    _parallel_row_i("I2", "pmax1.u r1=r2,r3", 1, <size_t>&pmax1_u, x2a=2, x2b=1, x2c=1)
    _parallel_row_i("I2", "pmin2 r1=r2,r3", 2, <size_t>&pmin2, x2a=2, x2b=3, x2c=0)
    _parallel_row_i("I2", "pmax2 r1=r2,r3", 2, <size_t>&pmax2, x2a=2, x2b=3, x2c=1)
    _parallel_row_i("I2", "psad1 r1=r2,r3", 1, <size_t>&psad1, x2a=2, x2b=3, x2c=2)
    # The other values of mbt4c are reserved.
    for mbt4c, name in {0x0: "brcst", 0x8: "mix", 0x9: "shuf", 0xA: "alt", 0xB: "rev"}.items():
        _parallel_row_i("I3", f"mux1 r1=r2,@{name}", 1, <size_t>&mux1, op_x="mbt4c", x2a=3, x2b=2, x2c=2, mbt4c=mbt4c)

    _parallel_row_i("I4", "mux2 r1=r2,mhtype8", 2, <size_t>&mux2, x2a=3, x2b=2, x2c=2)
    _parallel_row_i("I5", "pshr2 r1=r3,r2", 2, <size_t>&pshr2, x2a=0, x2b=2, x2c=0)
    _parallel_row_i("I6", "pshr2 r1=r3,count5", 2, <size_t>&pshr2_immediate, x2a=1, x2b=3, x2c=0)
    _parallel_row_i("I5", "pshr2.u r1=r3,r2", 2, <size_t>&pshr2_u, x2a=0, x2b=0, x2c=0)
    _parallel_row_i("I6", "pshr2.u r1=r3,count5", 2, <size_t>&pshr2_u_immediate, x2a=1, x2b=1, x2c=0)
    _parallel_row_i("I7", "pshl2 r1=r2,r3", 2, <size_t>&pshl2, x2a=0, x2b=0, x2c=1)
    _parallel_row_i("I8", "pshl2 r1=r2,count5", 2, <size_t>&pshl2_immediate, x2a=3, x2b=1, x2c=1)
    _parallel_row_i("I5", "pshr4 r1=r3,r2", 4, <size_t>&pshr4, x2a=0, x2b=2, x2c=0)
    _parallel_row_i("I6", "pshr4 r1=r3,count5", 4, <size_t>&pshr4_immediate, x2a=1, x2b=3, x2c=0)
    _parallel_row_i("I5", "pshr4.u r1=r3,r2", 4, <size_t>&pshr4_u, x2a=0, x2b=0, x2c=0)
    _parallel_row_i("I6", "pshr4.u r1=r3,count5", 4, <size_t>&pshr4_u_immediate, x2a=1, x2b=1, x2c=0)
    _parallel_row_i("I7", "pshl4 r1=r2,r3", 4, <size_t>&pshl4, x2a=0, x2b=0, x2c=1)
    _parallel_row_i("I8", "pshl4 r1=r2,count5", 4, <size_t>&pshl4_immediate, x2a=3, x2b=1, x2c=1)
    _parallel_row_i("I9", "popcnt r1=r3", 2, <size_t>&popcnt, x2a=1, x2b=1, x2c=2)
    row("I29", "czx1.l r1=r3", <size_t>&czx1_l, op=0, x3=0, x6=0x18)
    row("I29", "czx1.r r1=r3", <size_t>&czx1_r, op=0, x3=0, x6=0x1C)
    row("I29", "czx2.l r1=r3", <size_t>&czx2_l, op=0, x3=0, x6=0x19)
    row("I29", "czx2.r r1=r3", <size_t>&czx2_r, op=0, x3=0, x6=0x1D)
