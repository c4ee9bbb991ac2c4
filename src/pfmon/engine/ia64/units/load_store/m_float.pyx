"""The memory unit's floating-point side: M6-M12 loads and stores, M18 setf, M19 getf (SDM volume 3, ldf, ldfp, stf).

Memory formats are named by a number, ``op.x``: 0 extended (e), 1 integer (8), 2 single (s), 3 double (d), 4 spill.
"""

from libc.stdint cimport uint16_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memcpy

from pfmon.isa.ia64._encodings cimport as_int
from pfmon.stream._stream cimport Ia64Kind, Kind, Mark

from pfmon.isa.ia64.encoding_rows import row

cdef enum Form:
    EXTENDED = 0
    INTEGER = 1
    SINGLE = 2
    DOUBLE = 3
    SPILLED = 4

cdef uint32_t[5] SPAN = [16, 8, 4, 8, 16]      # alignment and reach in memory; extended uses 10 bytes of 16

FORMS = {EXTENDED: ("e", 10), INTEGER: ("8", 8), SINGLE: ("s", 4), DOUBLE: ("d", 8)}
FLOAT_STORE_HINTS = {**HINTS, 1: (".d1", 0)}


def float_load_rows(mnemonic, x6, plain, immediate, register, *, size, form, isa_kind=0, own=True):
    """The three forms of a floating-point load, with all hints."""
    nat = "own" if own else "consume"
    for hint, (completer, locality) in HINTS.items():
        text = f"{mnemonic}{completer} f1=[r3]"
        given = {"kind": as_int(Kind.LOAD | Kind.FLOAT), "isa_kind": isa_kind, "access_flags": locality, "size": size,
                 "emit": "memory", "hint": hint, "x6": x6, "op_x": form}
        row("M6", text, plain, nat=nat, op=6, m=0, x=0, **given)
        row("M7", f"{text},r2", register, nat="own", op=6, m=1, x=0, **given)
        row("M8", f"{text},imm9", immediate, nat=nat, op=7, **given)


cdef inline FloatRegister read_float(uint8_t* data, uint32_t form) noexcept nogil:
    if form == DOUBLE:
        return from_double((<uint64_t*>data)[0])
    if form == SINGLE:
        return from_single((<uint32_t*>data)[0])
    if form == INTEGER:
        return from_significand((<uint64_t*>data)[0])
    if form == EXTENDED:
        return from_extended((<uint64_t*>data)[0], (<uint16_t*>data)[4])
    return from_spill((<uint64_t*>data)[0], (<uint64_t*>data)[1])


cdef inline uint8_t* readable_float(Cpu* cpu, Op* op, uint64_t address, uint32_t form) noexcept nogil:
    """As ``readable``, for the data of a form: extended data has 10 bytes, aligned to 16."""
    cdef uint8_t* data
    if form != EXTENDED:
        return readable(cpu, op, address, SPAN[form])
    data = readable_in_place(cpu, address, 16)
    if likely(data != NULL):
        return data
    cpu.index = op.index
    return read_span(cpu, address, 10, 16)


# --- ordinary loads

cdef inline int load_float(Cpu* cpu, Op* op, uint32_t form, int update) noexcept nogil:
    cdef uint8_t* data
    if update == BY_REGISTER and unlikely(any_nat(cpu)) and get_nat(cpu, op.r3):
        return fault(cpu, op, FAULT_REGISTER_NAT_CONSUMPTION)
    data = readable_float(cpu, op, cpu.gr[op.r3], form)
    if unlikely(data == NULL):
        return fault_here(cpu, op)
    cpu.fr[op.r1] = read_float(data, form)
    update_base(cpu, op, update)
    return next_op(cpu, op)


cdef int ldfs(Cpu* cpu, Op* op) noexcept nogil:
    return load_float(cpu, op, SINGLE, NO_UPDATE)

cdef int ldfs_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return load_float(cpu, op, SINGLE, BY_IMMEDIATE)

cdef int ldfs_register(Cpu* cpu, Op* op) noexcept nogil:
    return load_float(cpu, op, SINGLE, BY_REGISTER)

cdef int ldfd(Cpu* cpu, Op* op) noexcept nogil:
    return load_float(cpu, op, DOUBLE, NO_UPDATE)

cdef int ldfd_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return load_float(cpu, op, DOUBLE, BY_IMMEDIATE)

cdef int ldfd_register(Cpu* cpu, Op* op) noexcept nogil:
    return load_float(cpu, op, DOUBLE, BY_REGISTER)

cdef int ldf(Cpu* cpu, Op* op) noexcept nogil:
    return load_float(cpu, op, op.x, NO_UPDATE)

cdef int ldf_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return load_float(cpu, op, op.x, BY_IMMEDIATE)

cdef int ldf_register(Cpu* cpu, Op* op) noexcept nogil:
    return load_float(cpu, op, op.x, BY_REGISTER)


# --- speculative loads: ldf.s, ldf.a, ldf.sa

cdef inline int speculative_float(Cpu* cpu, Op* op, bint control, bint data_too, int update) noexcept nogil:
    """``control``: defer faults; ``data_too``: enter the address in the ALAT."""
    cdef uint64_t address = cpu.gr[op.r3]
    cdef uint32_t span = SPAN[op.x]
    cdef uint8_t* data = NULL
    cdef bint base_nat = get_nat(cpu, op.r3), found
    if base_nat and not control:
        return fault(cpu, op, FAULT_REGISTER_NAT_CONSUMPTION)
    expect_cacheable(cpu)
    if not base_nat:
        if control and cpu.system != NULL:
            data = readable_speculatively(cpu, op, address, span)
            if data == NULL and not cpu.system.deferred:
                return fault_here(cpu, op)
        else:
            data = readable_float(cpu, op, address & ~<uint64_t>(span - 1) if control else address, op.x)
        if data == NULL and not control:
            return fault_here(cpu, op)
    found = data != NULL
    if not found or (control and address & (span - 1)):
        mark_at(cpu, op, Mark.DEFERRED, deferral(cpu, base_nat, found))
        cpu.fr[op.r1] = natval()
        if data_too:
            alat_remove(cpu, float_tag(cpu, op.r1))
    else:
        cpu.fr[op.r1] = read_float(data, op.x)
        if data_too and was_uncacheable(cpu):
            cpu.fr[op.r1] = cpu.fr[0]
            alat_remove(cpu, float_tag(cpu, op.r1))
        elif data_too:
            alat_insert(cpu, op, float_tag(cpu, op.r1), address, span)
    update_base(cpu, op, update)
    return next_op(cpu, op)


cdef int ldf_s(Cpu* cpu, Op* op) noexcept nogil:
    return speculative_float(cpu, op, True, False, NO_UPDATE)

cdef int ldf_s_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return speculative_float(cpu, op, True, False, BY_IMMEDIATE)

cdef int ldf_s_register(Cpu* cpu, Op* op) noexcept nogil:
    return speculative_float(cpu, op, True, False, BY_REGISTER)

cdef int ldf_a(Cpu* cpu, Op* op) noexcept nogil:
    return speculative_float(cpu, op, False, True, NO_UPDATE)

cdef int ldf_a_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return speculative_float(cpu, op, False, True, BY_IMMEDIATE)

cdef int ldf_a_register(Cpu* cpu, Op* op) noexcept nogil:
    return speculative_float(cpu, op, False, True, BY_REGISTER)

cdef int ldf_sa(Cpu* cpu, Op* op) noexcept nogil:
    return speculative_float(cpu, op, True, True, NO_UPDATE)

cdef int ldf_sa_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return speculative_float(cpu, op, True, True, BY_IMMEDIATE)

cdef int ldf_sa_register(Cpu* cpu, Op* op) noexcept nogil:
    return speculative_float(cpu, op, True, True, BY_REGISTER)


# --- check loads

cdef inline int check_load_float(Cpu* cpu, Op* op, bint clear, int update) noexcept nogil:
    cdef uint32_t tag = float_tag(cpu, op.r1)
    cdef uint8_t* data
    if get_nat(cpu, op.r3):
        return fault(cpu, op, FAULT_REGISTER_NAT_CONSUMPTION)
    if alat_find(cpu, tag) >= 0:
        if clear:
            alat_remove(cpu, tag)
    else:
        data = readable_float(cpu, op, cpu.gr[op.r3], op.x)
        if unlikely(data == NULL):
            return fault_here(cpu, op)
        mark_at(cpu, op, Mark.ALAT_MISS, 1)
        cpu.fr[op.r1] = read_float(data, op.x)
        if not clear:
            alat_insert(cpu, op, tag, cpu.gr[op.r3], SPAN[op.x])
    update_base(cpu, op, update)
    return next_op(cpu, op)


cdef int ldf_c_clr(Cpu* cpu, Op* op) noexcept nogil:
    return check_load_float(cpu, op, True, NO_UPDATE)

cdef int ldf_c_clr_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return check_load_float(cpu, op, True, BY_IMMEDIATE)

cdef int ldf_c_clr_register(Cpu* cpu, Op* op) noexcept nogil:
    return check_load_float(cpu, op, True, BY_REGISTER)

cdef int ldf_c_nc(Cpu* cpu, Op* op) noexcept nogil:
    return check_load_float(cpu, op, False, NO_UPDATE)

cdef int ldf_c_nc_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return check_load_float(cpu, op, False, BY_IMMEDIATE)

cdef int ldf_c_nc_register(Cpu* cpu, Op* op) noexcept nogil:
    return check_load_float(cpu, op, False, BY_REGISTER)

# Completer -> (x6 of the extended form, handlers, kind)
SPECULATION = {
    ".s": (0x04, (<size_t>&ldf_s, <size_t>&ldf_s_immediate, <size_t>&ldf_s_register), as_int(Ia64Kind.SPECULATIVE)),
    ".a": (0x08, (<size_t>&ldf_a, <size_t>&ldf_a_immediate, <size_t>&ldf_a_register), as_int(Ia64Kind.ADVANCED)),
    ".sa": (0x0C, (<size_t>&ldf_sa, <size_t>&ldf_sa_immediate, <size_t>&ldf_sa_register),
            as_int(Ia64Kind.SPECULATIVE | Ia64Kind.ADVANCED)),
    ".c.clr": (0x20, (<size_t>&ldf_c_clr, <size_t>&ldf_c_clr_immediate, <size_t>&ldf_c_clr_register),
               as_int(Ia64Kind.LOAD_CHECK)),
    ".c.nc": (0x24, (<size_t>&ldf_c_nc, <size_t>&ldf_c_nc_immediate, <size_t>&ldf_c_nc_register),
    as_int(Ia64Kind.LOAD_CHECK)),
}


# --- stores

cdef inline int store_float(Cpu* cpu, Op* op, uint32_t form, int update) noexcept nogil:
    cdef FloatRegister value = cpu.fr[op.r2]
    cdef uint64_t* data = <uint64_t*>cpu.bounce
    if form != SPILLED and unlikely(is_natval(value)):
        return fault(cpu, op, FAULT_REGISTER_NAT_CONSUMPTION)
    if form == DOUBLE:
        data[0] = to_double(value)
    elif form == SINGLE:
        data[0] = to_single(value)
    else:
        data[0] = value.significand
        data[1] = to_extended(value) if form == EXTENDED else to_spill(value)
    if form == EXTENDED or form == SPILLED:
        if unlikely(not write_long(cpu, op, 10 if form == EXTENDED else 16)):
            return fault_here(cpu, op)
    elif unlikely(not write_integer(cpu, op, cpu.gr[op.r3], data, 4 if form == SINGLE else 8)):
        return fault_here(cpu, op)
    update_base(cpu, op, update)
    return next_op(cpu, op)


cdef int write_long(Cpu* cpu, Op* op, uint32_t size) noexcept nogil:
    """Store 10 or 16 bytes from cpu.bounce; 0 with the fault in cpu."""
    cdef uint64_t address = cpu.gr[op.r3]
    cdef uint8_t* host = writable(cpu, address, 16)
    if likely(host != NULL):
        memcpy(host, cpu.bounce, size)
    else:
        cpu.index = op.index
        if not write_span(cpu, address, cpu.bounce, size, 16):
            return 0
    if unlikely(cpu.alat_used != 0):
        alat_store(cpu, address, size)
    return 1


cdef int stfs(Cpu* cpu, Op* op) noexcept nogil:
    return store_float(cpu, op, SINGLE, NO_UPDATE)

cdef int stfs_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return store_float(cpu, op, SINGLE, BY_IMMEDIATE)

cdef int stfd(Cpu* cpu, Op* op) noexcept nogil:
    return store_float(cpu, op, DOUBLE, NO_UPDATE)

cdef int stfd_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return store_float(cpu, op, DOUBLE, BY_IMMEDIATE)

cdef int stf8(Cpu* cpu, Op* op) noexcept nogil:
    return store_float(cpu, op, INTEGER, NO_UPDATE)

cdef int stf8_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return store_float(cpu, op, INTEGER, BY_IMMEDIATE)

cdef int stfe(Cpu* cpu, Op* op) noexcept nogil:
    return store_float(cpu, op, EXTENDED, NO_UPDATE)

cdef int stfe_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return store_float(cpu, op, EXTENDED, BY_IMMEDIATE)

cdef int stf_spill(Cpu* cpu, Op* op) noexcept nogil:
    return store_float(cpu, op, SPILLED, NO_UPDATE)

cdef int stf_spill_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return store_float(cpu, op, SPILLED, BY_IMMEDIATE)


# --- setf and getf: between the register files

cdef int setf_sig(Cpu* cpu, Op* op) noexcept nogil:
    cpu.fr[op.r1] = natval() if unlikely(get_nat(cpu, op.r2)) else from_significand(cpu.gr[op.r2])
    return next_op(cpu, op)

cdef int setf_exp(Cpu* cpu, Op* op) noexcept nogil:
    cpu.fr[op.r1] = natval() if unlikely(get_nat(cpu, op.r2)) else from_sign_exponent(cpu.gr[op.r2])
    return next_op(cpu, op)

cdef int setf_s(Cpu* cpu, Op* op) noexcept nogil:
    cpu.fr[op.r1] = natval() if unlikely(get_nat(cpu, op.r2)) else from_single(<uint32_t>cpu.gr[op.r2])
    return next_op(cpu, op)

cdef int setf_d(Cpu* cpu, Op* op) noexcept nogil:
    cpu.fr[op.r1] = natval() if unlikely(get_nat(cpu, op.r2)) else from_double(cpu.gr[op.r2])
    return next_op(cpu, op)


cdef inline int deliver_value(Cpu* cpu, Op* op, uint64_t value) noexcept nogil:
    """getf: a NaTVal becomes a NaT bit."""
    cpu.gr[op.r1] = value
    if unlikely(is_natval(cpu.fr[op.r2])):
        set_nat(cpu, op.r1, True)
        return checked(cpu, op)
    if unlikely(any_nat(cpu)):
        set_nat(cpu, op.r1, False)
    return next_op(cpu, op)

cdef int getf_sig(Cpu* cpu, Op* op) noexcept nogil:
    return deliver_value(cpu, op, cpu.fr[op.r2].significand)

cdef int getf_exp(Cpu* cpu, Op* op) noexcept nogil:
    return deliver_value(cpu, op, to_sign_exponent(cpu.fr[op.r2]))

cdef int getf_s(Cpu* cpu, Op* op) noexcept nogil:
    return deliver_value(cpu, op, to_single(cpu.fr[op.r2]))

cdef int getf_d(Cpu* cpu, Op* op) noexcept nogil:
    return deliver_value(cpu, op, to_double(cpu.fr[op.r2]))


def m_float_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    loads = {
        EXTENDED: (<size_t>&ldf, <size_t>&ldf_immediate, <size_t>&ldf_register),
        INTEGER: (<size_t>&ldf, <size_t>&ldf_immediate, <size_t>&ldf_register),
        SINGLE: (<size_t>&ldfs, <size_t>&ldfs_immediate, <size_t>&ldfs_register),
        DOUBLE: (<size_t>&ldfd, <size_t>&ldfd_immediate, <size_t>&ldfd_register),
    }

    for form, (letter, size) in FORMS.items():
        float_load_rows(f"ldf{letter}", form, *loads[form], size=size, form=form, own=False)

    float_load_rows("ldf.fill", 0x1B, <size_t>&ldf, <size_t>&ldf_immediate, <size_t>&ldf_register, size=16,
                    form=SPILLED,
              own=False, isa_kind=as_int(Ia64Kind.SPILL_FILL))

    for completer, (base, handlers, kind) in SPECULATION.items():
        for form, (letter, size) in FORMS.items():
            float_load_rows(f"ldf{letter}{completer}", base + form, *handlers, size=size, form=form, isa_kind=kind)

    for mnemonic, x6, size, plain, immediate, kind in (
        ("stfe", 0x30, 10, <size_t>&stfe, <size_t>&stfe_immediate, 0),
        ("stf8", 0x31, 8, <size_t>&stf8, <size_t>&stf8_immediate, 0),
        ("stfs", 0x32, 4, <size_t>&stfs, <size_t>&stfs_immediate, 0),
        ("stfd", 0x33, 8, <size_t>&stfd, <size_t>&stfd_immediate, 0),
        ("stf.spill", 0x3B, 16, <size_t>&stf_spill, <size_t>&stf_spill_immediate, as_int(Ia64Kind.SPILL_FILL)),
    ):
        for hint, (completer, locality) in FLOAT_STORE_HINTS.items():
            given = {"kind": as_int(Kind.STORE | Kind.FLOAT), "isa_kind": kind, "access_flags": locality,
            "nat": "consume",
                      "size": size, "emit": "memory", "hint": hint, "x6": x6}
            row("M9", f"{mnemonic}{completer} [r3]=f2", plain, op=6, m=0, x=0, **given)
            row("M10", f"{mnemonic}{completer} [r3]=f2,imm9", immediate, op=7, **given)

    for x6, (letters, run) in {
        0x1C: ("sig", <size_t>&setf_sig), 0x1D: ("exp", <size_t>&setf_exp), 0x1E: ("s", <size_t>&setf_s),
        0x1F: ("d", <size_t>&setf_d),
    }.items():
        row("M18", f"setf.{letters} f1=r2", run, kind=as_int(Kind.FLOAT), nat="own", op=6, m=0, x=1, x6=x6)

    for x6, (letters, run) in {
        0x1C: ("sig", <size_t>&getf_sig), 0x1D: ("exp", <size_t>&getf_exp), 0x1E: ("s", <size_t>&getf_s),
        0x1F: ("d", <size_t>&getf_d),
    }.items():
        row("M19", f"getf.{letters} r1=f2", run, kind=as_int(Kind.FLOAT), nat="own", op=4, m=0, x=1, x6=x6)
