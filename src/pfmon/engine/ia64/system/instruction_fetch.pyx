"""Instruction fetch in system mode: the translation of a block's page, with its faults (volume 2, figure 4-16)."""

from libc.stdint cimport uint32_t, uint64_t


cdef int check_fetch(Cpu* cpu, const TranslationEntry* entry) noexcept nogil:
    """The first fault of a fetch from a translated page, or FAULT_NONE."""
    cdef int found
    if not entry.present:
        return FAULT_INST_PAGE_NOT_PRESENT
    if entry.attribute == MA_NATPAGE:
        return FAULT_INST_NAT_PAGE
    found = check_keys(cpu.system, entry, PROTECT_EXECUTE, 0)
    if found:
        return FAULT_INST_KEY_MISS if found == FAULT_DATA_KEY_MISS else FAULT_INST_KEY_PERMISSION
    if not rights_of(entry, cpu.level) & PROTECT_EXECUTE:
        return FAULT_INST_ACCESS_RIGHTS
    if not entry.accessed and not cpu.system.psr & PSR_IA:
        return FAULT_INST_ACCESS_BIT
    return FAULT_NONE


cdef bint implemented_instruction(Cpu* cpu, uint64_t address) noexcept nogil:
    """Whether the processor implements all bits of an instruction's address."""
    if cpu.system.psr & PSR_IT:
        return implemented_virtual(cpu.system, address)
    return implemented_physical(cpu.system, address)


cdef int translate_fetch(Cpu* cpu, uint64_t address, uint64_t* physical) noexcept nogil:
    """The physical address of a bundle, or its fault."""
    cdef SystemState* system = cpu.system
    cdef TranslationEntry* entry
    cdef int found
    if not system.psr & PSR_IT:
        if not implemented_physical(system, address):
            return FAULT_UNIMPLEMENTED_INST
        physical[0] = address & ~(<uint64_t>1 << 63)
        return FAULT_NONE
    if not implemented_virtual(system, address):
        return FAULT_UNIMPLEMENTED_INST
    entry = find_translation(system, INSTRUCTION_SIDE, address)
    if entry == NULL:
        found = walk_vhpt(cpu, INSTRUCTION_SIDE, address, False)
        if found:
            return found
        entry = find_translation(system, INSTRUCTION_SIDE, address)
        if entry == NULL:
            return FAULT_INST_TLB
    found = check_fetch(cpu, entry)
    if found == FAULT_NONE:
        physical[0] = physical_of(entry, address, True)
    return found


cdef int fetch_page(Cpu* cpu, uint64_t address) noexcept nogil:
    """Set the page that the block at ``address`` lies in; its fault, or FAULT_NONE."""
    cdef uint64_t physical
    cdef int found = translate_fetch(cpu, address & ~<uint64_t>15, &physical)
    if found:
        return found
    cpu.system.code_physical = physical & ~<uint64_t>(SMALL_PAGE - 1)
    cpu.system.code_host = physical_memory(cpu, cpu.system.code_physical, False)
    if cpu.system.code_host == NULL:
        cpu.system.machine_check = b"an instruction fetch from a physical address without memory"
        return FAULT_MACHINE_CHECK
    return FAULT_NONE


cdef TranslationEntry* code_page_entry(Cpu* cpu) noexcept nogil:
    """The translation of the running block's page, or NULL: there is none, or fetches are physical."""
    if not cpu.system.psr & PSR_IT or cpu.block == NULL:
        return NULL
    return find_translation(cpu.system, INSTRUCTION_SIDE, cpu.block.ip)


cdef bint code_deferral(Cpu* cpu) noexcept nogil:
    """ITLB.ed of the running block's page."""
    cdef TranslationEntry* entry = code_page_entry(cpu)
    return entry != NULL and entry.deferral


cdef bint instruction_breakpoint(Cpu* cpu, uint64_t address) noexcept nogil:
    """Whether an instruction breakpoint matches a bundle (volume 2, 7.1.1)."""
    return (cpu.system.psr & PSR_DB != 0 and not cpu.system.psr & PSR_ID
            and breakpoint_matches(cpu.system, cpu.system.ibr, address & ~<uint64_t>15, 16, <uint64_t>1 << 63, cpu.level))
