"""The memory unit's integer stores (M4, M5, st16) and semaphores (M16, M17) (SDM volume 3, st, xchg, cmpxchg)."""

from libc.stdint cimport uint32_t, uint64_t, uint8_t

from pfmon.isa.ia64._encodings cimport AccessFlag, as_int
from pfmon.stream._stream cimport Ia64Kind, Kind

from pfmon.isa.ia64.encoding_rows import row
STORE_HINTS = {0: ("", 0), 1: (".d1", 0), 2: (".d2", as_int(AccessFlag.ACCESS_NT2)),
3: (".nta", as_int(AccessFlag.ACCESS_NTA))}
SEMAPHORE_HINTS = {**STORE_HINTS, 1: (".nt1", as_int(AccessFlag.ACCESS_NT1))}


def store_rows(mnemonic, x6, plain, immediate, *, size, isa_kind=0, access_flags=0, nat="consume"):
    """The two forms of a store, with all hints."""
    for hint, (completer, locality) in STORE_HINTS.items():
        text = f"{mnemonic}{completer} [r3]=r2"
        given = {"kind": as_int(Kind.STORE), "isa_kind": isa_kind, "access_flags": access_flags | locality, "nat": nat,
                 "size": size, "emit": "memory", "hint": hint, "x6": x6}
        row("M4", text, plain, op=4, m=0, x=0, **given)
        row("M5", f"{text},imm9", immediate, op=5, **given)


cdef inline int store(Cpu* cpu, Op* op, uint32_t size, int update) noexcept nogil:
    if unlikely(not write_integer(cpu, op, cpu.gr[op.r3], &cpu.gr[op.r2], size)):
        return fault_here(cpu, op)
    update_base(cpu, op, update)
    return next_op(cpu, op)


cdef int st1(Cpu* cpu, Op* op) noexcept nogil:
    return store(cpu, op, 1, NO_UPDATE)

cdef int st1_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return store(cpu, op, 1, BY_IMMEDIATE)

cdef int st2(Cpu* cpu, Op* op) noexcept nogil:
    return store(cpu, op, 2, NO_UPDATE)

cdef int st2_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return store(cpu, op, 2, BY_IMMEDIATE)

cdef int st4(Cpu* cpu, Op* op) noexcept nogil:
    return store(cpu, op, 4, NO_UPDATE)

cdef int st4_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return store(cpu, op, 4, BY_IMMEDIATE)

cdef int st8(Cpu* cpu, Op* op) noexcept nogil:
    return store(cpu, op, 8, NO_UPDATE)

cdef int st8_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return store(cpu, op, 8, BY_IMMEDIATE)


# --- st8.spill: the NaT bit goes to AR[UNAT], at the position in address bits 8:3

cdef inline int spill_register(Cpu* cpu, Op* op, int update) noexcept nogil:
    cdef uint64_t address = cpu.gr[op.r3]
    cdef uint64_t bit = <uint64_t>1 << ((address >> 3) & 63)
    if get_nat(cpu, op.r3):
        return fault(cpu, op, FAULT_REGISTER_NAT_CONSUMPTION)
    if unlikely(not write_integer(cpu, op, address, &cpu.gr[op.r2], 8)):
        return fault_here(cpu, op)
    if get_nat(cpu, op.r2):
        cpu.unat |= bit
    else:
        cpu.unat &= ~bit
    update_base(cpu, op, update)
    return next_op(cpu, op)


cdef int st8_spill(Cpu* cpu, Op* op) noexcept nogil:
    return spill_register(cpu, op, NO_UPDATE)

cdef int st8_spill_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return spill_register(cpu, op, BY_IMMEDIATE)


# --- 16 bytes: the source and AR[CSD]

cdef int write_pair(Cpu* cpu, Op* op, uint64_t address, uint64_t low, uint64_t high) noexcept nogil:
    """Two words, the first at the lower address in either byte order; 0 with the fault in cpu."""
    cdef uint64_t pair[2]
    pair[0] = low
    pair[1] = high
    if cpu.um & 2:                   # write_slowly reverses all 16 bytes
        pair[0] = high
        pair[1] = low
    cpu.index = op.index
    if not write_slowly(cpu, address, <uint8_t*>pair, 16):
        return 0
    if cpu.alat_used:
        alat_store(cpu, address, 16)
    return 1


cdef int st16(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t address = cpu.gr[op.r3]
    if aligned_data(cpu, address, 16, PROTECT_WRITE) == NULL:
        return fault_here(cpu, op)
    if not write_pair(cpu, op, address, cpu.gr[op.r2], cpu.csd):
        return fault_here(cpu, op)
    return next_op(cpu, op)


# --- semaphores: op.x is the size. They are never unaligned, and need a readable and writable page, even if they do not
# write (volume 1, 4.4.7).

cdef inline uint8_t* exchangeable(Cpu* cpu, Op* op, uint32_t size) noexcept nogil:
    """The data of a semaphore, or NULL with the fault in cpu."""
    cdef uint8_t* data = readable_in_place(cpu, cpu.gr[op.r3], size)
    if data != NULL and writable(cpu, cpu.gr[op.r3], size) != NULL:
        return data
    return aligned_data(cpu, cpu.gr[op.r3], size, PROTECT_READ | PROTECT_WRITE)


cdef int xchg(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t address = cpu.gr[op.r3], old
    cdef uint8_t* data
    data = exchangeable(cpu, op, op.x)
    if data == NULL:
        return fault_here(cpu, op)
    old = read_integer(data, op.x)
    if not write_integer(cpu, op, address, &cpu.gr[op.r2], op.x):
        return fault_here(cpu, op)
    cpu.gr[op.r1] = old
    return next_op(cpu, op)


cdef int cmpxchg(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t address = cpu.gr[op.r3], old
    cdef uint8_t* data
    data = exchangeable(cpu, op, op.x)
    if data == NULL:
        return fault_here(cpu, op)
    old = read_integer(data, op.x)
    if old == cpu.ccv:
        if not write_integer(cpu, op, address, &cpu.gr[op.r2], op.x):
            return fault_here(cpu, op)
    cpu.gr[op.r1] = old
    return next_op(cpu, op)


cdef int cmp8xchg16(Cpu* cpu, Op* op) noexcept nogil:
    # Compares the 8 bytes at the address, exchanges the 16 of the aligned pair around it.
    cdef uint64_t address = cpu.gr[op.r3], old
    cdef uint8_t* data
    data = exchangeable(cpu, op, 8)
    if data == NULL:
        return fault_here(cpu, op)
    old = read_integer(data, 8)
    if old == cpu.ccv:
        if not write_pair(cpu, op, address & ~<uint64_t>15, cpu.gr[op.r2], cpu.csd):
            return fault_here(cpu, op)
    cpu.gr[op.r1] = old
    return next_op(cpu, op)


cdef int fetchadd(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t address = cpu.gr[op.r3], old
    cdef uint64_t* sum = <uint64_t*>cpu.bounce   # no local: its address would keep this frame alive
    cdef uint8_t* data
    data = exchangeable(cpu, op, op.x)
    if data == NULL:
        return fault_here(cpu, op)
    old = read_integer(data, op.x)
    sum[0] = old + <uint64_t>op.imm
    if not write_integer(cpu, op, address, sum, op.x):
        return fault_here(cpu, op)
    cpu.gr[op.r1] = old
    return next_op(cpu, op)


def semaphore_rows(layout, text, run, x6, size, access_flags, **given):
    """One semaphore with all hints, in place of ``{hint}`` in the text."""
    for hint, (completer, locality) in SEMAPHORE_HINTS.items():
        row(layout, text.replace("{hint}", completer), run, kind=as_int(Kind.LOAD | Kind.STORE | Kind.ATOMIC),
            access_flags=access_flags | locality, nat="consume", size=size, emit="memory",
            op=4, m=0, x=1, x6=x6, hint=hint, **given)


SEMAPHORE_ORDERS = {"acq": as_int(AccessFlag.ACCESS_ACQUIRE), "rel": as_int(AccessFlag.ACCESS_RELEASE)}


def m_store_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    stores = (
        (<size_t>&st1, <size_t>&st1_immediate),
        (<size_t>&st2, <size_t>&st2_immediate),
        (<size_t>&st4, <size_t>&st4_immediate),
        (<size_t>&st8, <size_t>&st8_immediate),
    )

    for order, base, flags in (("", 0x30, 0), (".rel", 0x34, as_int(AccessFlag.ACCESS_RELEASE))):
        for i, size in enumerate(SIZES):
            store_rows(f"st{size}{order}", base + i, *stores[i], size=size, access_flags=flags)

    store_rows("st8.spill", 0x3B, <size_t>&st8_spill, <size_t>&st8_spill_immediate, size=8, nat="own",
               isa_kind=as_int(Ia64Kind.SPILL_FILL))

    for x6, order, flags in ((0x30, "", 0), (0x34, ".rel", as_int(AccessFlag.ACCESS_RELEASE))):
        for hint, (completer, locality) in STORE_HINTS.items():
            row("M4", f"st16{order}{completer} [r3]=r2,ar.csd", <size_t>&st16, kind=as_int(Kind.STORE), nat="consume",
                size=16,
                access_flags=flags | locality, emit="memory", op=4, m=0, x=1, x6=x6, hint=hint, reads="ar.csd")

    for i, size in enumerate(SIZES):
        for x6, order in {0: "acq", 4: "rel"}.items():
            semaphore_rows("M16", f"cmpxchg{size}.{order}{{hint}} r1=[r3],r2,ar.ccv", <size_t>&cmpxchg, x6 + i, size,
                           SEMAPHORE_ORDERS[order], op_x=size, reads="ar.ccv")
        semaphore_rows("M16", f"xchg{size}{{hint}} r1=[r3],r2", <size_t>&xchg, 8 + i, size, SEMAPHORE_ORDERS["acq"],
                       op_x=size)

    for x6, order in {0x20: "acq", 0x24: "rel"}.items():
        semaphore_rows("M16", f"cmp8xchg16.{order}{{hint}} r1=[r3],r2,ar.csd,ar.ccv", <size_t>&cmp8xchg16, x6, 16,
                       SEMAPHORE_ORDERS[order], reads="ar.csd ar.ccv")

    for x6, (size, order) in {0x12: (4, "acq"), 0x13: (8, "acq"), 0x16: (4, "rel"), 0x17: (8, "rel")}.items():
        semaphore_rows("M17", f"fetchadd{size}.{order}{{hint}} r1=[r3],inc3", <size_t>&fetchadd, x6, size,
                       SEMAPHORE_ORDERS[order], op_x=size)
