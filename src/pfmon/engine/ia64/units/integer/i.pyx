"""I unit: shifts, bit fields, bit tests, extensions (SDM volume 3, 4.3; formats I5, I7, I9 to I17 and I29)."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t


from pfmon.isa.ia64.encoding_rows import row


cdef inline uint64_t low_bits(unsigned int count) noexcept nogil:
    """A mask of ``count`` bits, 1 to 64."""
    return ~<uint64_t>0 >> (64 - count)


# --- I5, I7: shifts by a register; counts above 63 shift everything out ------------------------------------------

cdef int shl(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t count = cpu.gr[op.r3]
    cpu.gr[op.r1] = cpu.gr[op.r2] << count if count < 64 else 0
    return next_op(cpu, op)


cdef int shr(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t count = cpu.gr[op.r2]
    cpu.gr[op.r1] = <uint64_t>(<int64_t>cpu.gr[op.r3] >> (count if count < 64 else 63))
    return next_op(cpu, op)


cdef int shr_u(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t count = cpu.gr[op.r2]
    cpu.gr[op.r1] = cpu.gr[op.r3] >> count if count < 64 else 0
    return next_op(cpu, op)


# --- I10: shift right pair ---------------------------------------------------------------------------------------

cdef int shrp(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t low = cpu.gr[op.r3] >> op.imm
    # Twice, because a shift by 64 - 0 is not one that C has.
    cpu.gr[op.r1] = low | (cpu.gr[op.r2] << 1) << (63 - op.imm)
    return next_op(cpu, op)


# --- I11: extract. The field ends at bit 63 ----------------------------------------------

cdef int extr(Cpu* cpu, Op* op) noexcept nogil:
    cdef int64_t left = 64 - op.imm - op.x
    left = left if left > 0 else 0
    cpu.gr[op.r1] = <uint64_t>(<int64_t>(cpu.gr[op.r3] << left) >> (left + op.imm))
    return next_op(cpu, op)


cdef int extr_u(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = cpu.gr[op.r3] >> op.imm & low_bits(op.x)
    return next_op(cpu, op)


cdef int shr_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = <uint64_t>(<int64_t>cpu.gr[op.r3] >> op.imm)
    return next_op(cpu, op)


cdef int shr_u_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = cpu.gr[op.r3] >> op.imm
    return next_op(cpu, op)


# --- I12 to I15: deposit. Bits above 63 are lost -----------------------------------------------

cdef int dep_z(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = (cpu.gr[op.r2] & low_bits(op.x)) << op.imm
    return next_op(cpu, op)


cdef int shl_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = cpu.gr[op.r2] << op.imm
    return next_op(cpu, op)


cdef int dep_z_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = (<uint64_t>op.imm & low_bits(op.x)) << op.y
    return next_op(cpu, op)


cdef int dep_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t field = low_bits(op.x) << op.y
    cpu.gr[op.r1] = (cpu.gr[op.r3] & ~field) | (<uint64_t>op.imm & field)
    return next_op(cpu, op)


cdef int dep(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t field = low_bits(op.x) << op.imm
    cpu.gr[op.r1] = (cpu.gr[op.r3] & ~field) | (cpu.gr[op.r2] << op.imm & field)
    return next_op(cpu, op)


# --- I16: test bit -----------------------------------------------------------------------------------------------

cdef inline uint64_t tested_bit(Cpu* cpu, Op* op) noexcept nogil:
    return cpu.gr[op.r3] >> op.imm & 1


cdef int tbit_z(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, tested_bit(cpu, op) ^ 1)
    return next_op(cpu, op)


cdef int tbit_z_unc(Cpu* cpu, Op* op) noexcept nogil:
    compare_unc(cpu, op, tested_bit(cpu, op) ^ 1)
    return next_op(cpu, op)


cdef int tbit_z_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, tested_bit(cpu, op) ^ 1)
    return next_op(cpu, op)


cdef int tbit_nz_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, tested_bit(cpu, op))
    return next_op(cpu, op)


cdef int tbit_z_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, tested_bit(cpu, op) ^ 1)
    return next_op(cpu, op)


cdef int tbit_nz_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, tested_bit(cpu, op))
    return next_op(cpu, op)


cdef int tbit_z_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, tested_bit(cpu, op) ^ 1)
    return next_op(cpu, op)


cdef int tbit_nz_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, tested_bit(cpu, op))
    return next_op(cpu, op)


# --- I17: test NaT. Reading a NaT bit does not consume it -----------------------------------------------------------

cdef int tnat_z(Cpu* cpu, Op* op) noexcept nogil:
    compare_normal(cpu, op, not get_nat(cpu, op.r3))
    return next_op(cpu, op)


cdef int tnat_z_unc(Cpu* cpu, Op* op) noexcept nogil:
    compare_unc(cpu, op, not get_nat(cpu, op.r3))
    return next_op(cpu, op)


cdef int tnat_z_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, not get_nat(cpu, op.r3))
    return next_op(cpu, op)


cdef int tnat_nz_and(Cpu* cpu, Op* op) noexcept nogil:
    compare_and(cpu, op, get_nat(cpu, op.r3))
    return next_op(cpu, op)


cdef int tnat_z_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, not get_nat(cpu, op.r3))
    return next_op(cpu, op)


cdef int tnat_nz_or(Cpu* cpu, Op* op) noexcept nogil:
    compare_or(cpu, op, get_nat(cpu, op.r3))
    return next_op(cpu, op)


cdef int tnat_z_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, not get_nat(cpu, op.r3))
    return next_op(cpu, op)


cdef int tnat_nz_or_andcm(Cpu* cpu, Op* op) noexcept nogil:
    compare_or_andcm(cpu, op, get_nat(cpu, op.r3))
    return next_op(cpu, op)


# --- I29: extensions ---------------------------------------------------------------------------------------------

cdef int zxt1(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = <uint8_t>cpu.gr[op.r3]
    return next_op(cpu, op)


cdef int zxt2(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = <uint16_t>cpu.gr[op.r3]
    return next_op(cpu, op)


cdef int zxt4(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = <uint32_t>cpu.gr[op.r3]
    return next_op(cpu, op)


cdef int sxt1(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = <uint64_t><int64_t><int8_t>cpu.gr[op.r3]
    return next_op(cpu, op)


cdef int sxt2(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = <uint64_t><int64_t><int16_t>cpu.gr[op.r3]
    return next_op(cpu, op)


cdef int sxt4(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = <uint64_t><int64_t><int32_t>cpu.gr[op.r3]
    return next_op(cpu, op)


def i_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    row("I7", "shl r1=r2,r3", <size_t>&shl, op=7, za=1, zb=1, ve=0, x2a=0, x2b=0, x2c=1)
    row("I5", "shr r1=r3,r2", <size_t>&shr, op=7, za=1, zb=1, ve=0, x2a=0, x2b=2, x2c=0)
    row("I5", "shr.u r1=r3,r2", <size_t>&shr_u, op=7, za=1, zb=1, ve=0, x2a=0, x2b=0, x2c=0)
    row("I10", "shrp r1=r2,r3,count6", <size_t>&shrp, op=5, x2=3, x=0)
    row("I11", "extr r1=r3,pos6,len6", <size_t>&extr, op=5, x2=1, x=0, y=1)
    row("I11", "extr.u r1=r3,pos6,len6", <size_t>&extr_u, op=5, x2=1, x=0, y=0)
    row("I11", "shr r1=r3,count6", <size_t>&shr_immediate, over="extr r1=r3,pos6,len6", tie="len6d~pos6b",
        op=5, x2=1, x=0, y=1)

    row("I11", "shr.u r1=r3,count6", <size_t>&shr_u_immediate, over="extr.u r1=r3,pos6,len6", tie="len6d~pos6b",
        op=5, x2=1, x=0, y=0)

    row("I12", "dep.z r1=r2,pos6,len6", <size_t>&dep_z, op=5, x2=1, x=1, y=0)
    row("I12", "shl r1=r2,count6", <size_t>&shl_immediate, over="dep.z r1=r2,pos6,len6", tie="len6d=cpos6c",
        op=5, x2=1, x=1, y=0)

    row("I13", "dep.z r1=imm8,pos6,len6", <size_t>&dep_z_immediate, op=5, x2=1, x=1, y=1)
    row("I14", "dep r1=imm1,r3,pos6,len6", <size_t>&dep_immediate, op=5, x2=3, x=1)
    row("I15", "dep r1=r2,r3,pos6,len4", <size_t>&dep, op=4)
    # Completer -> comparison type, ta, tb, c, the run addresses for tbit and tnat.
    for completer, (ctype, ta, tb, c, tbit, tnat) in {
        "z": ("none", 0, 0, 0, <size_t>&tbit_z, <size_t>&tnat_z),
        "z.unc": ("unc", 0, 0, 1, <size_t>&tbit_z_unc, <size_t>&tnat_z_unc),
        "z.and": ("and", 0, 1, 0, <size_t>&tbit_z_and, <size_t>&tnat_z_and),
        "nz.and": ("and", 0, 1, 1, <size_t>&tbit_nz_and, <size_t>&tnat_nz_and),
        "z.or": ("or", 1, 0, 0, <size_t>&tbit_z_or, <size_t>&tnat_z_or),
        "nz.or": ("or", 1, 0, 1, <size_t>&tbit_nz_or, <size_t>&tnat_nz_or),
        "z.or.andcm": ("or.andcm", 1, 1, 0, <size_t>&tbit_z_or_andcm, <size_t>&tnat_z_or_andcm),
        "nz.or.andcm": ("or.andcm", 1, 1, 1, <size_t>&tbit_nz_or_andcm, <size_t>&tnat_nz_or_andcm),
    }.items():
        common = {"op": 5, "x2": 0, "ta": ta, "tb": tb, "c": c, "ctype": ctype,
                   "predicated": "own" if ctype == "unc" else "guard"}
        row("I16", f"tbit.{completer} p1,p2=r3,pos6", tbit, nat="compare", y=0, **common)
        row("I17", f"tnat.{completer} p1,p2=r3", tnat, nat="own", y=1, x=0, **common)

    for mnemonic, (x6, run) in {
        "zxt1": (0x10, <size_t>&zxt1), "zxt2": (0x11, <size_t>&zxt2), "zxt4": (0x12, <size_t>&zxt4),
        "sxt1": (0x14, <size_t>&sxt1), "sxt2": (0x15, <size_t>&sxt2), "sxt4": (0x16, <size_t>&sxt4),
    }.items():
        row("I29", f"{mnemonic} r1=r3", run, op=0, x3=0, x6=x6)
