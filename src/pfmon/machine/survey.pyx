"""The fast path for a block that is not entirely quick: see survey.pxd.

Integer loads that hit L1D leave nothing to the simulation but their latency. They are performed ahead of accesses that
wait for it, unless these could change their result: order is kept after an acquire, and after a store to the same
bytes.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine.code cimport Plan, Reach
from pfmon.machine.memory cimport ACCESS_ACQUIRE, ACCESS_SEMAPHORE, DataMemory, is_store
from pfmon.machine.run cimport MOST_SERVED, SERVED_AHEAD, Run
from pfmon.machine.store_conflict cimport GRANULE_SHIFT
from pfmon.machine.translation cimport reads_first_level
from pfmon.stream.table cimport executed


cdef inline uint64_t granules(uint64_t address, uint32_t size) noexcept nogil:
    """Returns the one or two granules of eight bytes of an access: a bit each, by their address."""
    return (<uint64_t>1 << (address >> GRANULE_SHIFT & 63)
            | <uint64_t>1 << (address + size - 1 >> GRANULE_SHIFT & 63))


cdef void survey_rest(DataMemory data, const Plan* plan, Run* run, uint32_t slow, uint32_t access,
                      int64_t clock) noexcept nogil:
    cdef uint32_t i
    cdef uint64_t address, stored = 0
    cdef const Reach* reach
    for i in range(slow, plan.access_count):
        reach = &plan.reaches[i]
        if not executed(run.word, reach.condition):
            continue
        if access >= MOST_SERVED:
            return
        address = run.addresses[access]
        if reach.checks:
            pass
        elif (i != slow and reads_first_level(reach.kind) and not stored & granules(address, reach.size)
              and data.quick(address, reach.size, reach.kind, clock + reach.group)):
            run.served |= <uint64_t>SERVED_AHEAD << 2 * access
        elif is_store(reach.kind):
            stored |= granules(address, reach.size)
        elif reach.kind == ACCESS_SEMAPHORE or plan.steps[reach.step].access_flags & ACCESS_ACQUIRE:
            return
        access += 1
