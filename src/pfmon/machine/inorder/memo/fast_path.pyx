"""The fast path for a block that is not entirely quick: see fast_path.pxd.

Of an integer load that hits L1D the simulation needs the latency alone. Such loads are performed before earlier
accesses that the simulation performs, unless the result could differ: not after an acquire, nor after a store to the
same eight-byte granules.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.stream._stream cimport executed


cdef inline uint64_t granules(uint64_t address, uint32_t size) noexcept nogil:
    """Returns the one or two granules of eight bytes of an access: a bit each, by their address."""
    return (<uint64_t>1 << (address >> GRANULE_SHIFT & 63)
            | <uint64_t>1 << (address + size - 1 >> GRANULE_SHIFT & 63))


cdef void run_fast_path_rest(DataMemory data, const BlockPlan* plan, BlockExecution* run, uint32_t slow,
                             uint32_t access,
                      int64_t clock) noexcept nogil:
    cdef uint32_t i
    cdef uint64_t address, stored = 0
    cdef const MemAccess* mem_access
    for i in range(slow, plan.access_count):
        mem_access = &plan.mem_accesses[i]
        if not executed(run.word, mem_access.condition):
            continue
        if access >= MAX_TRACKED_ACCESSES:
            return
        address = run.addresses[access]
        if mem_access.checks:
            pass
        elif (i != slow and reads_first_level(mem_access.kind) and not stored & granules(address, mem_access.size)
              and data.quick(address, mem_access.size, mem_access.kind, clock + mem_access.group)):
            run.served |= <uint64_t>SERVED_AHEAD << 2 * access
        elif is_store(mem_access.kind):
            stored |= granules(address, mem_access.size)
        elif mem_access.kind == ACCESS_SEMAPHORE or plan.steps[mem_access.step].access_flags & ACCESS_ACQUIRE:
            return
        access += 1
