"""The fast path of a block: quick fetches and accesses (hits without conflicts) are performed before the block's timing
is known, up to the first other one."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.stream._stream cimport executed


# Performs quick loads after `BlockPlan.mem_accesses[slow]`, the access number ``access``, which the simulation
# performs.
cdef void run_fast_path_rest(DataMemory data, const BlockPlan* plan, BlockExecution* run, uint32_t slow,
                             uint32_t access,
                      int64_t clock) noexcept nogil


cdef inline bint cannot_conflict(DataMemory data, const MemAccess* conflicting,
                                 const MemAccess* mem_access) noexcept nogil:
    """Whether an access after a read with a bank conflict cannot conflict with that read: it is of the same issue
    group, or issues after the read was reissued. A store without release semantics never waits for a bank."""
    if mem_access.group == conflicting.group or is_store(mem_access.kind):
        return not mem_access.releases
    return mem_access.group - conflicting.group > data.l2.reissue_cycles(MAX_BANK_REISSUES)


cdef inline bint run_fast_path(InstructionFetch fetch, DataMemory data, const BlockPlan* plan, BlockExecution* run,
                        int64_t clock, bint marked) noexcept nogil:
    """Performs the block's fetches and accesses in order, as long as they are quick. Returns whether all are, and the
    block is memoizable; a block with marks is not."""
    cdef uint64_t line = plan.first_window >> fetch.line_shift, last_line = line + plan.more_lines
    cdef int64_t at
    cdef uint32_t access = 0
    cdef int known
    cdef const MemAccess* conflicting = NULL     # the last read with a bank conflict
    cdef const MemAccess* mem_access = plan.mem_accesses
    cdef const MemAccess* beyond = mem_access + plan.access_count
    data.l2.banks.block += 1
    if marked or not plan.plain:
        return False
    run.slow_window = NO_WINDOW
    while line <= last_line:
        if not fetch.quick_line(line, clock):              # windows of a line arrive together
            run.slow_window = max(line << fetch.line_shift, plan.first_window)
            break
        line += 1
    while mem_access < beyond:
        if not executed(run.word, mem_access.condition):
            mem_access += 1
            continue
        at = clock + mem_access.group
        if mem_access.checks:
            known = 1
        elif mem_access.kind == ACCESS_LOAD:
            known = recent_load(data, run.addresses[access], mem_access.size, at)
            if known == NOT_RECENT and access < MAX_TRACKED_ACCESSES and run.slow_window == NO_WINDOW \
                    and (conflicting == NULL or cannot_conflict(data, conflicting, mem_access)):
                known = data.other_load(run.addresses[access], mem_access.size,
                                        plan.steps[mem_access.step].access_flags, at)
                if known == PLAIN:
                    run.served |= <uint64_t>SERVED_BY_L2 << 2 * access
            elif known == NOT_RECENT:
                known = data.quick(run.addresses[access], mem_access.size, mem_access.kind, at)
        elif conflicting != NULL and not cannot_conflict(data, conflicting, mem_access):
            known = 0
        else:
            known = not mem_access.releases or at >= data.l2.reads_done
            known = known and data.quick(run.addresses[access], mem_access.size, mem_access.kind, at)
        if not known:
            run_fast_path_rest(data, plan, run, <uint32_t>(mem_access - plan.mem_accesses), access, clock)
            return False
        if mem_access.kind == ACCESS_FLOAT_LOAD and not mem_access.checks and data.l2.banks.reissues:
            if access >= MAX_TRACKED_ACCESSES:
                return False
            run.served |= <uint64_t>data.l2.banks.reissues << 2 * access
            conflicting = mem_access
        access += 1
        run.made = access
        mem_access += 1
    return run.slow_window == NO_WINDOW
