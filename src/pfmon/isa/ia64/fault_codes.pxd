"""Faults of the processor, as cpu.fault has them."""

cpdef enum Fault:
    FAULT_NONE = 0
    FAULT_ILLEGAL_OPERATION = 1
    FAULT_PRIVILEGED_OPERATION = 2
    FAULT_PRIVILEGED_REGISTER = 3
    FAULT_RESERVED_REGISTER_FIELD = 4
    FAULT_REGISTER_NAT_CONSUMPTION = 5
    FAULT_NAT_PAGE_CONSUMPTION = 6
    FAULT_UNALIGNED_REFERENCE = 7
    FAULT_DATA_PAGE_NOT_PRESENT = 8      # unmapped address: Linux sends SIGSEGV, SEGV_MAPERR
    FAULT_DATA_ACCESS_RIGHTS = 9         # SIGSEGV, SEGV_ACCERR
    FAULT_INST_PAGE_NOT_PRESENT = 10
    FAULT_INST_ACCESS_RIGHTS = 11
    FAULT_FP_FAULT = 12                  # cpu.fault_info: ISR.code
    FAULT_FP_TRAP = 13
    FAULT_DISABLED_FP = 14
    FAULT_UNSUPPORTED_DATA_REFERENCE = 15
    FAULT_BREAK = 16
    FAULT_ILLEGAL_DEPENDENCY = 17
    FAULT_UNIMPLEMENTED_ADDRESS = 18
    FAULT_BACKING_STORE = 19             # an RSE spill or fill at an unmapped address
    # In system mode only:
    FAULT_VHPT_TRANSLATION = 20
    FAULT_INST_TLB = 21
    FAULT_DATA_TLB = 22
    FAULT_ALTERNATE_INST_TLB = 23
    FAULT_ALTERNATE_DATA_TLB = 24
    FAULT_DATA_NESTED_TLB = 25
    FAULT_INST_KEY_MISS = 26
    FAULT_DATA_KEY_MISS = 27
    FAULT_DIRTY_BIT = 28
    FAULT_INST_ACCESS_BIT = 29
    FAULT_DATA_ACCESS_BIT = 30
    FAULT_KEY_PERMISSION = 31
    FAULT_INST_DEBUG = 32
    FAULT_DATA_DEBUG = 33
    FAULT_INST_NAT_PAGE = 34
    FAULT_UNIMPLEMENTED_INST = 35        # instruction address
    FAULT_INST_KEY_PERMISSION = 36
    FAULT_EXTERNAL_INTERRUPT = 37
    FAULT_TRAP = 38                      # lower-privilege transfer, taken branch, single step: cpu.system.traps
    FAULT_VIRTUALIZATION = 39
    FAULT_MACHINE_CHECK = 40             # no vector: the processor stops


cdef inline int vector_of(int fault) noexcept nogil:
    """The offset of a fault's handler from cr.iva (IA-64 manual volume 2, interruption vector table)."""
    if fault == FAULT_BREAK:
        return 0x2C00
    if fault == FAULT_DATA_PAGE_NOT_PRESENT or fault == FAULT_INST_PAGE_NOT_PRESENT or fault == FAULT_BACKING_STORE:
        return 0x5000
    if fault == FAULT_INST_ACCESS_RIGHTS:
        return 0x5200
    if fault == FAULT_DATA_ACCESS_RIGHTS:
        return 0x5300
    if fault == FAULT_DISABLED_FP:
        return 0x5500
    if fault == FAULT_REGISTER_NAT_CONSUMPTION or fault == FAULT_NAT_PAGE_CONSUMPTION:
        return 0x5600
    if fault == FAULT_UNALIGNED_REFERENCE:
        return 0x5A00
    if fault == FAULT_UNSUPPORTED_DATA_REFERENCE:
        return 0x5B00
    if fault == FAULT_FP_FAULT:
        return 0x5C00
    if fault == FAULT_FP_TRAP:
        return 0x5D00
    return 0x5400                        # general exception
