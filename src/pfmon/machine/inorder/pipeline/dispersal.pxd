"""Dispersal: instructions that issue together, by free ports (Montecito manual, 2.3.1)."""

from libc.stdint cimport uint32_t


cdef enum DispersalEnd:          # reason for the end of an issue group
    WHY_END = 0                  # of the block: the next block's instructions may join the group
    WHY_EXPLICIT = 1             # a stop
    WHY_IMPLICIT = 2             # no port, or a rule of the ports
    WHY_FRONT_END = 3            # the next bundle was not fetched yet
    WHY_FULL = 4                 # two bundles
    WHY_TAKEN = 5                # a taken branch


cdef bint fits(const PortUse* use, const PipelineOp* step, uint32_t m_ports) noexcept nogil
cdef void occupy_ports(PortUse* use, const PipelineOp* step) noexcept nogil
cdef uint32_t dispersal_of(const PortUse* use, uint32_t why, uint32_t left_over, const BlockPlan* plan,
                           uint32_t next_step,
                     uint32_t m_ports) noexcept nogil
