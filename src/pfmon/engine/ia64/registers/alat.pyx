"""The advanced load address table: functions that scan all entries (see alat.pxd)."""

from libc.string cimport memset


cdef int alat_search(Cpu* cpu, uint32_t tag) noexcept nogil:
    """The index of the entry for ``tag``, or -1."""
    cdef int i
    for i in range(ALAT_SIZE):
        if cpu.alat[i].size and cpu.alat[i].tag == tag:
            return i
    return -1


cdef void alat_overlap(Cpu* cpu, uint64_t address, uint64_t size) noexcept nogil:
    """A store of any number of bytes: removes the entries that overlap it."""
    cdef int i
    if cpu.system != NULL:
        address = alat_address(cpu, address)
    for i in range(ALAT_SIZE):
        if cpu.alat[i].size and address < cpu.alat[i].address + cpu.alat[i].size \
                and cpu.alat[i].address < address + size:
            alat_free(cpu, i)


cdef void alat_clear(Cpu* cpu) noexcept nogil:
    """invala."""
    memset(cpu.alat, 0, sizeof(cpu.alat))
    memset(cpu.alat_registers, 0, sizeof(cpu.alat_registers))
    memset(cpu.alat_lines, cpu.system != NULL, sizeof(cpu.alat_lines))
    cpu.alat_used = 0
