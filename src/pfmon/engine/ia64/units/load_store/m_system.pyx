"""The memory unit's system instructions of user code (privileged ones: units/system/).

Formats M20-M48 (SDM volume 3, 4.4.4 to 4.4.10): checks, fences, register stack, ALAT, application registers, alloc,
user mask, probes, cache flush, break and nop.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.isa.ia64._encodings cimport Effect, as_int
from pfmon.stream._stream cimport Ia64Kind, Kind, Mark

from pfmon.isa.ia64.encoding_rows import row

cdef enum:
    USER_MASK = 0x3E             # be, up, ac, mfl, mfh


# --- checks: to recovery code when speculation failed

cdef inline int recover(Cpu* cpu, Op* op) noexcept nogil:
    cpu.ip = <uint64_t>op.imm
    cpu.fault_op = op
    return STATUS_CUT


cdef int chk_s_m(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(get_nat(cpu, op.r2)):
        return recover(cpu, op)
    return next_op(cpu, op)

cdef int chk_s_float(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(is_natval(cpu.fr[op.r2])):
        return recover(cpu, op)
    return next_op(cpu, op)


cdef inline int check_advanced(Cpu* cpu, Op* op, uint32_t tag, bint clear) noexcept nogil:
    if unlikely(alat_find(cpu, tag) < 0):
        mark_at(cpu, op, Mark.ALAT_MISS, 3 if tag >= FLOAT_TAG else 2)
        return recover(cpu, op)
    if clear:
        alat_remove(cpu, tag)
    return next_op(cpu, op)


cdef int chk_a_nc(Cpu* cpu, Op* op) noexcept nogil:
    return check_advanced(cpu, op, general_tag(cpu, op.r1), False)

cdef int chk_a_clr(Cpu* cpu, Op* op) noexcept nogil:
    return check_advanced(cpu, op, general_tag(cpu, op.r1), True)

cdef int chk_a_nc_float(Cpu* cpu, Op* op) noexcept nogil:
    return check_advanced(cpu, op, float_tag(cpu, op.r1), False)

cdef int chk_a_clr_float(Cpu* cpu, Op* op) noexcept nogil:
    return check_advanced(cpu, op, float_tag(cpu, op.r1), True)


# --- ordering: no effect on one processor, in order

cdef int fence(Cpu* cpu, Op* op) noexcept nogil:
    return next_op(cpu, op)

cdef int serialize(Cpu* cpu, Op* op) noexcept nogil:
    if cpu.system != NULL:
        cpu.system.ic_in_flight = 0
    return next_op(cpu, op)


# --- the ALAT

cdef int invala(Cpu* cpu, Op* op) noexcept nogil:
    alat_clear(cpu)
    return next_op(cpu, op)

cdef int invala_e(Cpu* cpu, Op* op) noexcept nogil:
    alat_remove(cpu, general_tag(cpu, op.r1))
    return next_op(cpu, op)

cdef int invala_e_float(Cpu* cpu, Op* op) noexcept nogil:
    alat_remove(cpu, float_tag(cpu, op.r1))
    return next_op(cpu, op)


# --- the register stack

cdef int flushrs(Cpu* cpu, Op* op) noexcept nogil:
    cpu.index = op.index
    if not flush_registers(cpu):
        return fault_here(cpu, op)
    return next_op(cpu, op)


cdef int loadrs(Cpu* cpu, Op* op) noexcept nogil:
    # Only in enforced lazy mode, and with an empty frame when there is something to load (volume 3, loadrs).
    if cpu.rsc & 3 or ((cpu.rsc >> 16) & 0x3FFF and cpu.sof):
        return fault(cpu, op, FAULT_ILLEGAL_OPERATION)
    cpu.index = op.index
    if not load_registers(cpu):
        return fault_here(cpu, op)
    return next_op(cpu, op)


cdef int alloc(Cpu* cpu, Op* op) noexcept nogil:
    # imm, y, x: size of frame, of locals, of the rotating part (volume 3, alloc).
    cdef int64_t sof = op.imm, sol = op.y, sor = op.x, r
    if sof > STACKED_PHYSICAL or sor > sof or sol > sof:
        return fault(cpu, op, FAULT_ILLEGAL_OPERATION)
    if <uint32_t>sor != cpu.sor and (cpu.rrb_gr | cpu.rrb_fr | cpu.rrb_pr):
        return fault(cpu, op, FAULT_RESERVED_REGISTER_FIELD)
    if unlikely(cpu.bof + sof - cpu.clean > STACKED_PHYSICAL):
        cpu.index = op.index
        if not make_frame_room(cpu, sof):
            return fault_here(cpu, op)
    if unlikely(any_nat(cpu)):
        for r in range(32 + sof, 128):
            set_nat(cpu, <uint32_t>r, False)
        set_nat(cpu, op.r1, False)
    cpu.sof = <uint32_t>sof
    cpu.sol = <uint32_t>sol
    cpu.sor = <uint32_t>sor
    cpu.gr[op.r1] = cpu.pfs
    return next_op(cpu, op)


# --- application registers

cdef inline bint waits_for_task(Cpu* cpu, Op* op, uint64_t value) noexcept nogil:
    """Whether a move to ar.k6, the current task of Linux, has to wait until the engine's user has noted it; the driver
    returns for it (STATUS_PMD), and the instruction is repeated."""
    if op.r3 != AREG_K6 or cpu.system == NULL or not cpu.system.watches_tasks:
        return False
    if cpu.pmd_known:
        cpu.pmd_known = 0
        return False
    cpu.system.pmu_access, cpu.system.pmu_value = SET_TASK, value
    cpu.fault_op = op
    return True


cdef int mov_to_ar(Cpu* cpu, Op* op) noexcept nogil:
    cdef int number = check_write_ar(cpu, op.r3, True)
    cpu.index = op.index                 # ar.itc counts from this instruction
    if not number and op.r3 == AREG_ITC and waits_for_clock(cpu, op, True):
        return STATUS_PMD
    if not number and waits_for_task(cpu, op, cpu.gr[op.r2]):
        return STATUS_PMD
    if not number:
        number = write_ar(cpu, op.r3, cpu.gr[op.r2])
    if number:
        return fault(cpu, op, number)
    return next_op(cpu, op)

cdef int mov_to_ar_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cdef int number = check_write_ar(cpu, op.r3, True)
    cpu.index = op.index
    if not number and op.r3 == AREG_ITC and waits_for_clock(cpu, op, True):
        return STATUS_PMD
    if not number and waits_for_task(cpu, op, <uint64_t>op.imm):
        return STATUS_PMD
    if not number:
        number = write_ar(cpu, op.r3, <uint64_t>op.imm)
    if number:
        return fault(cpu, op, number)
    return next_op(cpu, op)

cdef int mov_from_ar(Cpu* cpu, Op* op) noexcept nogil:
    cdef int number = check_read_ar(cpu, op.r3, True)
    if number:
        return fault(cpu, op, number)
    if op.r3 == AREG_ITC and waits_for_clock(cpu, op, False):
        return STATUS_PMD
    cpu.gr[op.r1] = read_ar(cpu, op.r3)
    if op.r3 == AREG_ITC:
        cpu.gr[op.r1] += op.index    # instructions retired in this block, beyond cpu.retired
    return next_op(cpu, op)


# --- the user mask

cdef int set_user_mask(Cpu* cpu, Op* op, uint64_t value) noexcept nogil:
    cdef uint64_t changed
    if cpu.secure or psr_bit(cpu, PSR_SP):   # PSR.up stays (volume 3, sum: PSR.sp)
        value = value & ~<uint64_t>UM_UP | cpu.um & UM_UP
    changed = cpu.um ^ value
    cpu.um = value
    if changed & UM_BE:
        flush_tlb(cpu)           # its entries hold for one byte order
    if changed & ~value & (UM_MFL | UM_MFH):
        # Cleared: translated code sets them only once, so writers of floating-point registers are translated again.
        user_mask_changed(cpu)
    if cpu.system != NULL:
        update_mode(cpu)
    elif changed:
        mark_at(cpu, op, Mark.MODE, value)
    return next_op(cpu, op)


cdef int sum_um(Cpu* cpu, Op* op) noexcept nogil:
    if op.imm & ~USER_MASK:
        return fault(cpu, op, FAULT_RESERVED_REGISTER_FIELD)
    return set_user_mask(cpu, op, cpu.um | <uint64_t>op.imm)

cdef int rum_um(Cpu* cpu, Op* op) noexcept nogil:
    if op.imm & ~USER_MASK:
        return fault(cpu, op, FAULT_RESERVED_REGISTER_FIELD)
    return set_user_mask(cpu, op, cpu.um & ~<uint64_t>op.imm)

cdef int mov_to_um(Cpu* cpu, Op* op) noexcept nogil:
    if cpu.gr[op.r2] & ~<uint64_t>USER_MASK:
        return fault(cpu, op, FAULT_RESERVED_REGISTER_FIELD)
    return set_user_mask(cpu, op, cpu.gr[op.r2])

cdef int mov_from_um(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = cpu.um
    return next_op(cpu, op)


# --- probes and cache flush: under Linux's interface code runs at level 3, and every mapped page is the user's

cdef inline int probe_for(Cpu* cpu, Op* op, uint32_t protection, uint64_t level) noexcept nogil:
    cdef bint granted
    if cpu.system != NULL:
        return probe_at_level(cpu, op, protection, level)
    granted = probe(cpu, cpu.gr[op.r3], protection) != NULL
    if not granted and cpu.fault != FAULT_DATA_ACCESS_RIGHTS:
        return fault_here(cpu, op)       # no translation
    cpu.gr[op.r1] = granted
    return next_op(cpu, op)

cdef inline int probe_or_fault(Cpu* cpu, Op* op, uint32_t protection) noexcept nogil:
    if cpu.system != NULL:
        return probe_fault_at_level(cpu, op, protection, <uint64_t>op.imm)
    if probe(cpu, cpu.gr[op.r3], protection) == NULL:
        return fault_here(cpu, op)
    return next_op(cpu, op)

cdef int probe_r(Cpu* cpu, Op* op) noexcept nogil:
    return probe_for(cpu, op, PROTECT_READ, cpu.gr[op.r2])

cdef int probe_r_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return probe_for(cpu, op, PROTECT_READ, <uint64_t>op.imm)

cdef int probe_w(Cpu* cpu, Op* op) noexcept nogil:
    return probe_for(cpu, op, PROTECT_WRITE, cpu.gr[op.r2])

cdef int probe_w_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return probe_for(cpu, op, PROTECT_WRITE, <uint64_t>op.imm)

cdef int probe_r_fault(Cpu* cpu, Op* op) noexcept nogil:
    return probe_or_fault(cpu, op, PROTECT_READ)

cdef int probe_w_fault(Cpu* cpu, Op* op) noexcept nogil:
    return probe_or_fault(cpu, op, PROTECT_WRITE)

cdef int probe_rw_fault(Cpu* cpu, Op* op) noexcept nogil:
    return probe_or_fault(cpu, op, PROTECT_READ | PROTECT_WRITE)

cdef int fc(Cpu* cpu, Op* op) noexcept nogil:
    if cpu.system != NULL:
        return flush_line(cpu, op)
    if probe(cpu, cpu.gr[op.r3], PROTECT_READ) == NULL:
        return fault_here(cpu, op)
    return next_op(cpu, op)


# --- translation hashes, with Linux's settings: 16 KB pages, short format, a linear table of 2^40 bytes a region

cdef int thash(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t address = cpu.gr[op.r3]
    cdef uint64_t size = (<uint64_t>1 << 40) - 1
    if cpu.system != NULL:
        cpu.gr[op.r1] = vhpt_address(cpu.system, address)
        return next_op(cpu, op)
    cdef uint64_t base = (<uint64_t>1 << 61) - (<uint64_t>1 << 40)
    cdef uint64_t offset = (address & ((<uint64_t>1 << 61) - 1)) >> 14 << 3
    cpu.gr[op.r1] = address >> 61 << 61 | base | offset & size
    return next_op(cpu, op)

cdef int ttag(Cpu* cpu, Op* op) noexcept nogil:
    if cpu.system != NULL:
        cpu.gr[op.r1] = vhpt_tag(cpu.system, cpu.gr[op.r3])
        return next_op(cpu, op)
    cpu.gr[op.r1] = (cpu.gr[op.r3] & ((<uint64_t>1 << 61) - 1)) >> 14
    return next_op(cpu, op)


# --- identification and performance data

cdef int mov_from_cpuid(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t number = cpu.gr[op.r3] & 0xFF
    if number > (cpu.cpuid[3] & 0xFF):
        return fault(cpu, op, FAULT_RESERVED_REGISTER_FIELD)
    cpu.gr[op.r1] = cpu.cpuid[number]
    return next_op(cpu, op)

cdef int mov_from_pmd(Cpu* cpu, Op* op) noexcept nogil:
    # Under PSR.sp, with which Linux runs programs, the performance data registers read as 0 (volume 2, 7.2.1).
    if cpu.system != NULL:
        return system_mov_from_pmd(cpu, op)
    if not cpu.secure and not cpu.pmd_known:
        cpu.fault_info = cpu.gr[op.r3] & 0xFF
        cpu.fault_op = op
        return STATUS_PMD
    cpu.gr[op.r1] = cpu.pmd_value if cpu.pmd_known else 0
    cpu.pmd_known = 0
    return next_op(cpu, op)


# --- break and nop

cdef int break_m(Cpu* cpu, Op* op) noexcept nogil:
    cpu.fault_info = <uint64_t>op.imm
    cpu.fault_op = op
    return STATUS_BREAK

cdef int nop_m(Cpu* cpu, Op* op) noexcept nogil:
    return next_op(cpu, op)


def m_system_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    row("M20", "chk.s.m r2,tgt25", <size_t>&chk_s_m, isa_kind=as_int(Ia64Kind.CHECK_NAT), nat="own", emit="check",
        op=1, x3=1)
    row("M21", "chk.s f2,tgt25", <size_t>&chk_s_float, kind=as_int(Kind.FLOAT), isa_kind=as_int(Ia64Kind.CHECK_NAT),
        emit="check",
        op=1, x3=3)

    row("M22", "chk.a.nc r1,tgt25", <size_t>&chk_a_nc, isa_kind=as_int(Ia64Kind.CHECK_ALAT), nat="own", emit="check",
        op=0,
        x3=4)

    row("M22", "chk.a.clr r1,tgt25", <size_t>&chk_a_clr, isa_kind=as_int(Ia64Kind.CHECK_ALAT), nat="own", emit="check",
        op=0, x3=5)

    row("M23", "chk.a.nc f1,tgt25", <size_t>&chk_a_nc_float, kind=as_int(Kind.FLOAT),
        isa_kind=as_int(Ia64Kind.CHECK_ALAT),
        emit="check",
        op=0, x3=6)

    row("M23", "chk.a.clr f1,tgt25", <size_t>&chk_a_clr_float, kind=as_int(Kind.FLOAT),
        isa_kind=as_int(Ia64Kind.CHECK_ALAT), emit="check",
        op=0, x3=7)

    for text, x2, x4 in (("fwb", 2, 0), ("sync.i", 3, 3)):
        row("M24", text, <size_t>&fence, op=0, x3=0, x2=x2, x4=x4)
    row("M24", "srlz.d", <size_t>&serialize, op=0, x3=0, x2=3, x4=0)
    for text, x4 in (("mf", 2), ("mf.a", 3)):
        row("M24", text, <size_t>&fence, effect=as_int(Effect.EFFECT_FENCE), op=0, x3=0, x2=2, x4=x4)

    # Written data becomes visible as code: the block ends, so that the driver can retranslate.
    row("M24", "srlz.i", <size_t>&serialize, kind=as_int(Kind.SERIALIZE), effect=as_int(Effect.EFFECT_SERIALIZE),
        emit="end",
        op=0, x3=0, x2=3, x4=1)

    row("M24", "invala", <size_t>&invala, op=0, x3=0, x2=1, x4=0)
    row("M26", "invala.e r1", <size_t>&invala_e, nat="own", op=0, x3=0, x2=1, x4=2)
    row("M27", "invala.e f1", <size_t>&invala_e_float, op=0, x3=0, x2=1, x4=3)
    row("M25", "flushrs", <size_t>&flushrs, isa_kind=as_int(Ia64Kind.RSE_EVENT), op=0, x3=0, x2=0, x4=0xC)
    row("M25", "loadrs", <size_t>&loadrs, isa_kind=as_int(Ia64Kind.RSE_EVENT), effect=as_int(Effect.EFFECT_LOADRS),
        op=0, x3=0, x2=0, x4=0xA)

    row("M34", "alloc r1=ar.pfs,sof,sol,sor", <size_t>&alloc, isa_kind=as_int(Ia64Kind.ALLOC | Ia64Kind.RSE_EVENT),
        effect=as_int(Effect.EFFECT_ALLOC), nat="own", emit="alloc", reads="ar.pfs", op=1, x3=6)

    row("M29", "mov.m ar3=r2", <size_t>&mov_to_ar, nat="consume", op=1, x3=0, x6=0x2A)
    row("M30", "mov.m ar3=imm8", <size_t>&mov_to_ar_immediate, op=0, x3=0, x2=2, x4=8)
    row("M31", "mov.m r1=ar3", <size_t>&mov_from_ar, op=1, x3=0, x6=0x22)
    row("M44", "sum imm24", <size_t>&sum_um, emit="end", op=0, x3=0, x4=4)
    row("M44", "rum imm24", <size_t>&rum_um, emit="end", op=0, x3=0, x4=5)
    row("M35", "mov psr.um=r2", <size_t>&mov_to_um, nat="consume", emit="end", op=1, x3=0, x6=0x29)
    row("M36", "mov r1=psr.um", <size_t>&mov_from_um, op=1, x3=0, x6=0x21)
    row("M38", "probe.r r1=r3,r2", <size_t>&probe_r, nat="consume", op=1, x3=0, x6=0x38)
    row("M38", "probe.w r1=r3,r2", <size_t>&probe_w, nat="consume", op=1, x3=0, x6=0x39)
    row("M39", "probe.r r1=r3,imm2", <size_t>&probe_r_immediate, nat="consume", op=1, x3=0, x6=0x18)
    row("M39", "probe.w r1=r3,imm2", <size_t>&probe_w_immediate, nat="consume", op=1, x3=0, x6=0x19)
    row("M40", "probe.rw.fault r3,imm2", <size_t>&probe_rw_fault, nat="consume", op=1, x3=0, x6=0x31)
    row("M40", "probe.r.fault r3,imm2", <size_t>&probe_r_fault, nat="consume", op=1, x3=0, x6=0x32)
    row("M40", "probe.w.fault r3,imm2", <size_t>&probe_w_fault, nat="consume", op=1, x3=0, x6=0x33)
    for text, x in (("fc r3", 0), ("fc.i r3", 1)):
        row("M28", text, <size_t>&fc, effect=as_int(Effect.EFFECT_FLUSH_LINE), nat="consume", emit="memory",
            op=1, x=x, x3=0, x6=0x30)

    row("M46", "thash r1=r3", <size_t>&thash, op=1, x3=0, x6=0x1A)
    row("M46", "ttag r1=r3", <size_t>&ttag, op=1, x3=0, x6=0x1B)
    row("M43", "mov r1=cpuid[r3]", <size_t>&mov_from_cpuid, nat="consume", op=1, x3=0, x6=0x17)
    row("M43", "mov r1=pmd[r3]", <size_t>&mov_from_pmd, nat="consume", op=1, x3=0, x6=0x15)
    row("M37", "break.m imm21", <size_t>&break_m, kind=as_int(Kind.SYSTEM), emit="break", op=0, x3=0, x2=0, x4=0)
    row("M48", "nop.m imm21", <size_t>&nop_m, kind=as_int(Kind.NOP), op=0, x3=0, x2=0, x4=1, y=0)
    row("M48", "hint.m imm21", <size_t>&nop_m, kind=as_int(Kind.NOP), effect=as_int(Effect.EFFECT_PAUSE),
         op=0, x3=0, x2=0, x4=1, y=1)
