"""The advanced load address table (SDM volume 1, 4.4.5): 32 entries, fully associative, as Itanium 2 has it.

An entry is found by its physical register; a store removes the entries that it overlaps. When the table is full, the
oldest entry is replaced. The host scans the entries only when one may match: it keeps the number of entries for
registers of each of 128 classes, and in 16-byte lines of each of 256 classes. In system mode, where entries have
physical addresses, all lines count as having one.
"""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.stream._stream cimport Mark

cdef enum:
    FLOAT_TAG = 1 << 31
    LINE_SHIFT = 4

cdef int alat_search(Cpu* cpu, uint32_t tag) noexcept nogil
cdef void alat_overlap(Cpu* cpu, uint64_t address, uint64_t size) noexcept nogil
cdef void alat_clear(Cpu* cpu) noexcept nogil
cdef uint64_t alat_address(Cpu* cpu, uint64_t address) noexcept nogil


cdef inline uint32_t general_tag(Cpu* cpu, uint32_t r) noexcept nogil:
    """The register behind general register ``r``, of the whole register stack.

    The manual uses physical registers, and no entry may survive reuse of its register (volume 2, 6.6: RSE and ALAT
    interaction); numbers on the whole stack are never reused.
    """
    cdef uint32_t i = r - 32
    if r < 32:
        return r
    if i < cpu.sor:
        i = (i + cpu.rrb_gr) % cpu.sor
    return (32 + <uint32_t>(cpu.bof + i)) & (FLOAT_TAG - 1)


cdef inline uint32_t float_tag(Cpu* cpu, uint32_t f) noexcept nogil:
    """The physical register behind floating-point register ``f``."""
    if f < 32:
        return FLOAT_TAG + f
    return FLOAT_TAG + 32 + (f - 32 + cpu.rrb_fr) % 96


cdef inline uint32_t line_of(uint64_t address) noexcept nogil:
    """The class of a byte's line."""
    return (address >> LINE_SHIFT) & (ALAT_LINES - 1)


cdef inline int alat_find(Cpu* cpu, uint32_t tag) noexcept nogil:
    """The index of the entry for ``tag``, or -1."""
    cdef uint32_t register = tag & (ALAT_REGISTERS - 1)
    cdef int i = cpu.alat_latest[register]
    if likely(cpu.alat_registers[register] == 0):
        return -1
    if likely(cpu.alat[i].size and cpu.alat[i].tag == tag):
        return i
    return alat_search(cpu, tag)


cdef inline void alat_count(Cpu* cpu, int i, int by) noexcept nogil:
    """Add ``by`` to the entry counts of its classes."""
    cdef uint64_t line = cpu.alat[i].address >> LINE_SHIFT
    cdef uint64_t last = (cpu.alat[i].address + cpu.alat[i].size - 1) >> LINE_SHIFT
    cpu.alat_used += by
    cpu.alat_registers[cpu.alat[i].tag & (ALAT_REGISTERS - 1)] += by
    cpu.alat_lines[line & (ALAT_LINES - 1)] += by
    while line != last:
        line += 1
        cpu.alat_lines[line & (ALAT_LINES - 1)] += by


cdef inline void alat_free(Cpu* cpu, int i) noexcept nogil:
    """Remove an entry."""
    alat_count(cpu, i, -1)
    cpu.alat[i].size = 0


cdef inline void alat_remove(Cpu* cpu, uint32_t tag) noexcept nogil:
    cdef int i = alat_find(cpu, tag)
    if i >= 0:
        alat_free(cpu, i)


cdef inline void alat_insert(Cpu* cpu, Op* op, uint32_t tag, uint64_t address, uint32_t size) noexcept nogil:
    """An advanced load: replaces the register's entry."""
    cdef int i
    if unlikely(cpu.system != NULL):
        address = alat_address(cpu, address)
    alat_remove(cpu, tag)
    for i in range(ALAT_SIZE):
        if cpu.alat[cpu.alat_next].size == 0:
            break
        if cpu.alat_used == ALAT_SIZE:
            mark_at(cpu, op, Mark.ALAT_REPLACE, cpu.alat[cpu.alat_next].tag >= FLOAT_TAG)
            alat_free(cpu, cpu.alat_next)
            break
        cpu.alat_next = (cpu.alat_next + 1) % ALAT_SIZE
    cpu.alat[cpu.alat_next].tag = tag
    cpu.alat[cpu.alat_next].address = address
    cpu.alat[cpu.alat_next].size = size
    alat_count(cpu, cpu.alat_next, 1)
    cpu.alat_latest[tag & (ALAT_REGISTERS - 1)] = cpu.alat_next
    cpu.alat_next = (cpu.alat_next + 1) % ALAT_SIZE


cdef inline void alat_store(Cpu* cpu, uint64_t address, uint32_t size) noexcept nogil:
    """A store of ``size`` bytes, at most a line: removes the entries that overlap it."""
    if unlikely(cpu.alat_lines[line_of(address)] | cpu.alat_lines[line_of(address + size - 1)]):
        alat_overlap(cpu, address, size)
