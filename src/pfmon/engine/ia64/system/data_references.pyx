"""Data references in system mode (volume 2, 4.1 and 4.4): translation, faults in their priority, memory and devices.

Aligned references to pages of at least 16 KB with attribute WB go through the host-side translation cache (Cpu.tlb);
what is here is the way for all others, and fills it.
"""

from libc.stdint cimport uint32_t, uint64_t, uint8_t
from libc.string cimport memcpy, memset

from pfmon.stream._stream cimport Mark, mark_word

cdef enum:
    READ = PROTECT_READ
    WRITE = PROTECT_WRITE
    EXECUTE = PROTECT_EXECUTE
    EXTENDED_BYTES = 10          # ldfe, stfe
    ALL_DEFERRED = DCR_DM | DCR_DP | DCR_DK | DCR_DX | DCR_DR | DCR_DA | DCR_DD

# By ar, pl and privilege level: volume 2, table 4-2.
cdef uint8_t RIGHTS[8][4][4]

def _fill_rights():
    r, w, x = READ, WRITE, EXECUTE
    plain = {0: r, 1: r | x, 2: r | w, 3: r | w | x}
    for ar in range(8):
        for pl in range(4):
            for level in range(4):
                RIGHTS[ar][pl][level] = 0
                if ar < 4:
                    RIGHTS[ar][pl][level] = plain[ar] if level <= pl else 0
                elif ar == 7:
                    RIGHTS[ar][pl][level] = (r | x if level == 0 else x if level <= pl else x | RIGHT_PROMOTE)
                elif level <= pl:
                    at_page, above = {4: (r, r | w), 5: (r | x, r | w | x), 6: (r | w | x, r | w)}[ar]
                    most = level == 0 if ar == 5 or pl == 0 else level < pl
                    RIGHTS[ar][pl][level] = above if most else at_page

_fill_rights()


cdef uint32_t rights_of(const TranslationEntry* entry, uint32_t level) noexcept nogil:
    """The rights of a privilege level on a page."""
    return RIGHTS[entry.rights][entry.level][level]


cdef uint64_t default_itir(SystemState* system, uint64_t address) noexcept nogil:
    """ITIR of a translation fault: the region's page size and identifier (volume 2, 8.3)."""
    return <uint64_t>rid_of(system, address) << 8 | <uint64_t>preferred_size(system, address) << 2


cdef void physical_entry(SystemState* system, uint64_t address, TranslationEntry* to) noexcept nogil:
    """The translation of a physical reference: all rights; bit 63 makes it uncacheable (volume 2, 4.4.1)."""
    memset(to, 0, sizeof(to[0]))
    to.first = to.physical = 0
    to.last = ~<uint64_t>0 >> 1
    to.attribute = MA_UC if address >> 63 else MA_WB
    to.rights = 3
    to.level = 3
    to.valid = to.present = to.accessed = to.dirty = 1


cdef int check_keys(SystemState* system, const TranslationEntry* entry, uint32_t rights, uint32_t skipped) noexcept nogil:
    """The fault of protection keys (volume 2, 4.1.3), or FAULT_NONE; ``skipped``: DCR bits of faults not raised."""
    cdef uint32_t i
    cdef uint64_t refused = 0
    if not system.psr & PSR_PK:
        return FAULT_NONE
    if rights & WRITE: refused |= 1 << 1
    if rights & READ: refused |= 1 << 2
    if rights & EXECUTE: refused |= 1 << 3
    for i in range(PROTECTION_KEYS):
        if system.pkr[i] & 1 and <uint32_t>(system.pkr[i] >> 8) & 0xFFFFFF == entry.key:
            if system.pkr[i] & refused and not skipped & DCR_DX:
                return FAULT_KEY_PERMISSION
            return FAULT_NONE
    return FAULT_NONE if skipped & DCR_DK else FAULT_DATA_KEY_MISS


cdef bint breakpoint_matches(SystemState* system, const uint64_t* pairs, uint64_t address, uint32_t size, uint64_t wanted,
                             uint32_t level) noexcept nogil:
    """Whether a pair of breakpoint registers matches (volume 2, 7.1.1): ``wanted`` are its r, w or x bits."""
    cdef uint32_t i, byte
    cdef uint64_t mask, control
    for i in range(0, BREAKPOINT_REGISTERS, 2):
        control = pairs[i + 1]
        if not control & wanted or not control >> (56 + level) & 1:
            continue
        mask = control & (((<uint64_t>1 << 56) - 1)) | <uint64_t>0xFF << 56
        for byte in range(size):
            if ((address + byte) ^ pairs[i]) & mask == 0:
                return True
    return False


cdef int check_entry(Cpu* cpu, const DataReference* reference, const TranslationEntry* entry, uint32_t size) noexcept nogil:
    """The first fault of a translated reference in the order of figure 4-16, or FAULT_NONE. Faults that are deferred
    are noted in SystemState.deferred."""
    cdef SystemState* system = cpu.system
    cdef uint32_t skipped = reference.deferrable
    cdef uint64_t wanted = 0
    cdef int found
    if not entry.present:
        if not skipped & DCR_DP:
            return FAULT_DATA_PAGE_NOT_PRESENT
        system.deferred = 1
        return FAULT_NONE
    if entry.attribute == MA_NATPAGE:
        return FAULT_NAT_PAGE_CONSUMPTION
    if reference.virtual:
        found = check_keys(system, entry, reference.rights, 0)
        if found and not skipped & (DCR_DK if found == FAULT_DATA_KEY_MISS else DCR_DX):
            return found
        system.deferred |= found != 0
    if rights_of(entry, reference.level) & reference.rights != reference.rights:
        if not skipped & DCR_DR:
            return FAULT_DATA_ACCESS_RIGHTS
        system.deferred = 1
    if reference.rights & WRITE and not entry.dirty and not system.psr & PSR_DA:
        return FAULT_DIRTY_BIT
    if not entry.accessed and not system.psr & PSR_DA:
        if not skipped & DCR_DA:
            return FAULT_DATA_ACCESS_BIT
        system.deferred = 1
    if system.psr & PSR_DB and not system.psr & PSR_DD and size:
        if reference.rights & READ: wanted |= <uint64_t>1 << 63
        if reference.rights & WRITE: wanted |= <uint64_t>1 << 62
        if breakpoint_matches(system, system.dbr, reference.address, size, wanted, reference.level):
            if not skipped & DCR_DD:
                return FAULT_DATA_DEBUG
            system.deferred = 1
    return FAULT_NONE


cdef int find_data(Cpu* cpu, const DataReference* reference, TranslationEntry* to) noexcept nogil:
    """The translation of a data reference, or its fault: TLB and VHPT are searched (volume 2, 4.1.8)."""
    cdef SystemState* system = cpu.system
    cdef TranslationEntry* entry
    cdef int missed
    if not reference.virtual:
        if not implemented_physical(system, reference.address):
            return FAULT_UNIMPLEMENTED_ADDRESS
        physical_entry(system, reference.address, to)
        return FAULT_NONE
    if not implemented_virtual(system, reference.address):
        return FAULT_UNIMPLEMENTED_ADDRESS
    entry = find_translation(system, DATA_SIDE, reference.address)
    if entry == NULL:
        missed = walk_vhpt(cpu, DATA_SIDE, reference.address, reference.walks)
        if missed:
            return missed
        entry = find_translation(system, DATA_SIDE, reference.address)
        if entry == NULL:
            return FAULT_DATA_TLB
    to[0] = entry[0]
    return FAULT_NONE


cdef inline bint is_translation_miss(int number) noexcept nogil:
    return (number == FAULT_VHPT_TRANSLATION or number == FAULT_DATA_TLB or number == FAULT_ALTERNATE_DATA_TLB
            or number == FAULT_DATA_NESTED_TLB)


cdef int translate_data(Cpu* cpu, const DataReference* reference, TranslationEntry* to, uint32_t size) noexcept nogil:
    """Translate a data reference of ``size`` bytes; its fault, or FAULT_NONE."""
    cdef int found = find_data(cpu, reference, to)
    if found:
        if reference.deferrable & DCR_DM and is_translation_miss(found):
            cpu.system.deferred = 1
            return FAULT_NONE
        return found
    return check_entry(cpu, reference, to, size)


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
    cpu.system.attribute = entry.attribute
    if found:
        cpu.system.deferred = 0
        return refuse(cpu, reference.address, reference.rights, found)
    if cpu.system.deferred:
        return NULL
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
    if cpu.um & UM_BE:
        if host != cpu.bounce:
            memcpy(cpu.bounce, host, size)
        reverse(cpu.bounce, size)
        host = cpu.bounce
    return host


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
    if cpu.um & UM_BE and rights & READ:
        memcpy(cpu.bounce, host, size)
        reverse(cpu.bounce, size)
        host = cpu.bounce
    return host


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
    if cpu.um & UM_BE:
        memcpy(cpu.bounce, host, size)
        reverse(cpu.bounce, size)
        host = cpu.bounce
    return host


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
