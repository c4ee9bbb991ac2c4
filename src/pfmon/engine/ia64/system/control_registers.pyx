"""Control registers: which exist, their reserved and ignored fields, and what writing them does (volume 2, 3.3.5)."""

from libc.stdint cimport uint32_t, uint64_t, uint8_t

cdef struct ControlRegister:
    uint8_t exists
    uint8_t read_only
    uint8_t of_interruption      # accessible while PSR.ic is 0
    uint64_t reserved
    uint64_t ignored             # fields that are written and read as 0

cdef ControlRegister CONTROL_FIELDS[CONTROL_REGISTERS]

def _bits(low, high):
    return (1 << high + 1) - (1 << low)

def _fill_control_registers():
    vector_reserved = _bits(8, 11) | _bits(13, 15)
    vector_ignored = 1 << 12 | _bits(17, 63)
    line_reserved = 1 << 11 | _bits(17, 63)
    line_ignored = 1 << 12 | 1 << 14
    psr_reserved = 1 | _bits(6, 12) | 1 << 16 | _bits(28, 31) | _bits(47, 63)
    interruption = {CR_IPSR, CR_ISR, CR_IIP, CR_IFA, CR_ITIR, CR_IIPA, CR_IFS, CR_IIM, CR_IHA}
    for number, reserved, ignored in (
        (CR_DCR, _bits(3, 7) | _bits(15, 63), 0), (CR_ITM, 0, 0), (CR_IVA, 0, _bits(0, 14)),
        (CR_PTA, 1 << 1 | _bits(9, 14), 0), (CR_IPSR, psr_reserved, 0),
        (CR_ISR, _bits(24, 31) | _bits(44, 63), 0), (CR_IIP, 0, 0), (CR_IFA, 0, 0),
        (CR_ITIR, _bits(0, 1) | _bits(32, 63), 0), (CR_IIPA, 0, 0), (CR_IFS, _bits(38, 62), 0),
        (CR_IIM, 0, 0), (CR_IHA, 0, 0b11), (CR_LID, _bits(0, 15), _bits(32, 63)), (CR_IVR, 0, 0),
        (CR_TPR, _bits(8, 15), _bits(0, 3) | _bits(17, 63)), (CR_EOI, 0, ~0 & 0xFFFFFFFFFFFFFFFF),
        (CR_IRR0, 0, 0), (CR_IRR0 + 1, 0, 0), (CR_IRR0 + 2, 0, 0), (CR_IRR3, 0, 0),
        (CR_ITV, vector_reserved, vector_ignored), (CR_PMV, vector_reserved, vector_ignored),
        (CR_CMCV, vector_reserved, vector_ignored), (CR_LRR0, line_reserved, line_ignored),
        (CR_LRR1, line_reserved, line_ignored),
    ):
        CONTROL_FIELDS[number] = ControlRegister(
            1, number == CR_IVR or CR_IRR0 <= number <= CR_IRR3, number in interruption, reserved, ignored)

_fill_control_registers()


cdef int check_cr(Cpu* cpu, uint32_t number, bint write) noexcept nogil:
    """The fault of naming a control register (volume 3, mov cr), or FAULT_NONE."""
    cdef const ControlRegister* register
    if number >= CONTROL_REGISTERS or not CONTROL_FIELDS[number].exists:
        return FAULT_ILLEGAL_OPERATION
    register = &CONTROL_FIELDS[number]
    if (write and register.read_only) or (register.of_interruption and cpu.system.psr & PSR_IC):
        return FAULT_ILLEGAL_OPERATION
    return FAULT_NONE


cdef uint64_t read_cr(Cpu* cpu, uint32_t number) noexcept nogil:
    """Read a control register; IVR acknowledges an interrupt."""
    if number == CR_IVR:
        return read_ivr(cpu)
    if CR_IRR0 <= number <= CR_IRR3:
        return cpu.system.irr[number - CR_IRR0]
    return cpu.system.cr[number]


cdef bint reserved_pta(SystemState* system, uint64_t value) noexcept nogil:
    """Whether PTA's size is none that a VHPT can have: 2^15 to 2^61 bytes (volume 2, table 4-7)."""
    cdef uint32_t size = <uint32_t>(value >> 2) & 0x3F
    return size < 15 or size > 61


cdef int write_cr(Cpu* cpu, uint32_t number, uint64_t value, uint64_t retired) noexcept nogil:
    """Write a control register. ``retired``: instructions retired before this one. Returns
    FAULT_RESERVED_REGISTER_FIELD, having done nothing, for a value with reserved fields or encodings."""
    cdef SystemState* system = cpu.system
    cdef const ControlRegister* register = &CONTROL_FIELDS[number]
    if value & register.reserved or (number == CR_PTA and reserved_pta(system, value)):
        return FAULT_RESERVED_REGISTER_FIELD
    if number == CR_EOI:
        end_of_interrupt(cpu)
        return FAULT_NONE
    system.cr[number] = value & ~register.ignored
    if number == CR_ITM:
        set_timer(cpu, retired)
    cpu.limit = NULL
    return FAULT_NONE
