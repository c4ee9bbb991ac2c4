"""External interrupts and the interval timer of a processor (volume 2, 5.8 and 3.3.4.2).

ITC counts instructions: it is the number that has retired, and an offset. So a timer interrupt comes at the same
instruction in every run. With an external clock ITC is read from it at each access and at each stop: between two
readings ITC is not used, and `SystemProcessor.pass_time` decides whether it has matched ITM.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum:
    VECTORS = 256
    NMI = 2
    EXTINT = 0
    SPURIOUS = 15
    TPR_MMI = 1 << 16
    VECTOR_MASKED = 1 << 16      # m of ITV, PMV and CMCV


cdef bint is_vector(uint32_t vector) noexcept nogil:
    """Whether a vector number exists: 1 and 3 to 15 are reserved (volume 2, 5.8.1)."""
    return vector == EXTINT or vector == NMI or 16 <= vector < VECTORS


cdef inline bint has(const uint64_t* bits, uint32_t vector) noexcept nogil:
    return (bits[vector >> 6] >> (vector & 63)) & 1


cdef inline int priority(int vector) noexcept nogil:
    """Higher is served first (volume 2, table 5-8); -1 for no vector."""
    if vector == NMI:
        return VECTORS + 1
    return VECTORS if vector == EXTINT else vector


cdef int highest(const uint64_t* bits) noexcept nogil:
    """The vector of highest priority in a set, or -1."""
    cdef int vector
    if has(bits, NMI):
        return NMI
    if has(bits, EXTINT):
        return EXTINT
    if (bits[0] | bits[1] | bits[2] | bits[3]) == 0:
        return -1
    for vector in range(VECTORS - 1, 15, -1):
        if has(bits, vector):
            return vector
    return -1


cdef int deliverable(SystemState* system) noexcept nogil:
    """The pending vector of highest priority that neither TPR nor one in service masks, or -1 (volume 2, table 5-8)."""
    cdef int vector = highest(system.irr)
    cdef uint64_t tpr = system.cr[CR_TPR]
    if vector < 0 or priority(vector) <= priority(highest(system.in_service)):
        return -1
    if vector != NMI and tpr & TPR_MMI:
        return -1
    if vector >= 16 and <uint64_t>(vector >> 4) <= (tpr >> 4 & 15):
        return -1
    return vector


cdef void pend(Cpu* cpu, uint32_t vector) noexcept nogil:
    """An interrupt arrives: it is pending."""
    cpu.system.irr[vector >> 6] |= <uint64_t>1 << (vector & 63)
    cpu.limit = NULL


cdef uint64_t read_ivr(Cpu* cpu) noexcept nogil:
    """Read IVR: the highest deliverable vector, which is in service from now on; 15 if there is none (5.8.3.2)."""
    cdef int vector = deliverable(cpu.system)
    if vector < 0:
        return SPURIOUS
    cpu.system.irr[vector >> 6] &= ~(<uint64_t>1 << (vector & 63))
    cpu.system.in_service[vector >> 6] |= <uint64_t>1 << (vector & 63)
    return vector


cdef void end_of_interrupt(Cpu* cpu) noexcept nogil:
    """Write EOI: the highest vector in service is no longer (5.8.3.4)."""
    cdef int vector = highest(cpu.system.in_service)
    if vector >= 0:
        cpu.system.in_service[vector >> 6] &= ~(<uint64_t>1 << (vector & 63))
    cpu.limit = NULL


cdef void set_timer(Cpu* cpu, uint64_t retired) noexcept nogil:
    """Set the time at which ITC, which is now that of ``retired`` instructions, matches ITM."""
    cdef uint64_t left = cpu.system.cr[CR_ITM] - (retired + cpu.itc_offset)
    cpu.system.timer_at = NO_TIME
    if left <= NO_TIME - retired:
        cpu.system.timer_at = retired + left
    cpu.limit = NULL


cdef inline uint64_t next_match(SystemState* system) noexcept nogil:
    """The number of retired instructions at which ITC matches ITM by itself."""
    return NO_TIME if system.external_clock else system.timer_at


cdef bint waits_for_clock(Cpu* cpu, Op* op, bint writes) noexcept nogil:
    """Whether an instruction that reads ITC, or ``writes`` ITC or ITM, has to wait until an external clock has been
    read; the driver returns for it (STATUS_PMD), and the instruction is repeated."""
    if cpu.system == NULL or not cpu.system.external_clock:
        return False
    if cpu.pmd_known:
        cpu.pmd_known = 0
        return False
    cpu.system.pmu_access, cpu.system.pmu_value = USE_CLOCK, writes
    cpu.fault_op = op
    return True


cdef void timer_matched(Cpu* cpu) noexcept nogil:
    """ITC matches ITM: the interrupt is pending, or discarded while ITV masks it (5.8.3.6)."""
    cdef uint64_t itv = cpu.system.cr[CR_ITV]
    cpu.system.timer_at = NO_TIME
    if not itv & VECTOR_MASKED and is_vector(itv & 0xFF):
        pend(cpu, itv & 0xFF)
