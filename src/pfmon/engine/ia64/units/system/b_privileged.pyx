"""The branch unit's instructions that change privilege level, register bank or mode (volume 3: rfi, bsw, epc, vmsw)."""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.isa.ia64._encodings cimport Effect, as_int
from pfmon.stream._stream cimport Ia64Kind, Kind

from pfmon.isa.ia64.encoding_rows import row


cdef int rfi(Cpu* cpu, Op* op) noexcept nogil:
    """Return from interruption: PSR, IP and, if IFS is valid, the frame."""
    cdef SystemState* system = cpu.system
    cdef Exit* exit = <Exit*>op.imm
    cdef uint64_t psr, ifs, slot
    if not at_level_0(cpu):
        return fault(cpu, op, FAULT_PRIVILEGED_OPERATION)
    psr, ifs = system.cr[CR_IPSR], system.cr[CR_IFS]
    if psr & PSR_IS:                     # there is no IA-32 instruction set
        return fault(cpu, op, FAULT_ILLEGAL_OPERATION)
    cpu.index = op.index
    cpu.mask |= <uint64_t>op.y
    complete(cpu, exit)
    set_psr(cpu, psr)
    if ifs & IFS_VALID:
        restore_covered_frame(cpu, ifs)
        mark_frame(cpu)
    elif system.incomplete_frame:
        system.frame_pending = 1
    slot = (psr & PSR_RI) >> PSR_RI_SHIFT
    cpu.ip = system.cr[CR_IIP] & ~<uint64_t>15 | (slot if slot < 3 else 0)
    cpu.miss_link = NULL
    system.ic_in_flight = 0
    system.returned = system.mode_changed = 1
    return STATUS_MISS


cdef inline int switch_bank(Cpu* cpu, Op* op, uint32_t bank) noexcept nogil:
    if not at_level_0(cpu):
        return fault(cpu, op, FAULT_PRIVILEGED_OPERATION)
    set_bank(cpu, bank)
    return next_op(cpu, op)


cdef int bsw_0(Cpu* cpu, Op* op) noexcept nogil:
    return switch_bank(cpu, op, 0)

cdef int bsw_1(Cpu* cpu, Op* op) noexcept nogil:
    return switch_bank(cpu, op, 1)


cdef int vmsw(Cpu* cpu, Op* op) noexcept nogil:
    # Virtualization is not implemented (volume 3, vmsw).
    return fault(cpu, op, FAULT_PRIVILEGED_OPERATION if cpu.system == NULL else FAULT_ILLEGAL_OPERATION)


cdef void promote(Cpu* cpu) noexcept nogil:
    """epc: the privilege level becomes that of the page, if it promotes (volume 3, epc)."""
    cdef TranslationEntry* entry
    if not cpu.system.psr & PSR_IT:
        set_level(cpu, 0)
        return
    entry = code_page_entry(cpu)
    if entry != NULL and entry.rights == 7 and entry.level < cpu.level:
        set_level(cpu, entry.level)


cdef void return_in_system(Cpu* cpu, uint32_t level) noexcept nogil:
    """br.ret to a less privileged level (volume 3, br), or in a traced stream. In user mode there is neither: all ones in
    AR[PFS] get here, too."""
    if cpu.system == NULL:
        return
    if cpu.traced:
        mark_return(cpu)
    if level <= cpu.level:
        return
    set_level(cpu, level)
    if psr_bit(cpu, PSR_LP):
        cpu.system.traps |= TRAP_LOWER_PRIVILEGE


def b_privileged_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    row("B8", "rfi", <size_t>&rfi, op=0, x6=0x08, kind=as_int(Kind.PRIVILEGED),
        isa_kind=as_int(Ia64Kind.RSE_EVENT), effect=as_int(Effect.EFFECT_RETURN_FROM), emit="branch")
    for mnemonic, run, x6 in (("bsw.0", <size_t>&bsw_0, 0x0C), ("bsw.1", <size_t>&bsw_1, 0x0D),
                              ("vmsw.0", <size_t>&vmsw, 0x18), ("vmsw.1", <size_t>&vmsw, 0x19)):
        row("B8", mnemonic, run, op=0, x6=x6, kind=as_int(Kind.PRIVILEGED), nat="own")
