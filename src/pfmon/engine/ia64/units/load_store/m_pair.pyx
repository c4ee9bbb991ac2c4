"""The memory unit's floating-point load pairs, M11 and M12, and line prefetch, M13-M15 (SDM volume 3, ldfp, lfetch).

Forms as in m_float.pyx: ``op.x`` is 1 for two integers, 2 for two singles, 3 for two doubles.
"""

from libc.stdint cimport uint32_t, uint64_t, uint8_t

from pfmon.isa.ia64._encodings cimport AccessFlag, as_int
from pfmon.stream._stream cimport Ia64Kind, Kind, Mark

from pfmon.isa.ia64.encoding_rows import row

cdef enum Speculation:
    NONE = 0
    CONTROL = 1
    DATA = 2
    CHECK_CLEAR = 4
    CHECK_KEEP = 8

LINE_HINTS = {**HINTS, 2: (".nt2", as_int(AccessFlag.ACCESS_NT2))}


cdef inline uint32_t span(Op* op) noexcept nogil:
    return 8 if op.x == SINGLE else 16


cdef inline void set_pair(Cpu* cpu, Op* op, uint8_t* data) noexcept nogil:
    """Store the lower address's data in f1, the higher's in f2; big-endian data arrives with all bytes reversed."""
    cdef uint32_t first = 1 if cpu.um & UM_BE else 0
    if op.x == SINGLE:
        cpu.fr[op.r1] = from_single((<uint32_t*>data)[first])
        cpu.fr[op.r2] = from_single((<uint32_t*>data)[1 - first])
    elif op.x == DOUBLE:
        cpu.fr[op.r1] = from_double((<uint64_t*>data)[first])
        cpu.fr[op.r2] = from_double((<uint64_t*>data)[1 - first])
    else:
        cpu.fr[op.r1] = from_significand((<uint64_t*>data)[first])
        cpu.fr[op.r2] = from_significand((<uint64_t*>data)[1 - first])


cdef inline int load_pair(Cpu* cpu, Op* op, int speculation, bint update) noexcept nogil:
    cdef uint64_t address = cpu.gr[op.r3]
    cdef uint32_t tag = float_tag(cpu, op.r1)        # an advanced pair has one entry, under its first register
    cdef uint8_t* data = NULL
    cdef bint base_nat = get_nat(cpu, op.r3), found
    if base_nat and not speculation & CONTROL:
        return fault(cpu, op, FAULT_REGISTER_NAT_CONSUMPTION)
    if speculation & (CHECK_CLEAR | CHECK_KEEP) and alat_find(cpu, tag) >= 0:
        if speculation & CHECK_CLEAR:
            alat_remove(cpu, tag)
    else:
        expect_cacheable(cpu)
        if not base_nat:
            if speculation & CONTROL and cpu.system != NULL:
                data = readable_speculatively(cpu, op, address, span(op))
                if data == NULL and not cpu.system.deferred:
                    return fault_here(cpu, op)
            else:
                data = readable(cpu, op, address & ~<uint64_t>(span(op) - 1) if speculation & CONTROL else address,
                                span(op))
            if data == NULL and not speculation & CONTROL:
                return fault_here(cpu, op)
        found = data != NULL
        if speculation & (CHECK_CLEAR | CHECK_KEEP):
            mark_at(cpu, op, Mark.ALAT_MISS, 1)
        if not found or (speculation & CONTROL and address & (span(op) - 1)):
            mark_at(cpu, op, Mark.DEFERRED, deferral(cpu, base_nat, found))
            cpu.fr[op.r1] = natval()
            cpu.fr[op.r2] = natval()
            if speculation & DATA:
                alat_remove(cpu, tag)
        else:
            set_pair(cpu, op, data)
            if speculation & DATA and was_uncacheable(cpu):
                cpu.fr[op.r1] = cpu.fr[op.r2] = cpu.fr[0]
                alat_remove(cpu, tag)
            elif speculation & (DATA | CHECK_KEEP):
                alat_insert(cpu, op, tag, address, span(op))
    if update:
        cpu.gr[op.r3] += span(op)
    return next_op(cpu, op)


cdef int ldfp(Cpu* cpu, Op* op) noexcept nogil:
    return load_pair(cpu, op, NONE, False)

cdef int ldfp_update(Cpu* cpu, Op* op) noexcept nogil:
    return load_pair(cpu, op, NONE, True)

cdef int ldfp_s(Cpu* cpu, Op* op) noexcept nogil:
    return load_pair(cpu, op, CONTROL, False)

cdef int ldfp_s_update(Cpu* cpu, Op* op) noexcept nogil:
    return load_pair(cpu, op, CONTROL, True)

cdef int ldfp_a(Cpu* cpu, Op* op) noexcept nogil:
    return load_pair(cpu, op, DATA, False)

cdef int ldfp_a_update(Cpu* cpu, Op* op) noexcept nogil:
    return load_pair(cpu, op, DATA, True)

cdef int ldfp_sa(Cpu* cpu, Op* op) noexcept nogil:
    return load_pair(cpu, op, CONTROL | DATA, False)

cdef int ldfp_sa_update(Cpu* cpu, Op* op) noexcept nogil:
    return load_pair(cpu, op, CONTROL | DATA, True)

cdef int ldfp_c_clr(Cpu* cpu, Op* op) noexcept nogil:
    return load_pair(cpu, op, CHECK_CLEAR, False)

cdef int ldfp_c_clr_update(Cpu* cpu, Op* op) noexcept nogil:
    return load_pair(cpu, op, CHECK_CLEAR, True)

cdef int ldfp_c_nc(Cpu* cpu, Op* op) noexcept nogil:
    return load_pair(cpu, op, CHECK_KEEP, False)

cdef int ldfp_c_nc_update(Cpu* cpu, Op* op) noexcept nogil:
    return load_pair(cpu, op, CHECK_KEEP, True)

# Completer -> (x6 base, handlers without and with update, kind)
PAIRS = {
    "": (0x00, <size_t>&ldfp, <size_t>&ldfp_update, 0),
    ".s": (0x04, <size_t>&ldfp_s, <size_t>&ldfp_s_update, as_int(Ia64Kind.SPECULATIVE)),
    ".a": (0x08, <size_t>&ldfp_a, <size_t>&ldfp_a_update, as_int(Ia64Kind.ADVANCED)),
    ".sa": (0x0C, <size_t>&ldfp_sa, <size_t>&ldfp_sa_update, as_int(Ia64Kind.SPECULATIVE | Ia64Kind.ADVANCED)),
    ".c.clr": (0x20, <size_t>&ldfp_c_clr, <size_t>&ldfp_c_clr_update, as_int(Ia64Kind.LOAD_CHECK)),
    ".c.nc": (0x24, <size_t>&ldfp_c_nc, <size_t>&ldfp_c_nc_update, as_int(Ia64Kind.LOAD_CHECK)),
}


# --- lfetch: a hint, but it updates its base, and .fault faults on unreadable data

cdef inline int line_fetch(Cpu* cpu, Op* op, bint faulting, int update) noexcept nogil:
    if faulting and not psr_bit(cpu, PSR_ED):
        if get_nat(cpu, op.r3):
            return fault(cpu, op, FAULT_REGISTER_NAT_CONSUMPTION)
        cpu.index = op.index
        if probe(cpu, cpu.gr[op.r3], PROTECT_READ) == NULL:
            return fault_here(cpu, op)
    update_base(cpu, op, update)
    return next_op(cpu, op)


cdef int lfetch(Cpu* cpu, Op* op) noexcept nogil:
    return line_fetch(cpu, op, False, NO_UPDATE)

cdef int lfetch_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return line_fetch(cpu, op, False, BY_IMMEDIATE)

cdef int lfetch_register(Cpu* cpu, Op* op) noexcept nogil:
    return line_fetch(cpu, op, False, BY_REGISTER)

cdef int lfetch_fault(Cpu* cpu, Op* op) noexcept nogil:
    return line_fetch(cpu, op, True, NO_UPDATE)

cdef int lfetch_fault_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return line_fetch(cpu, op, True, BY_IMMEDIATE)

cdef int lfetch_fault_register(Cpu* cpu, Op* op) noexcept nogil:
    return line_fetch(cpu, op, True, BY_REGISTER)


def m_pair_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    for completer, (base, plain, update, kind) in PAIRS.items():
        for form, (letter, size) in {INTEGER: ("8", 16), SINGLE: ("s", 8), DOUBLE: ("d", 16)}.items():
            for hint, (locality, flags) in HINTS.items():
                text = f"ldfp{letter}{completer}{locality} f1,f2=[r3]"
                given = {"kind": as_int(Kind.LOAD | Kind.FLOAT), "isa_kind": kind, "access_flags": flags, "nat": "own",
                          "size": size, "emit": "memory", "hint": hint, "x6": base + form, "op_x": form}
                row("M11", text, plain, op=6, m=0, x=1, **given)
                row("M12", f"{text},{size}", update, op=6, m=1, x=1, **given)

    excl, fault_flag = as_int(AccessFlag.ACCESS_EXCLUSIVE), as_int(AccessFlag.ACCESS_FAULTING)
    for x6, completer, faults, own in (
        (0x2C, "", False, 0), (0x2D, ".excl", False, excl),
        (0x2E, ".fault", True, fault_flag), (0x2F, ".fault.excl", True, fault_flag | excl),
    ):
        for hint, (locality, flags) in LINE_HINTS.items():
            text = f"lfetch{completer}{locality} [r3]"
            given = {"kind": as_int(Kind.PREFETCH), "access_flags": own | flags, "nat": "own", "emit": "memory",
                      "hint": hint, "x6": x6}
            row("M13", text, <size_t>&lfetch_fault if faults else <size_t>&lfetch, op=6, m=0, x=0, **given)
            row("M14", f"{text},r2", <size_t>&lfetch_fault_register if faults else <size_t>&lfetch_register,
                op=6, m=1, x=0, **given)
            row("M15", f"{text},imm9", <size_t>&lfetch_fault_immediate if faults else <size_t>&lfetch_immediate,
                op=7, **given)
