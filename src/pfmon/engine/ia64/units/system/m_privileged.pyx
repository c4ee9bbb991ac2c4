"""The memory unit's privileged moves: PSR, control registers, indirect registers (volume 3, mov, ssm, rsm).

At any level but 0 they are Privileged Operation faults; so they are under Linux's interface, where code runs at level 3.
"""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.isa.ia64._encodings cimport as_int
from pfmon.stream._stream cimport Kind

from pfmon.isa.ia64.encoding_rows import row

cdef enum:
    RR_RESERVED_LOW = 2
    PKR_RESERVED_LOW = 0xF0


cdef int not_privileged(Cpu* cpu, Op* op) noexcept nogil:
    return fault(cpu, op, FAULT_PRIVILEGED_OPERATION)


# --- PSR

cdef int change_psr(Cpu* cpu, Op* op, uint64_t value) noexcept nogil:
    """Write PSR. A change of psr.ic is in flight until it is serialized (volume 2, 3.3.2.1)."""
    if (cpu.system.psr ^ value) & PSR_IC:
        cpu.system.ic_in_flight = 1
    set_psr(cpu, value)
    return next_op(cpu, op)


cdef int ssm(Cpu* cpu, Op* op) noexcept nogil:
    if not at_level_0(cpu):
        return not_privileged(cpu, op)
    if op.imm & PSR_LOW_RESERVED:
        return fault(cpu, op, FAULT_RESERVED_REGISTER_FIELD)
    return change_psr(cpu, op, psr_of(cpu) | <uint64_t>op.imm)

cdef int rsm(Cpu* cpu, Op* op) noexcept nogil:
    if not at_level_0(cpu):
        return not_privileged(cpu, op)
    if op.imm & PSR_LOW_RESERVED:
        return fault(cpu, op, FAULT_RESERVED_REGISTER_FIELD)
    return change_psr(cpu, op, psr_of(cpu) & ~<uint64_t>op.imm)

cdef int mov_to_psr(Cpu* cpu, Op* op) noexcept nogil:
    if not at_level_0(cpu):
        return not_privileged(cpu, op)
    if get_nat(cpu, op.r2):
        return fault(cpu, op, FAULT_REGISTER_NAT_CONSUMPTION)
    if cpu.gr[op.r2] & PSR_LOW_RESERVED:
        return fault(cpu, op, FAULT_RESERVED_REGISTER_FIELD)
    return change_psr(cpu, op, psr_of(cpu) & ~PSR_LOW | cpu.gr[op.r2] & PSR_LOW)

cdef int mov_from_psr(Cpu* cpu, Op* op) noexcept nogil:
    # PSR bits 36, 35 and 31:0; the others are 0 (volume 3, mov psr).
    if not at_level_0(cpu):
        return not_privileged(cpu, op)
    cpu.gr[op.r1] = psr_of(cpu) & (PSR_IT | PSR_MC | PSR_LOW)
    set_nat(cpu, op.r1, False)
    return next_op(cpu, op)


# --- control registers

cdef int mov_to_cr(Cpu* cpu, Op* op) noexcept nogil:
    cdef int number = check_cr(cpu, op.r3, True) if cpu.system != NULL else FAULT_NONE
    if number:
        return fault(cpu, op, number)
    if not at_level_0(cpu):
        return not_privileged(cpu, op)
    if get_nat(cpu, op.r2):
        return fault(cpu, op, FAULT_REGISTER_NAT_CONSUMPTION)
    if op.r3 == CR_ITM and waits_for_clock(cpu, op, True):
        return STATUS_PMD
    number = write_cr(cpu, op.r3, cpu.gr[op.r2], cpu.retired + op.index)
    if number:
        return fault(cpu, op, number)
    return next_op(cpu, op)

cdef int mov_from_cr(Cpu* cpu, Op* op) noexcept nogil:
    cdef int number = check_cr(cpu, op.r3, False) if cpu.system != NULL else FAULT_NONE
    if number:
        return fault(cpu, op, number)
    if not at_level_0(cpu):
        return not_privileged(cpu, op)
    cpu.gr[op.r1] = read_cr(cpu, op.r3)
    set_nat(cpu, op.r1, False)
    return next_op(cpu, op)


cdef int pmu_access(Cpu* cpu, Op* op, uint32_t access, uint64_t value) noexcept nogil:
    """An access to a performance register: the driver returns for it (STATUS_PMD), and the instruction is repeated.
    Without a PMU all are unimplemented: they read as 0, and writes are ignored (volume 2, 7.2.1)."""
    if cpu.system.guest_pmu and not cpu.pmd_known:
        cpu.system.pmu_access, cpu.system.pmu_value = access, value
        cpu.fault_info = cpu.gr[op.r3] & 0xFF
        cpu.fault_op = op
        return STATUS_PMD
    if access == READ_PMD or access == READ_PMC:
        cpu.gr[op.r1] = cpu.pmd_value if cpu.pmd_known else 0
        set_nat(cpu, op.r1, False)
    cpu.pmd_known = 0
    return next_op(cpu, op)


# --- indirect registers: rr, pkr, ibr, dbr

cdef inline bint refuses(Cpu* cpu, Op* op, bint write, int* number) noexcept nogil:
    """Whether a move of an indirect register faults before its register is known."""
    number[0] = FAULT_NONE
    if not at_level_0(cpu):
        number[0] = FAULT_PRIVILEGED_OPERATION
    elif get_nat(cpu, op.r3) or (write and get_nat(cpu, op.r2)):
        number[0] = FAULT_REGISTER_NAT_CONSUMPTION
    return number[0] != FAULT_NONE


cdef inline int read_indirect(Cpu* cpu, Op* op, const uint64_t* registers, uint64_t count, uint64_t place) noexcept nogil:
    """Read register ``place`` of ``count``; NULL in user mode, where it faults."""
    cdef int number
    if refuses(cpu, op, False, &number):
        return fault(cpu, op, number)
    if place >= count:
        return fault(cpu, op, FAULT_RESERVED_REGISTER_FIELD)
    cpu.gr[op.r1] = registers[place]
    set_nat(cpu, op.r1, False)
    return next_op(cpu, op)


cdef int mov_to_rr(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t value = cpu.gr[op.r2]
    cdef uint32_t bits = <uint32_t>(value >> 2) & 0x3F
    cdef int number
    if refuses(cpu, op, True, &number):
        return fault(cpu, op, number)
    if value & RR_RESERVED_LOW or value >> (8 + cpu.system.rid_bits) or not cpu.system.page_sizes >> bits & 1:
        return fault(cpu, op, FAULT_RESERVED_REGISTER_FIELD)
    cpu.system.rr[region_of(cpu.gr[op.r3])] = value
    translations_changed(cpu, DATA_SIDE)
    translations_changed(cpu, INSTRUCTION_SIDE)
    return next_op(cpu, op)

cdef int mov_from_rr(Cpu* cpu, Op* op) noexcept nogil:
    return read_indirect(cpu, op, &cpu.system.rr[0] if cpu.system != NULL else NULL, 8, region_of(cpu.gr[op.r3]))


cdef int mov_to_pkr(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t value = cpu.gr[op.r2], place = cpu.gr[op.r3] & 0xFF
    cdef uint32_t i
    cdef int number
    if refuses(cpu, op, True, &number):
        return fault(cpu, op, number)
    if place >= PROTECTION_KEYS or value & PKR_RESERVED_LOW or value >> (8 + cpu.system.rid_bits):
        return fault(cpu, op, FAULT_RESERVED_REGISTER_FIELD)
    if value & 1:                        # another register with this key becomes invalid (volume 2, 4.1.3)
        for i in range(PROTECTION_KEYS):
            if cpu.system.pkr[i] >> 8 == value >> 8:
                cpu.system.pkr[i] &= ~<uint64_t>1
    cpu.system.pkr[place] = value
    translations_changed(cpu, DATA_SIDE)
    translations_changed(cpu, INSTRUCTION_SIDE)
    return next_op(cpu, op)

cdef int mov_from_pkr(Cpu* cpu, Op* op) noexcept nogil:
    return read_indirect(cpu, op, &cpu.system.pkr[0] if cpu.system != NULL else NULL, PROTECTION_KEYS, cpu.gr[op.r3] & 0xFF)


cdef inline int write_breakpoint(Cpu* cpu, Op* op, uint32_t access, uint64_t ignored) noexcept nogil:
    """Write a breakpoint register, which the guest's PMU sees, too; ``ignored``: bits of the odd ones."""
    cdef uint64_t place = cpu.gr[op.r3] & 0xFF
    cdef uint64_t* registers
    cdef int number
    if refuses(cpu, op, True, &number):
        return fault(cpu, op, number)
    if cpu.system.guest_pmu and not cpu.pmd_known:
        return pmu_access(cpu, op, access, cpu.gr[op.r2])
    cpu.pmd_known = 0
    if place >= BREAKPOINT_REGISTERS:
        return fault(cpu, op, FAULT_RESERVED_REGISTER_FIELD)
    registers = &cpu.system.dbr[0] if access == WRITE_DBR else &cpu.system.ibr[0]
    registers[place] = cpu.gr[op.r2] & ~(ignored if place & 1 else 0)
    drop_filled(cpu)
    cpu.limit = NULL
    return next_op(cpu, op)


cdef int mov_to_dbr(Cpu* cpu, Op* op) noexcept nogil:
    return write_breakpoint(cpu, op, WRITE_DBR, <uint64_t>3 << 60)

cdef int mov_to_ibr(Cpu* cpu, Op* op) noexcept nogil:
    return write_breakpoint(cpu, op, WRITE_IBR, <uint64_t>7 << 60)

cdef int mov_from_dbr(Cpu* cpu, Op* op) noexcept nogil:
    return read_indirect(cpu, op, &cpu.system.dbr[0] if cpu.system != NULL else NULL, BREAKPOINT_REGISTERS,
                         cpu.gr[op.r3] & 0xFF)

cdef int mov_from_ibr(Cpu* cpu, Op* op) noexcept nogil:
    return read_indirect(cpu, op, &cpu.system.ibr[0] if cpu.system != NULL else NULL, BREAKPOINT_REGISTERS,
                         cpu.gr[op.r3] & 0xFF)


# --- the performance monitor: the guest's PMU answers between two instructions, or there is none

cdef int system_mov_from_pmd(Cpu* cpu, Op* op) noexcept nogil:
    if get_nat(cpu, op.r3):
        return fault(cpu, op, FAULT_REGISTER_NAT_CONSUMPTION)
    if cpu.level != 0 and psr_bit(cpu, PSR_SP):
        cpu.gr[op.r1] = 0
        set_nat(cpu, op.r1, False)
        return next_op(cpu, op)
    return pmu_access(cpu, op, READ_PMD, 0)

cdef int mov_from_pmc(Cpu* cpu, Op* op) noexcept nogil:
    cdef int number
    if refuses(cpu, op, False, &number):
        return fault(cpu, op, number)
    return pmu_access(cpu, op, READ_PMC, 0)

cdef int mov_to_pmc(Cpu* cpu, Op* op) noexcept nogil:
    cdef int number
    if refuses(cpu, op, True, &number):
        return fault(cpu, op, number)
    return pmu_access(cpu, op, WRITE_PMC, cpu.gr[op.r2])

cdef int mov_to_pmd(Cpu* cpu, Op* op) noexcept nogil:
    cdef int number
    if refuses(cpu, op, True, &number):
        return fault(cpu, op, number)
    return pmu_access(cpu, op, WRITE_PMD, cpu.gr[op.r2])


def privileged_row(layout, text, run, **fields):
    """A row of an M-unit instruction that only level 0 executes. Blocks end with it: it may change their mode."""
    row(layout, text, run, kind=as_int(Kind.PRIVILEGED), nat="own", emit="end", x3=0, **fields)


def m_privileged_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    for layout, text, run, x6 in (
        ("M32", "mov cr3=r2", <size_t>&mov_to_cr, 0x2C), ("M33", "mov r1=cr3", <size_t>&mov_from_cr, 0x24),
        ("M35", "mov psr.l=r2", <size_t>&mov_to_psr, 0x2D), ("M36", "mov r1=psr", <size_t>&mov_from_psr, 0x25),
        ("M42", "mov rr[r3]=r2", <size_t>&mov_to_rr, 0x00), ("M42", "mov dbr[r3]=r2", <size_t>&mov_to_dbr, 0x01),
        ("M42", "mov ibr[r3]=r2", <size_t>&mov_to_ibr, 0x02), ("M42", "mov pkr[r3]=r2", <size_t>&mov_to_pkr, 0x03),
        ("M42", "mov pmc[r3]=r2", <size_t>&mov_to_pmc, 0x04), ("M42", "mov pmd[r3]=r2", <size_t>&mov_to_pmd, 0x05),
        ("M43", "mov r1=rr[r3]", <size_t>&mov_from_rr, 0x10), ("M43", "mov r1=dbr[r3]", <size_t>&mov_from_dbr, 0x11),
        ("M43", "mov r1=ibr[r3]", <size_t>&mov_from_ibr, 0x12), ("M43", "mov r1=pkr[r3]", <size_t>&mov_from_pkr, 0x13),
        ("M43", "mov r1=pmc[r3]", <size_t>&mov_from_pmc, 0x14),
    ):
        privileged_row(layout, text, run, op=1, x6=x6)
    privileged_row("M44", "ssm imm24", <size_t>&ssm, op=0, x4=6)
    privileged_row("M44", "rsm imm24", <size_t>&rsm, op=0, x4=7)
