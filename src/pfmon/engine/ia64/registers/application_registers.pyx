"""Reading and writing application registers at user level.

Registers 0-47 belong to the M unit, 64-111 to the I unit; 48-63 and 112-127 are ignored (read as 0) by both, the
other numbers without a name are reserved (SDM volume 1, table 3-3).
"""

cdef enum:
    AREG_K6 = 6
    AREG_RSC = 16
    AREG_BSP = 17
    AREG_BSPSTORE = 18
    AREG_RNAT = 19
    AREG_FCR = 21
    AREG_EFLAG = 24
    AREG_CSD = 25
    AREG_SSD = 26
    AREG_CFLG = 27
    AREG_FSR = 28
    AREG_FIR = 29
    AREG_FDR = 30
    AREG_CCV = 32
    AREG_UNAT = 36
    AREG_FPSR = 40
    AREG_ITC = 44
    AREG_PFS = 64
    AREG_LC = 65
    AREG_EC = 66
    RSC_MODE = 3


cdef bint ignored(uint32_t number) noexcept nogil:
    return 48 <= number < 64 or number >= 112


cdef bint named(uint32_t number) noexcept nogil:
    if number < 8 or AREG_RSC <= number <= AREG_RNAT or number == AREG_FCR or AREG_EFLAG <= number <= AREG_FDR:
        return True
    return (number == AREG_CCV or number == AREG_UNAT or number == AREG_FPSR or number == AREG_ITC
            or AREG_PFS <= number <= AREG_EC)


cdef int check_read_ar(Cpu* cpu, uint32_t number, bint memory_unit) noexcept nogil:
    """The fault of reading a register with an instruction of this unit, or FAULT_NONE."""
    if ignored(number):
        return FAULT_NONE
    if (number < 64) != memory_unit or not named(number):
        return FAULT_ILLEGAL_OPERATION
    if (number == AREG_BSPSTORE or number == AREG_RNAT) and cpu.rsc & RSC_MODE:
        return FAULT_ILLEGAL_OPERATION
    if number == AREG_ITC and cpu.level != 0 and psr_bit(cpu, PSR_SI):
        return FAULT_PRIVILEGED_REGISTER
    return FAULT_NONE


cdef int check_write_ar(Cpu* cpu, uint32_t number, bint memory_unit) noexcept nogil:
    """The fault of writing a register, or FAULT_NONE; write_ar checks reserved fields of the value."""
    cdef int fault = check_read_ar(cpu, number, memory_unit)
    if fault:
        return fault
    if number == AREG_BSP:
        return FAULT_ILLEGAL_OPERATION
    if (number < 8 or number == AREG_ITC or number == AREG_CFLG) and cpu.level != 0:
        return FAULT_PRIVILEGED_REGISTER
    return FAULT_NONE


cdef uint64_t read_ar(Cpu* cpu, uint32_t number) noexcept nogil:
    """The value; 0 for an ignored register."""
    if number < 8:
        return cpu.kr[number]
    if number == AREG_RSC: return cpu.rsc
    if number == AREG_BSP: return bsp(cpu)
    if number == AREG_BSPSTORE: return cpu.bspstore
    if number == AREG_RNAT: return cpu.rnat
    if number == AREG_CSD: return cpu.csd
    if number == AREG_SSD: return cpu.ssd
    if number == AREG_FCR: return cpu.ia32[0]
    if number == AREG_EFLAG: return cpu.ia32[1]
    if number == AREG_CFLG: return cpu.ia32[2]
    if number == AREG_FSR: return cpu.ia32[3]
    if number == AREG_FIR: return cpu.ia32[4]
    if number == AREG_FDR: return cpu.ia32[5]
    if number == AREG_CCV: return cpu.ccv
    if number == AREG_UNAT: return cpu.unat
    if number == AREG_FPSR: return cpu.fpsr
    if number == AREG_ITC: return cpu.retired + cpu.itc_offset
    if number == AREG_PFS: return cpu.pfs
    if number == AREG_LC: return cpu.lc
    if number == AREG_EC: return cpu.ec
    return 0


cdef bint reserved_fpsr(uint64_t value) noexcept nogil:
    """Bits 58-63, the td bit of sf0, and a precision control of 1 in a status field are reserved (volume 1, 5.1)."""
    cdef int field
    if value >> 58 or value & (1 << 12):
        return True
    for field in range(4):
        if (value >> (6 + 13 * field + 2)) & 3 == 1:
            return True
    return False


cdef int write_ar(Cpu* cpu, uint32_t number, uint64_t value) noexcept nogil:
    """Write; returns FAULT_RESERVED_REGISTER_FIELD, having done nothing, for a value with reserved bits set."""
    if number < 8:
        cpu.kr[number] = value
    elif number == AREG_ITC:
        cpu.itc_offset = value - cpu.retired - cpu.index
        if cpu.system != NULL:
            set_timer(cpu, cpu.retired + cpu.index)
    elif number == AREG_RSC:
        # mode 0-1, pl 2-3, be 4, loadrs 16-29; a program cannot raise its privilege: pl is at least cpl
        if value & ~<uint64_t>0x3FFF001F:
            return FAULT_RESERVED_REGISTER_FIELD
        cpu.rsc = value if (value >> 2 & 3) >= cpu.level else value & ~<uint64_t>0xC | cpu.level << 2
    elif number == AREG_BSPSTORE:
        # The registers below the current frame stay dirty, now above the new address (volume 2, 6.5.4).
        set_backing_store(cpu, value)
    elif number == AREG_RNAT: cpu.rnat = value & ~(<uint64_t>1 << 63)
    elif number == AREG_CSD: cpu.csd = value
    elif number == AREG_SSD: cpu.ssd = value
    elif number == AREG_FCR: cpu.ia32[0] = value
    elif number == AREG_EFLAG: cpu.ia32[1] = value
    elif number == AREG_FSR: cpu.ia32[3] = value
    elif number == AREG_FIR: cpu.ia32[4] = value
    elif number == AREG_FDR: cpu.ia32[5] = value
    elif number == AREG_CCV: cpu.ccv = value
    elif number == AREG_UNAT: cpu.unat = value
    elif number == AREG_FPSR:
        if reserved_fpsr(value):
            return FAULT_RESERVED_REGISTER_FIELD
        cpu.fpsr = value
    elif number == AREG_PFS:
        # pfm 0-37, pec 52-57, ppl 62-63; the rest is reserved
        if value & 0x3C0FFFC000000000ULL:
            return FAULT_RESERVED_REGISTER_FIELD
        cpu.pfs = value
    elif number == AREG_LC: cpu.lc = value
    elif number == AREG_EC: cpu.ec = value & 0x3F
    return FAULT_NONE
