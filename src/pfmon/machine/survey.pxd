"""The fast path of a block: fetches and accesses are performed before its timing is known, as long as they are
quick."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine.banks cimport LAST_TURN
from pfmon.machine.code cimport Plan, Reach
from pfmon.machine.fetch cimport InstructionFetch
from pfmon.machine.memory cimport ACCESS_FLOAT_LOAD, ACCESS_LOAD, NOT_FAMILIAR, PLAIN, DataMemory, familiar_load, is_store
from pfmon.machine.run cimport MOST_SERVED, NO_WINDOW, SERVED_BY_L2, Run
from pfmon.stream.table cimport executed


# Performs the accesses after `Plan.reaches[slow]`, which is number ``access`` and waits for the simulation.
cdef void survey_rest(DataMemory data, const Plan* plan, Run* run, uint32_t slow, uint32_t access,
                      int64_t clock) noexcept nogil


cdef inline bint is_beside(DataMemory data, const Reach* met, const Reach* reach) noexcept nogil:
    """Whether an access behind a read that met another one in a bank is sure not to meet it: it is of the same group, or
    comes when that was issued again; a store that is no release waits for no bank."""
    if reach.group == met.group or is_store(reach.kind):
        return not reach.releases
    return reach.group - met.group > data.l2.turn_cycles(LAST_TURN)


cdef inline bint survey(InstructionFetch fetch, DataMemory data, const Plan* plan, Run* run,
                        int64_t clock, bint marked) noexcept nogil:
    """Performs the block's fetches and accesses in order, as long as they have the usual latency.
    Returns whether all of them had, and the block is memoizable; a block with marks is not."""
    cdef uint64_t line = plan.first_window >> fetch.line_shift, last_line = line + plan.more_lines
    cdef int64_t at
    cdef uint32_t access = 0
    cdef int known
    cdef const Reach* met = NULL         # the last read that met another one in a bank
    cdef const Reach* reach = plan.reaches
    cdef const Reach* beyond = reach + plan.access_count
    data.l2.banks.block += 1
    if marked or not plan.plain:
        return False
    run.slow_window = NO_WINDOW
    while line <= last_line:
        if not fetch.quick_line(line, clock):              # windows of a line arrive together
            run.slow_window = max(line << fetch.line_shift, plan.first_window)
            break
        line += 1
    while reach < beyond:
        if not executed(run.word, reach.condition):
            reach += 1
            continue
        at = clock + reach.group
        if reach.checks:
            known = 1
        elif reach.kind == ACCESS_LOAD:
            known = familiar_load(data, run.addresses[access], reach.size, at)
            if known == NOT_FAMILIAR and access < MOST_SERVED and run.slow_window == NO_WINDOW \
                    and (met == NULL or is_beside(data, met, reach)):
                known = data.other_load(run.addresses[access], reach.size, plan.steps[reach.step].access_flags, at)
                if known == PLAIN:
                    run.served |= <uint64_t>SERVED_BY_L2 << 2 * access
            elif known == NOT_FAMILIAR:
                known = data.quick(run.addresses[access], reach.size, reach.kind, at)
        elif met != NULL and not is_beside(data, met, reach):
            known = 0
        else:
            known = not reach.releases or at >= data.l2.reads_done
            known = known and data.quick(run.addresses[access], reach.size, reach.kind, at)
        if not known:
            survey_rest(data, plan, run, <uint32_t>(reach - plan.reaches), access, clock)
            return False
        if reach.kind == ACCESS_FLOAT_LOAD and not reach.checks and data.l2.banks.turn:
            if access >= MOST_SERVED:
                return False
            run.served |= <uint64_t>data.l2.banks.turn << 2 * access
            met = reach
        access += 1
        run.made = access
        reach += 1
    return run.slow_window == NO_WINDOW
