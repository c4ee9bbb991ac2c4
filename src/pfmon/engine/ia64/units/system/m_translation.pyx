"""The memory unit's instructions of address translation (volume 3: itc, itr, ptc, ptr, tpa, tak, probe)."""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset

from pfmon.isa.ia64._encodings cimport Effect, as_int
from pfmon.stream._stream cimport Kind

from pfmon.isa.ia64.encoding_rows import row


# --- insertion

cdef int insertion(Cpu* cpu, Op* op, TranslationEntry* entry) noexcept nogil:
    """The entry that an insertion names by r2, IFA and ITIR, or its fault (volume 3, itc)."""
    cdef SystemState* system = cpu.system
    cdef uint64_t address
    if system != NULL and system.psr & PSR_IC:
        return FAULT_ILLEGAL_OPERATION
    if not at_level_0(cpu):
        return FAULT_PRIVILEGED_OPERATION
    if get_nat(cpu, op.r2):
        return FAULT_REGISTER_NAT_CONSUMPTION
    address = system.cr[CR_IFA]
    if not unpack_entry(system, address, cpu.gr[op.r2], system.cr[CR_ITIR], entry):
        return FAULT_RESERVED_REGISTER_FIELD
    if not implemented_virtual(system, address):
        cpu.fault_address = address
        system.reference = 0
        return FAULT_UNIMPLEMENTED_ADDRESS
    return FAULT_NONE


cdef int overlapping(Cpu* cpu, Op* op) noexcept nogil:
    cpu.system.machine_check = b"an inserted translation overlaps a translation register"
    return fault(cpu, op, FAULT_MACHINE_CHECK)


cdef void mark_insertion(Cpu* cpu, Op* op, uint32_t side, const TranslationEntry* entry) noexcept nogil:
    """An insertion purges what it overlaps (volume 2, 4.1.1.4)."""
    cpu.index = op.index
    mark_purge(cpu, 1 << side, entry.rid, entry.first, size_bits(entry))


cdef inline int insert_cached(Cpu* cpu, Op* op, uint32_t side) noexcept nogil:
    cdef TranslationEntry entry
    cdef int number = insertion(cpu, op, &entry)
    if number:
        return fault(cpu, op, number)
    if not insert_translation(cpu, side, &entry):
        return overlapping(cpu, op)
    mark_insertion(cpu, op, side, &entry)
    return next_op(cpu, op)


cdef int itc_d(Cpu* cpu, Op* op) noexcept nogil:
    return insert_cached(cpu, op, DATA_SIDE)

cdef int itc_i(Cpu* cpu, Op* op) noexcept nogil:
    return insert_cached(cpu, op, INSTRUCTION_SIDE)


cdef inline int insert_register(Cpu* cpu, Op* op, uint32_t side) noexcept nogil:
    cdef TranslationEntry entry
    cdef uint64_t place = cpu.gr[op.r3] & 0xFF
    cdef int number = insertion(cpu, op, &entry)
    if number == FAULT_NONE or number == FAULT_RESERVED_REGISTER_FIELD or number == FAULT_UNIMPLEMENTED_ADDRESS:
        if get_nat(cpu, op.r3):
            number = FAULT_REGISTER_NAT_CONSUMPTION
        elif place >= cpu.system.register_count[side]:
            number = FAULT_RESERVED_REGISTER_FIELD
    if number:
        return fault(cpu, op, number)
    if not set_register(cpu, side, <uint32_t>place, &entry):
        return overlapping(cpu, op)
    mark_insertion(cpu, op, side, &entry)
    return next_op(cpu, op)


cdef int itr_d(Cpu* cpu, Op* op) noexcept nogil:
    return insert_register(cpu, op, DATA_SIDE)

cdef int itr_i(Cpu* cpu, Op* op) noexcept nogil:
    return insert_register(cpu, op, INSTRUCTION_SIDE)


# --- purges

cdef int purge_range(Cpu* cpu, Op* op, uint32_t* bits) noexcept nogil:
    """The fault of a purge of 2^bits bytes at r3, or FAULT_NONE."""
    if not at_level_0(cpu):
        return FAULT_PRIVILEGED_OPERATION
    if get_nat(cpu, op.r3) or get_nat(cpu, op.r2):
        return FAULT_REGISTER_NAT_CONSUMPTION
    if not implemented_virtual(cpu.system, cpu.gr[op.r3]):
        cpu.fault_address = cpu.gr[op.r3]
        cpu.system.reference = 0
        return FAULT_UNIMPLEMENTED_ADDRESS
    bits[0] = min(max(<uint32_t>(cpu.gr[op.r2] >> 2) & 0x3F, 12), 61)
    return FAULT_NONE


cdef inline int purge(Cpu* cpu, Op* op, uint32_t sides, bint registers) noexcept nogil:
    """Purge what overlaps a range: of this processor's translation caches on some sides, and with ``registers`` of its
    translation registers (volume 2, table 4-1)."""
    cdef uint64_t address = cpu.gr[op.r3]
    cdef uint32_t bits, side, rid
    cdef int number = purge_range(cpu, op, &bits)
    if number:
        return fault(cpu, op, number)
    rid = rid_of(cpu.system, address)    # below level 0 there may be no system
    for side in range(2):
        if not sides >> side & 1:
            continue
        if registers:
            purge_registers(cpu, side, address, bits)
        else:
            purge_cache(cpu, side, rid, address, bits)
    cpu.index = op.index
    mark_purge(cpu, sides, rid, address, bits)
    return next_op(cpu, op)

cdef inline int purge_globally(Cpu* cpu, Op* op, bint clears_alat) noexcept nogil:
    cdef uint32_t bits
    cdef int number = purge_range(cpu, op, &bits)
    if number:
        return fault(cpu, op, number)
    cpu.index = op.index
    purge_everywhere(cpu, cpu.gr[op.r3], bits, clears_alat)
    return next_op(cpu, op)


cdef int ptc_l(Cpu* cpu, Op* op) noexcept nogil:
    return purge(cpu, op, BOTH_SIDES, False)

cdef int ptr_d(Cpu* cpu, Op* op) noexcept nogil:
    return purge(cpu, op, 1 << DATA_SIDE, True)

cdef int ptr_i(Cpu* cpu, Op* op) noexcept nogil:
    return purge(cpu, op, 1 << INSTRUCTION_SIDE, True)

cdef int ptc_g(Cpu* cpu, Op* op) noexcept nogil:
    return purge_globally(cpu, op, False)

cdef int ptc_ga(Cpu* cpu, Op* op) noexcept nogil:
    return purge_globally(cpu, op, True)

cdef int ptc_e(Cpu* cpu, Op* op) noexcept nogil:
    if not at_level_0(cpu):
        return not_privileged(cpu, op)
    if get_nat(cpu, op.r3):
        return fault(cpu, op, FAULT_REGISTER_NAT_CONSUMPTION)
    purge_core(cpu)
    return next_op(cpu, op)


# --- queries: they search the data translations, whatever PSR.dt is

cdef int find_non_access(Cpu* cpu, uint64_t address, TranslationEntry* entry) noexcept nogil:
    """The present translation of an address for an instruction that does not access it, or its fault."""
    cdef DataReference reference = data_reference(cpu, address, 0)
    cdef int number
    reference.virtual = True
    reference.walks = cpu.system.psr & PSR_DT != 0
    number = find_data(cpu, &reference, entry)
    if number == FAULT_NONE and not entry.present:
        number = FAULT_DATA_PAGE_NOT_PRESENT
    if number == FAULT_NONE and entry.attribute == MA_NATPAGE:
        number = FAULT_NAT_PAGE_CONSUMPTION
    cpu.fault_address = address
    cpu.system.reference = 0
    return number


cdef int tpa(Cpu* cpu, Op* op) noexcept nogil:
    cdef TranslationEntry entry
    cdef int number
    if not at_level_0(cpu):
        return not_privileged(cpu, op)
    if get_nat(cpu, op.r3):
        return fault(cpu, op, FAULT_REGISTER_NAT_CONSUMPTION)
    cpu.index = op.index
    number = find_non_access(cpu, cpu.gr[op.r3], &entry)
    if number:
        return fault(cpu, op, number)
    cpu.gr[op.r1] = physical_of(&entry, cpu.gr[op.r3], True)
    set_nat(cpu, op.r1, False)
    return next_op(cpu, op)


cdef int tak(Cpu* cpu, Op* op) noexcept nogil:
    # The key of the data translation, in bits 31:8; 1 when there is none (volume 3, tak).
    cdef TranslationEntry* entry = NULL
    if not at_level_0(cpu):
        return not_privileged(cpu, op)
    if get_nat(cpu, op.r3):
        return fault(cpu, op, FAULT_REGISTER_NAT_CONSUMPTION)
    if implemented_virtual(cpu.system, cpu.gr[op.r3]):
        entry = find_translation(cpu.system, DATA_SIDE, cpu.gr[op.r3])
    cpu.gr[op.r1] = <uint64_t>entry.key << 8 if entry != NULL and entry.present else 1
    set_nat(cpu, op.r1, False)
    return next_op(cpu, op)


cdef int probe_at_level(Cpu* cpu, Op* op, uint32_t rights, uint64_t level) noexcept nogil:
    """probe.r, probe.w: whether a level, at most as privileged as the current one, has the rights (volume 3, probe)."""
    cdef TranslationEntry entry
    cdef int number, keys
    cpu.index = op.index
    number = find_non_access(cpu, cpu.gr[op.r3], &entry)
    level = max(level & 3, <uint64_t>cpu.level)
    if number == FAULT_NONE:
        keys = check_keys(cpu.system, &entry, rights, 0)
        if keys == FAULT_DATA_KEY_MISS:
            number = keys
    if number:
        return fault(cpu, op, number)
    cpu.gr[op.r1] = keys == FAULT_NONE and rights_of(&entry, <uint32_t>level) & rights == rights
    set_nat(cpu, op.r1, False)
    return next_op(cpu, op)


cdef int probe_fault_at_level(Cpu* cpu, Op* op, uint32_t rights, uint64_t level) noexcept nogil:
    """probe.r.fault and so on: the faults of a reference at a level."""
    cdef DataReference reference = data_reference(cpu, cpu.gr[op.r3], rights)
    cdef TranslationEntry entry
    cdef int number
    reference.virtual = True
    reference.walks = cpu.system.psr & PSR_DT != 0
    reference.level = max(<uint32_t>level & 3, cpu.level)
    cpu.index = op.index
    cpu.system.deferred = 0
    number = translate_data(cpu, &reference, &entry, 1)
    if number == FAULT_NONE:
        return next_op(cpu, op)
    refuse(cpu, cpu.gr[op.r3], rights, number)
    cpu.fault_op = op
    return STATUS_FAULT


cdef int flush_line(Cpu* cpu, Op* op) noexcept nogil:
    """fc: neither keys nor access bit nor breakpoints are tested (volume 3, fc)."""
    cdef TranslationEntry entry
    cdef DataReference reference = data_reference(cpu, cpu.gr[op.r3], 0)
    cdef int number = FAULT_NONE
    cpu.index = op.index
    if not cpu.system.psr & PSR_DT:
        if implemented_physical(cpu.system, cpu.gr[op.r3]):
            memset(&entry, 0, sizeof(TranslationEntry))
            mark_page(cpu, &reference, &entry, physical_of(&entry, reference.address, False), False)
            return next_op(cpu, op)
        refuse(cpu, cpu.gr[op.r3], PROTECT_READ, FAULT_UNIMPLEMENTED_ADDRESS)
        return fault_here(cpu, op)
    number = find_non_access(cpu, cpu.gr[op.r3], &entry)
    if number == FAULT_NONE and not rights_of(&entry, cpu.level) & PROTECT_READ:
        number = FAULT_DATA_ACCESS_RIGHTS
    if number:
        return fault(cpu, op, number)
    mark_page(cpu, &reference, &entry, physical_of(&entry, reference.address, True), False)
    return next_op(cpu, op)


def m_translation_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    privileged_row("M41", "itc.d r2", <size_t>&itc_d, op=1, x6=0x2E, effect=as_int(Effect.EFFECT_INSERT_DATA))
    privileged_row("M41", "itc.i r2", <size_t>&itc_i, op=1, x6=0x2F, effect=as_int(Effect.EFFECT_INSERT_CODE))
    privileged_row("M47", "ptc.e r3", <size_t>&ptc_e, op=1, x6=0x34, effect=as_int(Effect.EFFECT_PURGE))
    for layout, text, run, x6 in (
        ("M42", "itr.d dtr[r3]=r2", <size_t>&itr_d, 0x0E), ("M42", "itr.i itr[r3]=r2", <size_t>&itr_i, 0x0F),
        ("M45", "ptc.l r3,r2", <size_t>&ptc_l, 0x09), ("M45", "ptc.g r3,r2", <size_t>&ptc_g, 0x0A),
        ("M45", "ptc.ga r3,r2", <size_t>&ptc_ga, 0x0B), ("M45", "ptr.d r3,r2", <size_t>&ptr_d, 0x0C),
        ("M45", "ptr.i r3,r2", <size_t>&ptr_i, 0x0D),
        ("M46", "tpa r1=r3", <size_t>&tpa, 0x1E), ("M46", "tak r1=r3", <size_t>&tak, 0x1F),
    ):
        privileged_row(layout, text, run, op=1, x6=x6)
