"""The memory unit's integer loads: M1-M3, and ld16 (SDM volume 3, ld and 4.4.1)."""

from libc.stdint cimport uint32_t, uint64_t, uint8_t

from pfmon.isa.ia64._encodings cimport AccessFlag, as_int
from pfmon.stream._stream cimport Ia64Kind, Kind, Mark

from pfmon.isa.ia64.encoding_rows import row
HINTS = {
    0: ("", 0), 1: (".nt1", as_int(AccessFlag.ACCESS_NT1)), 2: (".d2", as_int(AccessFlag.ACCESS_NT2)),
    3: (".nta", as_int(AccessFlag.ACCESS_NTA)),
}
SIZES = (1, 2, 4, 8)


def load_rows(mnemonic, x6, plain, immediate, register, *, size, isa_kind=0, access_flags=0, own=True, op_x=0):
    """The three forms of a load (no update, by register, by immediate), with all hints."""
    nat = "own" if own else "consume"
    for hint, (completer, locality) in HINTS.items():
        text = f"{mnemonic}{completer} r1=[r3]"
        given = {"kind": as_int(Kind.LOAD), "isa_kind": isa_kind, "access_flags": access_flags | locality, "size": size,
                 "emit": "memory", "hint": hint, "x6": x6, "op_x": op_x}
        row("M1", text, plain, nat=nat, op=4, m=0, x=0, **given)
        row("M2", f"{text},r2", register, nat="own", op=4, m=1, x=0, **given)
        row("M3", f"{text},imm9", immediate, nat=nat, op=5, **given)


# --- ordinary loads: ld, ld.bias, ld.acq (hints and ordering have no effect on one processor)

cdef inline int load(Cpu* cpu, Op* op, uint32_t size, int update) noexcept nogil:
    if unlikely(not load_register(cpu, op, size, update)):
        return fault_here(cpu, op)
    return next_op(cpu, op)


cdef int ld1(Cpu* cpu, Op* op) noexcept nogil:
    return load(cpu, op, 1, NO_UPDATE)

cdef int ld1_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return load(cpu, op, 1, BY_IMMEDIATE)

cdef int ld1_register(Cpu* cpu, Op* op) noexcept nogil:
    return load(cpu, op, 1, BY_REGISTER)

cdef int ld2(Cpu* cpu, Op* op) noexcept nogil:
    return load(cpu, op, 2, NO_UPDATE)

cdef int ld2_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return load(cpu, op, 2, BY_IMMEDIATE)

cdef int ld2_register(Cpu* cpu, Op* op) noexcept nogil:
    return load(cpu, op, 2, BY_REGISTER)

cdef int ld4(Cpu* cpu, Op* op) noexcept nogil:
    return load(cpu, op, 4, NO_UPDATE)

cdef int ld4_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return load(cpu, op, 4, BY_IMMEDIATE)

cdef int ld4_register(Cpu* cpu, Op* op) noexcept nogil:
    return load(cpu, op, 4, BY_REGISTER)

cdef int ld8(Cpu* cpu, Op* op) noexcept nogil:
    return load(cpu, op, 8, NO_UPDATE)

cdef int ld8_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return load(cpu, op, 8, BY_IMMEDIATE)

cdef int ld8_register(Cpu* cpu, Op* op) noexcept nogil:
    return load(cpu, op, 8, BY_REGISTER)


# --- speculative loads: ld.s, ld.a, ld.sa. op.x is the size.

cdef inline int speculative(Cpu* cpu, Op* op, bint control, bint data_too, int update) noexcept nogil:
    """``control``: defer faults; ``data_too``: enter the address in the ALAT (volume 1, 4.4.4 and 4.4.5)."""
    cdef uint64_t address = cpu.gr[op.r3]
    cdef uint8_t* data = NULL
    cdef bint base_nat = get_nat(cpu, op.r3), found
    if base_nat and not control:
        return fault(cpu, op, FAULT_REGISTER_NAT_CONSUMPTION)
    expect_cacheable(cpu)
    if not base_nat:
        if control and cpu.system != NULL:
            data = readable_speculatively(cpu, op, address, op.x)
            if data == NULL and not cpu.system.deferred:
                return fault_here(cpu, op)
        else:
            data = readable(cpu, op, address & ~<uint64_t>(op.x - 1) if control else address, op.x)
        if data == NULL and not control:
            return fault_here(cpu, op)
    found = data != NULL
    update_base(cpu, op, update)
    if not found or (control and address & (op.x - 1)):
        # A speculative load never faults in user mode: Linux defers its faults, or repeats the load with PSR.ed.
        mark_at(cpu, op, Mark.DEFERRED, deferral(cpu, base_nat, found))
        cpu.gr[op.r1] = 0
        set_nat(cpu, op.r1, True)
        if data_too:
            alat_remove(cpu, general_tag(cpu, op.r1))
        return checked(cpu, op)
    cpu.gr[op.r1] = read_integer(data, op.x)
    set_nat(cpu, op.r1, False)
    if data_too and was_uncacheable(cpu):
        cpu.gr[op.r1] = 0
        alat_remove(cpu, general_tag(cpu, op.r1))
    elif data_too:
        alat_insert(cpu, op, general_tag(cpu, op.r1), address, op.x)
    return next_op(cpu, op)


cdef int ld_s(Cpu* cpu, Op* op) noexcept nogil:
    return speculative(cpu, op, True, False, NO_UPDATE)

cdef int ld_s_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return speculative(cpu, op, True, False, BY_IMMEDIATE)

cdef int ld_s_register(Cpu* cpu, Op* op) noexcept nogil:
    return speculative(cpu, op, True, False, BY_REGISTER)

cdef int ld_a(Cpu* cpu, Op* op) noexcept nogil:
    return speculative(cpu, op, False, True, NO_UPDATE)

cdef int ld_a_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return speculative(cpu, op, False, True, BY_IMMEDIATE)

cdef int ld_a_register(Cpu* cpu, Op* op) noexcept nogil:
    return speculative(cpu, op, False, True, BY_REGISTER)

cdef int ld_sa(Cpu* cpu, Op* op) noexcept nogil:
    return speculative(cpu, op, True, True, NO_UPDATE)

cdef int ld_sa_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return speculative(cpu, op, True, True, BY_IMMEDIATE)

cdef int ld_sa_register(Cpu* cpu, Op* op) noexcept nogil:
    return speculative(cpu, op, True, True, BY_REGISTER)


# --- check loads: ld.c.clr, ld.c.nc, ld.c.clr.acq. op.x is the size.

cdef inline int check_load(Cpu* cpu, Op* op, bint clear, int update) noexcept nogil:
    """With a valid ALAT entry the target keeps its value, else it is loaded."""
    cdef uint64_t address = cpu.gr[op.r3]
    cdef uint32_t tag = general_tag(cpu, op.r1)
    cdef uint8_t* data
    if get_nat(cpu, op.r3):
        return fault(cpu, op, FAULT_REGISTER_NAT_CONSUMPTION)
    if alat_find(cpu, tag) >= 0:
        if clear:
            alat_remove(cpu, tag)
        update_base(cpu, op, update)
    else:
        data = readable(cpu, op, address, op.x)
        if unlikely(data == NULL):
            return fault_here(cpu, op)
        mark_at(cpu, op, Mark.ALAT_MISS, 0)
        update_base(cpu, op, update)
        cpu.gr[op.r1] = read_integer(data, op.x)
        set_nat(cpu, op.r1, False)
        if not clear:
            alat_insert(cpu, op, tag, address, op.x)
    return next_op(cpu, op)


cdef int ld_c_clr(Cpu* cpu, Op* op) noexcept nogil:
    return check_load(cpu, op, True, NO_UPDATE)

cdef int ld_c_clr_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return check_load(cpu, op, True, BY_IMMEDIATE)

cdef int ld_c_clr_register(Cpu* cpu, Op* op) noexcept nogil:
    return check_load(cpu, op, True, BY_REGISTER)

cdef int ld_c_nc(Cpu* cpu, Op* op) noexcept nogil:
    return check_load(cpu, op, False, NO_UPDATE)

cdef int ld_c_nc_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return check_load(cpu, op, False, BY_IMMEDIATE)

cdef int ld_c_nc_register(Cpu* cpu, Op* op) noexcept nogil:
    return check_load(cpu, op, False, BY_REGISTER)


# --- ld8.fill: the NaT bit comes from AR[UNAT], at the position in address bits 8:3

cdef inline int fill(Cpu* cpu, Op* op, int update) noexcept nogil:
    cdef uint64_t address = cpu.gr[op.r3]
    cdef uint8_t* data
    if get_nat(cpu, op.r3):
        return fault(cpu, op, FAULT_REGISTER_NAT_CONSUMPTION)
    data = readable(cpu, op, address, 8)
    if unlikely(data == NULL):
        return fault_here(cpu, op)
    update_base(cpu, op, update)
    cpu.gr[op.r1] = read_integer(data, 8)
    if unlikely((cpu.unat >> ((address >> 3) & 63)) & 1):
        set_nat(cpu, op.r1, True)
        return checked(cpu, op)
    if unlikely(any_nat(cpu)):
        set_nat(cpu, op.r1, False)
    return next_op(cpu, op)


cdef int ld8_fill(Cpu* cpu, Op* op) noexcept nogil:
    return fill(cpu, op, NO_UPDATE)

cdef int ld8_fill_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return fill(cpu, op, BY_IMMEDIATE)

cdef int ld8_fill_register(Cpu* cpu, Op* op) noexcept nogil:
    return fill(cpu, op, BY_REGISTER)


# --- ld16: 8 bytes to the target, 8 to AR[CSD]

cdef int ld16(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t address = cpu.gr[op.r3]
    cdef uint8_t* data
    data = aligned_data(cpu, address, 16, PROTECT_READ)
    if unlikely(data == NULL):
        return fault_here(cpu, op)
    # Big-endian data arrives with its 16 bytes reversed: the lower address is then the upper half.
    cpu.csd = (<uint64_t*>data)[0 if cpu.um & 2 else 1]
    cpu.gr[op.r1] = (<uint64_t*>data)[1 if cpu.um & 2 else 0]
    return next_op(cpu, op)


def m_load_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    ordinary = (
        (<size_t>&ld1, <size_t>&ld1_immediate, <size_t>&ld1_register),
        (<size_t>&ld2, <size_t>&ld2_immediate, <size_t>&ld2_register),
        (<size_t>&ld4, <size_t>&ld4_immediate, <size_t>&ld4_register),
        (<size_t>&ld8, <size_t>&ld8_immediate, <size_t>&ld8_register),
    )

    for order, base, flags in (
        ("", 0x00, 0), (".bias", 0x10, as_int(AccessFlag.ACCESS_EXCLUSIVE)), (".acq", 0x14,
        as_int(AccessFlag.ACCESS_ACQUIRE)),
    ):
        for i, size in enumerate(SIZES):
            load_rows(f"ld{size}{order}", base + i, *ordinary[i], size=size, access_flags=flags, own=False)

    for i, size in enumerate(SIZES):
        load_rows(f"ld{size}.s", 0x04 + i, <size_t>&ld_s, <size_t>&ld_s_immediate, <size_t>&ld_s_register,
                  size=size, op_x=size, isa_kind=as_int(Ia64Kind.SPECULATIVE))
        load_rows(f"ld{size}.a", 0x08 + i, <size_t>&ld_a, <size_t>&ld_a_immediate, <size_t>&ld_a_register,
                  size=size, op_x=size, isa_kind=as_int(Ia64Kind.ADVANCED))
        load_rows(f"ld{size}.sa", 0x0C + i, <size_t>&ld_sa, <size_t>&ld_sa_immediate, <size_t>&ld_sa_register,
                  size=size, op_x=size, isa_kind=as_int(Ia64Kind.SPECULATIVE | Ia64Kind.ADVANCED))

    for i, size in enumerate(SIZES):
        for order, base, flags in ((".c.clr", 0x20, 0), (".c.clr.acq", 0x28, as_int(AccessFlag.ACCESS_ACQUIRE))):
            load_rows(f"ld{size}{order}", base + i, <size_t>&ld_c_clr, <size_t>&ld_c_clr_immediate,
                      <size_t>&ld_c_clr_register, size=size, op_x=size, isa_kind=as_int(Ia64Kind.LOAD_CHECK),
                      access_flags=flags)
        load_rows(f"ld{size}.c.nc", 0x24 + i, <size_t>&ld_c_nc, <size_t>&ld_c_nc_immediate,
                  <size_t>&ld_c_nc_register, size=size, op_x=size, isa_kind=as_int(Ia64Kind.LOAD_CHECK))

    load_rows("ld8.fill", 0x1B, <size_t>&ld8_fill, <size_t>&ld8_fill_immediate, <size_t>&ld8_fill_register, size=8,
              isa_kind=as_int(Ia64Kind.SPILL_FILL))

    for x6, order, flags in ((0x28, "", 0), (0x2C, ".acq", as_int(AccessFlag.ACCESS_ACQUIRE))):
        for hint, (completer, locality) in HINTS.items():
            row("M1", f"ld16{order}{completer} r1,ar.csd=[r3]", <size_t>&ld16, kind=as_int(Kind.LOAD), nat="consume",
                size=16,
                access_flags=flags | locality, emit="memory", op=4, m=0, x=1, x6=x6, hint=hint, writes="ar.csd")
