"""Ports, and the syllables that a cycle did not disperse."""

from libc.stdint cimport uint32_t
from libc.string cimport memset


cdef bint fits(const PortUse* use, const PipelineOp* step, uint32_t m_ports) noexcept nogil:
    """Whether a port is free for one more instruction of the group (Montecito manual 2.3.1).

    The first instruction in an I slot goes to I0, the second to I1. Instructions with the fewest possible M ports are
    dispersed first: the port sets are nested (M0 in M0-1, M2 in M2-3), so a count for each set is sufficient.
    """
    cdef uint32_t port = step.port
    if port == PORT_A:
        return use.i < 2 or use.m < m_ports
    if port == PORT_I or port == PORT_L:
        return use.i < 2
    if port == PORT_I0:
        return use.i == 0
    if port == PORT_F or port == PORT_F0:
        return use.f < 2 and (port == PORT_F or use.f0 == 0)
    if port == PORT_B or port == PORT_BRP:
        return use.b < 3
    if use.m >= m_ports:
        return False
    if port == PORT_M01 or port == PORT_M0:
        return use.m01 < 2 and (port == PORT_M01 or use.m0 == 0)
    if port == PORT_M23 or port == PORT_M2:
        return use.m23 < 2 and (port == PORT_M23 or use.m2 == 0)
    return True


cdef void occupy_ports(PortUse* use, const PipelineOp* step) noexcept nogil:
    """Occupy a port."""
    cdef uint32_t port = step.port
    use.instructions += 1
    use.slots += step.slots
    use.long_ones += step.slots - 1
    if (port == PORT_A and use.i < 2) or port == PORT_I or port == PORT_L or port == PORT_I0:
        use.i += 1
    elif port == PORT_F or port == PORT_F0:
        use.f += 1
        use.f0 += port == PORT_F0
    elif port == PORT_B or port == PORT_BRP:
        use.b += 1
    else:
        use.m += 1
        if port == PORT_M01 or port == PORT_M0:
            use.m01 += 1
            use.m0 += port == PORT_M0
        elif port == PORT_M23 or port == PORT_M2:
            use.m23 += 1
            use.m2 += port == PORT_M2


cdef uint32_t dispersal_of(const PortUse* use, uint32_t why, uint32_t left_over, const BlockPlan* plan,
                           uint32_t next_step,
                     uint32_t m_ports) noexcept nogil:
    """Returns the cycle's syllables that were not dispersed, by reason (manual 4.4)."""
    cdef uint32_t rest = 6 - use.slots - use.skipped
    cdef uint32_t counts[4]
    cdef uint32_t over_explicit = 0, over_implicit = 0, i
    memset(counts, 0, sizeof(counts))
    if use.slots + use.skipped > 6:
        rest = 0
    counts[left_over // 3] += use.skipped
    if why == WHY_EXPLICIT:
        counts[DISPERSAL_EXPLICIT // 3] += rest
    elif why == WHY_IMPLICIT:
        counts[DISPERSAL_IMPLICIT // 3] += rest
    else:
        counts[DISPERSAL_FRONT_END // 3] += rest
    counts[DISPERSAL_LONG // 3] += use.long_ones
    # Stops of each kind are detected separately: after both, a syllable of the second bundle counts twice.
    if plan != NULL and next_step < plan.length and use.bundles == 2 and not plan.steps[next_step].begins:
        if why == WHY_EXPLICIT and not fits(use, &plan.steps[next_step], m_ports):
            over_implicit = 3 - plan.steps[next_step].slot
            counts[DISPERSAL_IMPLICIT // 3] += over_implicit
        elif why == WHY_IMPLICIT:
            i = next_step
            while i < plan.length and not plan.steps[i].stop and not plan.steps[i].ends:
                i += 1
            if i < plan.length and plan.steps[i].stop and plan.steps[i].slot < 2:
                over_explicit = 2 - plan.steps[i].slot
                counts[DISPERSAL_EXPLICIT // 3] += over_explicit
    return (counts[0] << DISPERSAL_EXPLICIT | counts[1] << DISPERSAL_IMPLICIT | counts[2] << DISPERSAL_FRONT_END
            | counts[3] << DISPERSAL_LONG | over_explicit << DISPERSAL_OVER_EXPLICIT
            | over_implicit << DISPERSAL_OVER_IMPLICIT | <uint32_t>use.instructions << DISPERSAL_DISPERSED)
