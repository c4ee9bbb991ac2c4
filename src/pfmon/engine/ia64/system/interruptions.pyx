"""Delivery of interruptions (volume 2, 5.5, and chapter 8 for what each vector records)."""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.isa.ia64._encodings cimport Row
from pfmon.stream._stream cimport Ia64Kind, Kind, Mark, NO_INSTRUCTION, packed_address

cdef enum:
    IVA_SIZE = 0x8000
    MAX_WITHOUT_PROGRESS = 1000

    # Interruption registers that a vector writes beside IPSR, IIP, IIPA and IFS
    WRITES_IFA = 1
    WRITES_ITIR = 2
    WRITES_IHA = 4
    WRITES_IIM = 8
    OF_DATA = 16                 # ISR has r, w, na, sp, rs, ed and the code of a non-access
    OF_FETCH = 32                # ISR.x

    # ISR.code of non-access references (volume 2, table 5-1)
    CODE_TPA = 0
    CODE_FC = 1
    CODE_PROBE = 2
    CODE_TAK = 3
    CODE_LFETCH = 4
    CODE_PROBE_FAULT = 5

cdef struct Vector:
    uint32_t offset
    uint32_t records             # WRITES_IFA and so on
    uint32_t code                # of ISR

cdef Vector VECTORS_BY_FAULT[FAULT_MACHINE_CHECK + 1]

def _fill_vectors():
    translation = WRITES_IFA | WRITES_ITIR
    hashed = translation | WRITES_IHA
    for fault, offset, records, code in (
        (FAULT_VHPT_TRANSLATION, 0x0000, hashed, 0),
        (FAULT_INST_TLB, 0x0400, hashed | OF_FETCH, 0),
        (FAULT_DATA_TLB, 0x0800, hashed | OF_DATA, 0),
        (FAULT_ALTERNATE_INST_TLB, 0x0C00, translation | OF_FETCH, 0),
        (FAULT_ALTERNATE_DATA_TLB, 0x1000, translation | OF_DATA, 0),
        (FAULT_DATA_NESTED_TLB, 0x1400, 0, 0),
        (FAULT_INST_KEY_MISS, 0x1800, translation | OF_FETCH, 0),
        (FAULT_DATA_KEY_MISS, 0x1C00, translation | OF_DATA, 0),
        (FAULT_DIRTY_BIT, 0x2000, translation | OF_DATA, 0),
        (FAULT_INST_ACCESS_BIT, 0x2400, translation | OF_FETCH, 0),
        (FAULT_DATA_ACCESS_BIT, 0x2800, translation | OF_DATA, 0),
        (FAULT_BREAK, 0x2C00, WRITES_IIM, 0),
        (FAULT_EXTERNAL_INTERRUPT, 0x3000, 0, 0),
        (FAULT_DATA_PAGE_NOT_PRESENT, 0x5000, translation | OF_DATA, 0),
        (FAULT_INST_PAGE_NOT_PRESENT, 0x5000, translation | OF_FETCH, 0),
        (FAULT_KEY_PERMISSION, 0x5100, translation | OF_DATA, 0),
        (FAULT_INST_KEY_PERMISSION, 0x5100, translation | OF_FETCH, 0),
        (FAULT_INST_ACCESS_RIGHTS, 0x5200, translation | OF_FETCH, 0),
        (FAULT_DATA_ACCESS_RIGHTS, 0x5300, translation | OF_DATA, 0),
        (FAULT_ILLEGAL_OPERATION, 0x5400, 0, 0x00),
        (FAULT_PRIVILEGED_OPERATION, 0x5400, 0, 0x10),
        (FAULT_PRIVILEGED_REGISTER, 0x5400, 0, 0x20),
        (FAULT_RESERVED_REGISTER_FIELD, 0x5400, 0, 0x30),
        (FAULT_UNIMPLEMENTED_ADDRESS, 0x5400, WRITES_IFA | OF_DATA, 0x30),
        (FAULT_ILLEGAL_DEPENDENCY, 0x5400, 0, 0x80),
        (FAULT_DISABLED_FP, 0x5500, 0, 0),
        (FAULT_REGISTER_NAT_CONSUMPTION, 0x5600, OF_DATA, 0x10),
        (FAULT_NAT_PAGE_CONSUMPTION, 0x5600, WRITES_IFA | OF_DATA, 0x20),
        (FAULT_INST_NAT_PAGE, 0x5600, WRITES_IFA | OF_FETCH, 0x20),
        (FAULT_INST_DEBUG, 0x5900, WRITES_IFA | OF_FETCH, 0),
        (FAULT_DATA_DEBUG, 0x5900, WRITES_IFA | OF_DATA, 0),
        (FAULT_UNALIGNED_REFERENCE, 0x5A00, WRITES_IFA | OF_DATA, 0),
        (FAULT_UNSUPPORTED_DATA_REFERENCE, 0x5B00, WRITES_IFA | OF_DATA, 0),
        (FAULT_FP_FAULT, 0x5C00, 0, 0),
        (FAULT_FP_TRAP, 0x5D00, 0, 0),
        (FAULT_UNIMPLEMENTED_INST, 0x5E00, 0, 0x10),
        (FAULT_VIRTUALIZATION, 0x6100, 0, 0),
    ):
        VECTORS_BY_FAULT[fault] = Vector(offset, records, code)

_fill_vectors()


cdef uint64_t kind_of_reference(Instruction* ins) noexcept nogil:
    """ISR bits of the running instruction's data reference: r, w, sp, na with its code (volume 2, 5.5.2)."""
    cdef Row* row = <Row*>ins.row
    cdef uint64_t bits = 0
    if row == NULL:
        return 0
    if row.kind & Kind.LOAD: bits |= ISR_R
    if row.kind & Kind.STORE: bits |= ISR_W
    if row.isa_kind & Ia64Kind.SPECULATIVE: bits |= ISR_SP
    if row.kind & Kind.PREFETCH: bits |= ISR_NA | ISR_R | CODE_LFETCH
    return bits | non_access_of(row)


cdef uint64_t non_access_of(Row* row) noexcept nogil:
    """ISR bits of an instruction that refers to data without an access, by its handler; else 0."""
    cdef void* run = row.run
    if run == <void*>fc: return ISR_NA | ISR_R | CODE_FC
    if run == <void*>tpa: return ISR_NA | CODE_TPA
    if run == <void*>tak: return ISR_NA | CODE_TAK
    if run == <void*>probe_r or run == <void*>probe_r_immediate: return ISR_NA | ISR_R | CODE_PROBE
    if run == <void*>probe_w or run == <void*>probe_w_immediate: return ISR_NA | ISR_W | CODE_PROBE
    if run == <void*>probe_r_fault: return ISR_NA | ISR_R | CODE_PROBE_FAULT
    if run == <void*>probe_w_fault: return ISR_NA | ISR_W | CODE_PROBE_FAULT
    if run == <void*>probe_rw_fault: return ISR_NA | ISR_R | ISR_W | CODE_PROBE_FAULT
    return 0


cdef uint64_t status_of(Cpu* cpu, int number, Instruction* ins) noexcept nogil:
    """ISR of a fault, without ni and ei."""
    cdef SystemState* system = cpu.system
    cdef const Vector* vector = &VECTORS_BY_FAULT[number]
    cdef uint64_t isr = vector.code
    if number == FAULT_VHPT_TRANSLATION:
        isr |= ISR_X if ins == NULL and not system.reference & ISR_RS else 0
    if vector.records & OF_FETCH:
        return isr | ISR_X
    if number == FAULT_FP_FAULT:
        return isr | <uint64_t>cpu.fault_code
    if number == FAULT_DISABLED_FP:
        return isr | <uint64_t>cpu.fault_code | kind_of_reference(ins) & (ISR_R | ISR_W | ISR_SP)
    if number == FAULT_PRIVILEGED_OPERATION:     # volume 2, table 5-1: non-access instructions say so
        return isr | non_access_of(<Row*>ins.row) & (ISR_NA | 0xF)
    if number == FAULT_EXTERNAL_INTERRUPT or ins == NULL and not system.reference & ISR_RS:
        return isr
    if not vector.records & OF_DATA and number != FAULT_VHPT_TRANSLATION:
        return isr
    if system.reference & ISR_RS:
        return isr | system.reference
    if system.psr & PSR_IT and code_deferral(cpu):
        isr |= ISR_ED
    return isr | kind_of_reference(ins)


cdef void record(Cpu* cpu, int number) noexcept nogil:
    """Write the interruption registers of a vector, while PSR.ic is 1."""
    cdef SystemState* system = cpu.system
    cdef uint32_t records = VECTORS_BY_FAULT[number].records
    cdef uint64_t address = cpu.fault_address, translated = address
    if number == FAULT_VHPT_TRANSLATION:         # ITIR is of the walker's own reference (volume 2, 8.3)
        translated = vhpt_address(system, address)
    if records & WRITES_IFA:
        system.cr[CR_IFA] = address
    if records & WRITES_ITIR:
        system.cr[CR_ITIR] = default_itir(system, translated)
    if records & WRITES_IHA:
        system.cr[CR_IHA] = vhpt_address(system, address)
    if records & WRITES_IIM:
        system.cr[CR_IIM] = cpu.fault_info & 0x1FFFFF    # 21 bits of break.x, too (volume 3, break)


cdef bint makes_progress(SystemState* system) noexcept nogil:
    """Count an interruption; False: the processor does nothing but take interruptions."""
    system.without_progress += 1
    if system.without_progress > MAX_WITHOUT_PROGRESS:
        system.machine_check = b"interruptions follow each other, and no instruction executes"
    return system.machine_check == NULL


cdef bint enter_handler(Cpu* cpu, uint32_t offset, uint64_t isr, bint nested) noexcept nogil:
    """Save the state and go on at a vector (volume 2, 5.5, steps of an interruption). ``nested``: a Data Nested TLB
    fault, which saves nothing."""
    cdef SystemState* system = cpu.system
    cdef uint64_t dcr = system.cr[CR_DCR], psr = psr_of(cpu)
    cdef bint collects = psr & PSR_IC != 0
    if collects:
        system.cr[CR_IPSR] = psr | (cpu.ip & 3) << PSR_RI_SHIFT
        system.cr[CR_IIP] = cpu.ip & ~<uint64_t>15
        system.cr[CR_IFS] &= ~IFS_VALID
    if not nested:
        if not collects or system.ic_in_flight:
            isr |= ISR_NI
        if system.incomplete_frame:
            isr |= ISR_IR
        system.cr[CR_ISR] = isr
    system.ic_in_flight = system.frame_pending = 0
    cpu.pmd_known = 0                    # an instruction that waits for its register waits again
    psr &= PSR_UP | PSR_MFL | PSR_MFH | PSR_PK | PSR_DT | PSR_RT | PSR_MC | PSR_IT
    if dcr & DCR_BE: psr |= PSR_BE
    if dcr & DCR_PP or system.marks_handlers: psr |= PSR_PP
    set_psr(cpu, psr)
    cpu.ip = (system.cr[CR_IVA] & ~<uint64_t>(IVA_SIZE - 1)) + offset
    cpu.miss_link = NULL
    system.mode_changed = 1
    append_mark(cpu, mark_word(Mark.INTERRUPTION, indexed(offset, NO_INSTRUCTION)))
    if collects:
        append_mark(cpu, mark_word(Mark.INTERRUPTED, packed_address(system.cr[CR_IIP])))
    return makes_progress(system)


cdef bint deliver(Cpu* cpu, int number, Instruction* ins) noexcept nogil:
    """Deliver a fault or trap; cpu.ip is what IIP gets. ``ins``: the instruction that caused it; NULL: a fetch. False:
    the processor stops with a machine check."""
    cdef SystemState* system = cpu.system
    cdef const Vector* vector = &VECTORS_BY_FAULT[number]
    cdef uint64_t isr, slot
    cdef uint32_t offset = vector.offset
    if number == FAULT_MACHINE_CHECK:
        return False
    slot = ins.address & 3 if ins != NULL else cpu.ip & 3
    if number == FAULT_TRAP:
        isr = system.traps
        slot = system.last_address & 3
        offset = 0x5E00 if isr & (TRAP_UNIMPLEMENTED_ADDRESS | TRAP_LOWER_PRIVILEGE) else (
            0x5D00 if isr & TRAP_FP else 0x5F00 if isr & TRAP_TAKEN_BRANCH else 0x6000)
        system.traps = 0
    else:
        isr = status_of(cpu, number, ins)
    system.reference = 0
    if system.psr & PSR_IC and number != FAULT_TRAP:
        record(cpu, number)
    return enter_handler(cpu, offset, isr | slot << ISR_EI_SHIFT, number == FAULT_DATA_NESTED_TLB)


cdef void deliver_external(Cpu* cpu) noexcept nogil:
    """Deliver an external interrupt before the instruction at cpu.ip."""
    enter_handler(cpu, VECTORS_BY_FAULT[<int>FAULT_EXTERNAL_INTERRUPT].offset, (cpu.ip & 3) << ISR_EI_SHIFT, False)
