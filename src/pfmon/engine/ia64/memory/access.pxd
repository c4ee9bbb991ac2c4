"""Shared parts of load and store handlers: reading and writing with base update and faults."""

from libc.stdint cimport uint16_t, uint32_t, uint64_t, uint8_t

from pfmon.stream._stream cimport Deferral

cdef enum Update:                # of the base register
    NO_UPDATE = 0
    BY_IMMEDIATE = 1             # op.imm
    BY_REGISTER = 2              # op.r2


cdef inline int fault_here(Cpu* cpu, Op* op) noexcept nogil:
    """Leave with the fault that ``readable`` or ``write_slowly`` set in cpu."""
    cpu.fault_op = op
    return STATUS_FAULT


cdef inline uint64_t deferral(Cpu* cpu, bint base_nat, bint found) noexcept nogil:
    """Returns why a speculative load delivered NaT (Deferral); ``found``: it could have read, else the fault is in
    cpu."""
    if base_nat:
        return Deferral.NO_ADDRESS
    if found:
        return Deferral.NOT_ALIGNED
    return Deferral.NO_RIGHT if cpu.fault == FAULT_DATA_ACCESS_RIGHTS else Deferral.NO_PAGE


cdef inline void expect_cacheable(Cpu* cpu) noexcept nogil:
    """Before an advanced load: a reference that the host-side translation cache serves is to cacheable memory."""
    if unlikely(cpu.system != NULL):
        cpu.system.attribute = MA_WB


cdef inline bint was_uncacheable(Cpu* cpu) noexcept nogil:
    """Whether the advanced load refers to memory without speculation: it gets 0 and no ALAT entry (volume 2, 4.4.6)."""
    return unlikely(cpu.system != NULL) and cpu.system.attribute != MA_WB


cdef inline uint8_t* readable_speculatively(Cpu* cpu, Op* op, uint64_t address, uint32_t size) noexcept nogil:
    """The data of a control-speculative load in system mode; NULL: deferred (SystemState.deferred) or a fault."""
    cdef uint8_t* data = readable_in_place(cpu, address, size)
    return data if data != NULL else speculative_data(cpu, op, address, size)


cdef inline bint any_nat(Cpu* cpu) noexcept nogil:
    return (cpu.nat[0] | cpu.nat[1]) != 0


cdef inline uint64_t read_integer(uint8_t* data, uint32_t size) noexcept nogil:
    """``size`` bytes, zero-extended."""
    if size == 1:
        return data[0]
    if size == 2:
        return (<uint16_t*>data)[0]
    if size == 4:
        return (<uint32_t*>data)[0]
    return (<uint64_t*>data)[0]


cdef inline bint write_integer(Cpu* cpu, Op* op, uint64_t address, uint64_t* value, uint32_t size) noexcept nogil:
    """Store the low ``size`` bytes of ``value``; False with the fault in cpu."""
    cdef uint8_t* data = writable(cpu, address, size)
    if unlikely(data == NULL):
        cpu.index = op.index
        if not write_slowly(cpu, address, <uint8_t*>value, size):
            return False
    elif size == 1:
        data[0] = <uint8_t>value[0]
    elif size == 2:
        (<uint16_t*>data)[0] = <uint16_t>value[0]
    elif size == 4:
        (<uint32_t*>data)[0] = <uint32_t>value[0]
    else:
        (<uint64_t*>data)[0] = value[0]
    if unlikely(cpu.alat_used != 0):
        alat_store(cpu, address, size)
    return True


cdef inline void update_base(Cpu* cpu, Op* op, int update) noexcept nogil:
    """Post-increment. A NaT increment makes the base NaT (volume 3, ld: base update)."""
    if update == BY_IMMEDIATE:
        cpu.gr[op.r3] += <uint64_t>op.imm
    elif update == BY_REGISTER:
        cpu.gr[op.r3] += cpu.gr[op.r2]
        if unlikely(any_nat(cpu)) and get_nat(cpu, op.r2):
            set_nat(cpu, op.r3, True)


cdef inline bint load_register(Cpu* cpu, Op* op, uint32_t size, int update) noexcept nogil:
    """An ordinary load of ``size`` bytes (volume 3, ld); False with the fault in cpu."""
    cdef uint8_t* data
    if update == BY_REGISTER and unlikely(any_nat(cpu)) and get_nat(cpu, op.r3):
        cpu.fault = FAULT_REGISTER_NAT_CONSUMPTION
        return False
    data = readable(cpu, op, cpu.gr[op.r3], size)
    if unlikely(data == NULL):
        return False
    update_base(cpu, op, update)         # before the load: the increment may be in r1
    cpu.gr[op.r1] = read_integer(data, size)
    if update == BY_REGISTER and unlikely(any_nat(cpu)):
        set_nat(cpu, op.r1, False)
    return True
