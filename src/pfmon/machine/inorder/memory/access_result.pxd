"""Result of a memory access, from the data side to the pipeline."""

from libc.stdint cimport int64_t, uint32_t

cdef enum:
    MAX_STALLS = 6               # of one access; the maximum: L1D_HPW, XPN, KERNEL, order, conflict, L1D_L2BPRESS

cdef struct AccessResult:
    int64_t ready                # cycle from which a loaded value can be used by an integer operation
    int64_t asked                # cycle of the request to L2; -1: none
    uint32_t level               # capture_listener.TlbLevel: the level that served a miss of the first-level TLB
    uint32_t stalls              # pipeline stalls before the access could be made
    uint32_t cause[MAX_STALLS]   # stall_causes.pxd, Cause
    uint32_t cycles[MAX_STALLS]


cdef inline int64_t stall_until(AccessResult* out, uint32_t cause, int64_t now, int64_t until) noexcept nogil:
    """Stalls the pipeline from ``now`` to ``until``; returns the later of both."""
    if until <= now:
        return now
    if out.stalls < MAX_STALLS:
        out.cause[out.stalls] = cause
        out.cycles[out.stalls] = <uint32_t>(until - now)
        out.stalls += 1
    return until
