"""The advanced load address table (SDM volume 1, 4.4.5): 32 entries, fully associative, as Itanium 2 has it.

An entry is found by its physical register; a store removes the entries whose bytes it touches. When the table is
full the oldest entry makes room.
"""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.engine.ia64.core.cpu cimport ALAT_SIZE, Cpu, Op, mark_at
from pfmon.stream.words cimport Mark

cdef enum:
    FLOAT_TAG = 1 << 31


cdef inline uint32_t general_tag(Cpu* cpu, uint32_t r) noexcept nogil:
    """The register behind general register ``r``, of the whole register stack.

    The manual has physical registers here, and lets no entry survive that its register has been reused (volume 2,
    6.6: RSE and ALAT interaction); numbers on the stack need no such care.
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


cdef inline int alat_find(Cpu* cpu, uint32_t tag) noexcept nogil:
    """The index of the entry for ``tag``, or -1."""
    cdef int i
    if cpu.alat_used:
        for i in range(ALAT_SIZE):
            if cpu.alat[i].size and cpu.alat[i].tag == tag:
                return i
    return -1


cdef inline void alat_remove(Cpu* cpu, uint32_t tag) noexcept nogil:
    cdef int i = alat_find(cpu, tag)
    if i >= 0:
        cpu.alat[i].size = 0
        cpu.alat_used -= 1


cdef inline void alat_insert(Cpu* cpu, Op* op, uint32_t tag, uint64_t address, uint32_t size) noexcept nogil:
    """An advanced load: the register's old entry goes, a new one comes."""
    cdef int i
    alat_remove(cpu, tag)
    for i in range(ALAT_SIZE):
        if cpu.alat[cpu.alat_next].size == 0:
            break
        if cpu.alat_used == ALAT_SIZE:
            mark_at(cpu, op, Mark.ALAT_REPLACE, cpu.alat[cpu.alat_next].tag >= FLOAT_TAG)
            cpu.alat_used -= 1
            break
        cpu.alat_next = (cpu.alat_next + 1) % ALAT_SIZE
    cpu.alat[cpu.alat_next].tag = tag
    cpu.alat[cpu.alat_next].address = address
    cpu.alat[cpu.alat_next].size = size
    cpu.alat_used += 1
    cpu.alat_next = (cpu.alat_next + 1) % ALAT_SIZE


cdef inline void alat_store(Cpu* cpu, uint64_t address, uint64_t size) noexcept nogil:
    """A store of ``size`` bytes: entries that overlap it are gone."""
    cdef int i
    for i in range(ALAT_SIZE):
        if cpu.alat[i].size and address < cpu.alat[i].address + cpu.alat[i].size \
                and cpu.alat[i].address < address + size:
            cpu.alat[i].size = 0
            cpu.alat_used -= 1


cdef inline void alat_clear(Cpu* cpu) noexcept nogil:
    """invala."""
    cdef int i
    for i in range(ALAT_SIZE):
        cpu.alat[i].size = 0
    cpu.alat_used = 0
