"""The processor status register (volume 2, 3.3.2): its bits, and what depends on them.

The user mask is Cpu.um, the privilege level Cpu.level, the slot a part of Cpu.ip; SystemState.psr has the rest.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset

from pfmon.stream._stream cimport Mark, OUTSIDE, indexed, mark_word

cdef enum:
    USER_MASK_BITS = 0x3E


cdef uint64_t psr_of(Cpu* cpu) noexcept nogil:
    """PSR as `mov r1=psr` and interruptions see it, with ri = 0."""
    return cpu.system.psr | cpu.um | <uint64_t>cpu.level << PSR_CPL_SHIFT


cdef uint64_t tag_of(Cpu* cpu, uint32_t mode) noexcept nogil:
    """The tag of a mode's entries in the table of indirect branches; when all tags are given, it is begun anew."""
    cdef SystemState* system = cpu.system
    cdef uint32_t i
    for i in range(system.mode_count):
        if system.modes[i] == mode:
            return i
    if system.mode_count == MODE_TAGS:
        system.mode_count = 0
        memset(cpu.jump_cache, 0, sizeof(cpu.jump_cache))
    system.modes[system.mode_count] = mode
    system.mode_count += 1
    return system.mode_count - 1


cdef void update_mode(Cpu* cpu) noexcept nogil:
    """Set Cpu.mode from PSR; when it changes, the next block is looked up."""
    cdef uint64_t psr = cpu.system.psr
    cdef uint32_t mode = cpu.level
    if cpu.um & UM_UP: mode |= MODE_UP
    if psr & PSR_PP: mode |= MODE_PP
    if psr & PSR_IT: mode |= MODE_IT
    if psr & PSR_DFL: mode |= MODE_DFL
    if psr & PSR_DFH: mode |= MODE_DFH
    if cpu.um & UM_MFL: mode |= MODE_MFL
    if cpu.um & UM_MFH: mode |= MODE_MFH
    if psr & PSR_PK: mode |= MODE_PK
    if mode != cpu.mode:
        cpu.mode, cpu.mode_tag = mode, tag_of(cpu, mode)
        cpu.system.mode_changed = 1
    cpu.limit = NULL                     # interrupts, traps and stepping may depend on the other bits


cdef void set_bank(Cpu* cpu, uint32_t bank) noexcept nogil:
    """Make a bank of r16 to r31 the current one (volume 2, 3.3.7)."""
    cdef uint64_t kept
    cdef uint32_t i, nats
    if (cpu.system.psr & PSR_BN != 0) == (bank != 0):
        return
    cpu.system.psr ^= PSR_BN
    for i in range(16):
        kept = cpu.gr[16 + i]
        cpu.gr[16 + i] = cpu.system.bank[i]
        cpu.system.bank[i] = kept
    nats = (cpu.nat[0] >> 16) & 0xFFFF
    cpu.nat[0] = cpu.nat[0] & ~(<uint64_t>0xFFFF << 16) | <uint64_t>cpu.system.bank_nats << 16
    cpu.system.bank_nats = nats


cdef void change_level(Cpu* cpu, uint32_t level) noexcept nogil:
    """Change Cpu.level, and mark it: monitors count the change at the privilege that is left. Translations on the host side that only a higher privilege may use are dropped: a
    more privileged level has all rights of a less privileged one (volume 2, table 4-2)."""
    cdef uint64_t left = OUTSIDE + (cpu.mode & PRIVILEGE_BITS)
    if level == cpu.level:
        return
    append_mark(cpu, mark_word(Mark.LEVEL_LEFT, indexed(cpu.level, left)))
    append_mark(cpu, mark_word(Mark.LEVEL_ENTERED, indexed(level, left)))
    if level > cpu.level:
        drop_privileged(cpu)
    store_level(cpu, level)


cdef void set_level(Cpu* cpu, uint32_t level) noexcept nogil:
    """Change the privilege level."""
    change_level(cpu, level)
    update_mode(cpu)


cdef void set_psr(Cpu* cpu, uint64_t value) noexcept nogil:
    """Write PSR, without ri."""
    cdef SystemState* system = cpu.system
    cdef uint64_t before = psr_of(cpu)
    cdef uint32_t level = <uint32_t>((value & PSR_CPL) >> PSR_CPL_SHIFT)
    set_bank(cpu, value & PSR_BN != 0)
    if (before ^ value) & (PSR_DT | PSR_PK | PSR_BE | PSR_DB):
        drop_filled(cpu)
    change_level(cpu, level)
    cpu.um = value & USER_MASK_BITS
    system.psr = value & ~(PSR_CPL | PSR_RI | USER_MASK_BITS)
    update_mode(cpu)
