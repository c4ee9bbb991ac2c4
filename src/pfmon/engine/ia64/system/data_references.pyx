"""Data references in system mode (volume 2, 4.4): memory and devices, for instructions and the register stack engine.

Aligned references to pages of at least 16 KB with attribute WB go through the host-side translation cache (Cpu.tlb);
what is here is the way for all others, and fills it.
"""

from libc.stdint cimport uint32_t, uint64_t, uint8_t
from libc.string cimport memcpy

from pfmon.stream._stream cimport Mark, mark_word

cdef enum:
    EXTENDED_BYTES = 10          # ldfe, stfe


cdef uint8_t* physical_memory(Cpu* cpu, uint64_t physical, bint write) noexcept nogil:
    """The host address of a byte of physical memory, or NULL: there is none."""
    cdef MemoryMap* memory = <MemoryMap*>cpu.memory
    cdef Region* region = find_region(memory, physical)
    cdef uint64_t length
    if region == NULL:
        return NULL
    return host_piece(memory, region, physical, write, &length)


cdef inline uint64_t physical_of(const TranslationEntry* entry, uint64_t address, bint virtual) noexcept nogil:
    if not virtual:
        return address & ~(<uint64_t>1 << 63)
    return entry.physical + ((address & REGION_OFFSET) - entry.first)


cdef uint8_t* refuse(Cpu* cpu, uint64_t address, uint32_t rights, int number) noexcept nogil:
    """Set the fault of a data reference; NULL."""
    cpu.fault = number
    cpu.fault_address = address
    cpu.system.reference = 0
    if rights & READ: cpu.system.reference |= ISR_R
    if rights & WRITE: cpu.system.reference |= ISR_W
    return NULL


cdef uint8_t* refuse_physical(Cpu* cpu, uint64_t address, uint32_t rights) noexcept nogil:
    """A reference to a physical address without memory or device: a machine check."""
    cpu.system.machine_check = b"a reference to a physical address without memory or device"
    return refuse(cpu, address, rights, FAULT_MACHINE_CHECK)


cdef bint fill_host_entry(Cpu* cpu, const DataReference* reference, const TranslationEntry* entry, uint8_t* host) noexcept nogil:
    """Enter a page into the host-side translation cache, if references to all of it succeed as this one has. Returns
    whether it was entered: further references are not seen here."""
    cdef SystemState* system = cpu.system
    cdef uint64_t page = reference.address & ~<uint64_t>(PAGE_SIZE - 1)
    cdef uint64_t physical
    cdef uint32_t rights, i = <uint32_t>(reference.address >> PAGE_SHIFT) & (TLB_SIZE - 1)
    cdef Translation* t = &cpu.tlb[i]
    if entry.attribute != MA_WB or reference.level != cpu.level or system.psr & (PSR_DB | PSR_DA) or cpu.um & UM_BE:
        return False
    if reference.virtual != (system.psr & PSR_DT != 0):
        return False
    if reference.virtual and entry.last - entry.first < PAGE_SIZE - 1:
        return False
    rights = rights_of(entry, cpu.level)
    if reference.virtual:
        if rights & READ and check_keys(system, entry, READ, 0): rights &= ~<uint32_t>READ
        if rights & WRITE and check_keys(system, entry, WRITE, 0): rights &= ~<uint32_t>WRITE
    physical = physical_of(entry, page, reference.virtual)
    t.addend = <uint64_t>host - reference.address
    t.read_tag = page if rights & READ else 1 << 12
    t.write_tag = page if rights & WRITE and entry.dirty and not is_code(<MemoryMap*>cpu.memory, physical) else 1 << 12
    note_filled(cpu, i)
    return True


cdef void mark_page(Cpu* cpu, const DataReference* reference, const TranslationEntry* entry, uint64_t physical,
                    bint covers) noexcept nogil:
    """Put the frame of a referenced page into a traced stream, if the last one was another; ``covers``: of the 16 KB
    around it."""
    cdef SystemState* system = cpu.system
    cdef uint64_t region = rid_of(system, reference.address) & 0x7FFF if reference.virtual else 0, page, frame
    if not cpu.traced:
        return
    page = mark_word(
        Mark.PAGE_ADDRESS, reference.address >> 12 | <uint64_t>reference.virtual << 54 | <uint64_t>covers << 55)
    frame = mark_word(
        Mark.PAGE_FRAME, (physical >> 12) & 0x3FFFFFFFFFULL | <uint64_t>entry.attribute << 38 | region << 41)
    if page == system.marked_page and frame == system.marked_frame:
        return
    system.marked_page, system.marked_frame = page, frame
    append_mark(cpu, page)
    append_mark(cpu, frame)


cdef DataReference data_reference(Cpu* cpu, uint64_t address, uint32_t rights) noexcept nogil:
    """A reference of the running instruction."""
    cdef DataReference made
    made.address, made.rights, made.level, made.deferrable = address, rights, cpu.level, 0
    made.virtual = made.walks = cpu.system.psr & PSR_DT != 0
    return made


cdef Device* device_at(SystemState* system, uint64_t physical) noexcept nogil:
    cdef uint32_t i
    for i in range(system.device_count):
        if system.devices[i].start <= physical < system.devices[i].end:
            return &system.devices[i]
    return NULL


cdef uint8_t* read_device(Cpu* cpu, Device* device, uint64_t physical, uint32_t size) noexcept nogil:
    """The bytes that a device gives, in Cpu.bounce."""
    cdef uint64_t value
    with gil:
        value = (<object>device.object).read(physical - device.start, size) & 0xFFFFFFFFFFFFFFFF
    memcpy(cpu.bounce, &value, 8)
    return cpu.bounce


cdef void write_device(Device* device, uint64_t physical, const uint8_t* data, uint32_t size) noexcept nogil:
    cdef uint64_t value = 0
    memcpy(&value, data, min(size, 8))
    with gil:
        (<object>device.object).write(physical - device.start, size, value)


cdef uint8_t* refer(Cpu* cpu, DataReference* reference, uint32_t size, uint64_t* physical) noexcept nogil:
    """Translate a reference of ``size`` bytes within a page; the host address, or NULL: a device's (then cpu.fault is
    FAULT_NONE), or a fault."""
    cdef TranslationEntry entry
    cdef uint8_t* host
    cdef bint covers
    cdef int found = translate_data(cpu, reference, &entry, size)
    cpu.fault = FAULT_NONE
    if found:
        cpu.system.deferred = 0
        return refuse(cpu, reference.address, reference.rights, found)
    if cpu.system.deferred:
        return NULL
    cpu.system.attribute = entry.attribute
    physical[0] = physical_of(&entry, reference.address, reference.virtual)
    host = physical_memory(cpu, physical[0], reference.rights & WRITE != 0)
    if host != NULL:
        covers = fill_host_entry(cpu, reference, &entry, host)
        mark_page(cpu, reference, &entry, physical[0], covers)
        return host
    mark_page(cpu, reference, &entry, physical[0], False)
    if device_at(cpu.system, physical[0]) == NULL:
        return refuse_physical(cpu, reference.address, reference.rights)
    return NULL


cdef uint8_t* system_data(Cpu* cpu, uint64_t address, uint32_t rights) noexcept nogil:
    """The host address of a byte with these rights, or NULL with the fault; for instructions that only check."""
    cdef DataReference reference = data_reference(cpu, address, rights)
    cdef uint64_t physical
    cdef uint8_t* host
    cpu.system.deferred = 0
    host = refer(cpu, &reference, 1, &physical)
    if host == NULL and cpu.fault == FAULT_NONE:
        return cpu.bounce
    return host


cdef uint8_t* in_byte_order(Cpu* cpu, uint8_t* host, uint32_t size) noexcept nogil:
    """Data as PSR.be has it: in place, or reversed in Cpu.bounce."""
    if not cpu.um & UM_BE:
        return host
    if host != cpu.bounce:
        memcpy(cpu.bounce, host, size)
    reverse(cpu.bounce, size)
    return cpu.bounce


cdef uint8_t* system_read(Cpu* cpu, uint64_t address, uint32_t size, uint32_t alignment) noexcept nogil:
    """``size`` bytes to read, or NULL with the fault. References that are not aligned fault: the processor completes
    none, which PSR.ac = 0 allows (volume 2, 5.6: Unaligned Data Reference)."""
    cdef DataReference reference = data_reference(cpu, address, READ)
    cdef uint64_t physical
    cdef uint8_t* host
    cpu.system.deferred = 0
    host = refer(cpu, &reference, size, &physical)
    if host == NULL and cpu.fault != FAULT_NONE:
        return NULL
    if address & (alignment - 1):
        return refuse(cpu, address, READ, FAULT_UNALIGNED_REFERENCE)
    if size == EXTENDED_BYTES and cpu.system.attribute != MA_WB:
        return refuse(cpu, address, READ, FAULT_UNSUPPORTED_DATA_REFERENCE)
    if host == NULL:
        host = read_device(cpu, device_at(cpu.system, physical), physical, size)
    return in_byte_order(cpu, host, size)


cdef int system_write(Cpu* cpu, uint64_t address, const uint8_t* data, uint32_t size, uint32_t alignment) noexcept nogil:
    """Write ``size`` bytes; 0 with the fault."""
    cdef DataReference reference = data_reference(cpu, address, WRITE)
    cdef MemoryMap* memory = <MemoryMap*>cpu.memory
    cdef uint8_t swapped[32]
    cdef uint64_t physical
    cdef uint8_t* host
    cpu.system.deferred = 0
    host = refer(cpu, &reference, size, &physical)
    if host == NULL and cpu.fault != FAULT_NONE:
        return 0
    if address & (alignment - 1):
        refuse(cpu, address, WRITE, FAULT_UNALIGNED_REFERENCE)
        return 0
    if size == EXTENDED_BYTES and cpu.system.attribute != MA_WB:
        refuse(cpu, address, WRITE, FAULT_UNSUPPORTED_DATA_REFERENCE)
        return 0
    if cpu.um & UM_BE:
        memcpy(swapped, data, size)
        reverse(swapped, size)
        data = swapped
    if host == NULL:
        write_device(device_at(cpu.system, physical), physical, data, size)
        return 1
    memcpy(host, data, size)
    if memory.code_used and writes_code(memory, physical, size):
        memory.code_written = 1
        cpu.limit = NULL
    return 1


cdef uint8_t* system_aligned(Cpu* cpu, uint64_t address, uint32_t size, uint32_t rights) noexcept nogil:
    """``size`` bytes for a semaphore, or one of the 16-byte references; NULL with the fault. Only memory with attribute
    WB supports them (volume 2, 4.4.3 and 4.4.10)."""
    cdef DataReference reference = data_reference(cpu, address, rights)
    cdef uint64_t physical
    cdef uint8_t* host
    cpu.system.deferred = 0
    host = refer(cpu, &reference, size, &physical)
    if host == NULL and cpu.fault != FAULT_NONE:
        return NULL
    if address & (size - 1):
        return refuse(cpu, address, rights, FAULT_UNALIGNED_REFERENCE)
    if host == NULL or cpu.system.attribute != MA_WB:
        return refuse(cpu, address, rights, FAULT_UNSUPPORTED_DATA_REFERENCE)
    return in_byte_order(cpu, host, size) if rights & READ else host


cdef uint64_t alat_address(Cpu* cpu, uint64_t address) noexcept nogil:
    """The address by which an ALAT entry is kept: a physical one, since pages may have several translations."""
    cdef TranslationEntry* entry
    if not cpu.system.psr & PSR_DT:
        return address & ~(<uint64_t>1 << 63)
    entry = find_translation(cpu.system, DATA_SIDE, address)
    return address if entry == NULL else physical_of(entry, address, True)


# --- speculative loads

cdef uint32_t deferrable(Cpu* cpu) noexcept nogil:
    """DCR bits of the faults that a speculative load defers (volume 2, 5.5.5)."""
    if not cpu.system.psr & PSR_IC:
        return ALL_DEFERRED
    if cpu.system.psr & PSR_IT and code_deferral(cpu):
        return <uint32_t>cpu.system.cr[CR_DCR] & ALL_DEFERRED
    return 0


cdef uint8_t* speculative_data(Cpu* cpu, Op* op, uint64_t address, uint32_t size) noexcept nogil:
    """The data of a speculative load; NULL: deferred (SystemState.deferred), or a fault. Unimplemented addresses, NaT
    pages and memory that does not support speculation are always deferred (volume 2, 4.4.6 and 5.5.5)."""
    cdef SystemState* system = cpu.system
    cdef DataReference reference = data_reference(cpu, address, READ)
    cdef uint8_t* host = NULL
    cdef uint64_t physical
    cdef bint all_deferred = not system.psr & PSR_IC
    cpu.index = op.index
    cpu.fault = FAULT_DATA_PAGE_NOT_PRESENT
    system.deferred = 1
    if system.psr & PSR_ED:
        return NULL
    system.deferred = 0
    reference.deferrable = deferrable(cpu)
    host = refer(cpu, &reference, size, &physical)
    if host == NULL:
        system.deferred |= (cpu.fault == FAULT_NONE or cpu.fault == FAULT_UNIMPLEMENTED_ADDRESS
                            or cpu.fault == FAULT_NAT_PAGE_CONSUMPTION or all_deferred)
        return NULL
    if address & (size - 1):
        system.deferred = all_deferred or (system.psr & PSR_IT != 0 and code_deferral(cpu))
        return refuse(cpu, address, READ, FAULT_UNALIGNED_REFERENCE)
    if system.attribute != MA_WB:
        system.deferred = 1
        return NULL
    return in_byte_order(cpu, host, size)


# --- the register stack engine

cdef int backing_store_word(Cpu* cpu, uint64_t address, uint64_t* value, bint write) noexcept nogil:
    """Store or load a word of the backing store, at the level and byte order of RSC and with PSR.rt (volume 2, 6.1);
    0 with the fault."""
    cdef SystemState* system = cpu.system
    cdef DataReference reference
    cdef MemoryMap* memory = <MemoryMap*>cpu.memory
    cdef uint64_t physical, word
    cdef uint8_t* host
    reference.address, reference.rights, reference.deferrable = address, WRITE if write else READ, 0
    reference.level = <uint32_t>(cpu.rsc >> 2) & 3
    reference.virtual = system.psr & PSR_RT != 0
    reference.walks = reference.virtual and system.psr & PSR_DT != 0
    system.deferred = 0
    host = refer(cpu, &reference, 8, &physical)
    if host == NULL:
        if cpu.fault == FAULT_NONE:
            refuse_physical(cpu, address, reference.rights)
        system.reference |= ISR_RS
        return 0
    system.psr &= ~(PSR_DA | PSR_DD)     # they hold for one mandatory reference (volume 2, 3.3.2)
    word = value[0]
    if write:
        (<uint64_t*>host)[0] = byteswap(word) if cpu.rsc & RSC_BE else word
        if memory.code_used and writes_code(memory, physical, 8):
            memory.code_written = 1
            cpu.limit = NULL
        return 1
    word = (<uint64_t*>host)[0]
    value[0] = byteswap(word) if cpu.rsc & RSC_BE else word
    return 1
