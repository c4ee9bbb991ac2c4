"""The fast path through a block. It has one caller (machine.pyx), into whose loop the compiler inlines it."""

from libc.stdint cimport uint64_t

from pfmon.machine.code cimport Plan
from pfmon.machine.run cimport Run, begin_run
from pfmon.machine.survey cimport survey
from pfmon.machine.timing cimport Timing


cdef inline void easy_block_ran(Timing timing, const Plan* plan, uint64_t next_ip) noexcept nogil:
    """`Timing.block_ran` for a machine that runs alone, and an easy block without marks: with the same effect."""
    cdef Run run
    cdef uint64_t outcome
    begin_run(&run, timing.block[0], timing.block + 1, plan.first_window)
    outcome = timing.predict(plan, &run, next_ip)
    run.quick = survey(timing.fetch, timing.data, plan, &run, timing.now, False)
    timing.give_time(plan, &run, outcome, True)
    if plan.moves_frames:
        timing.follow_frames(plan, &run)
    if plan.has_hints or (run.taken and (plan.branch.many or timing.fetch.stream.active)):
        timing.give_hints(plan, &run, next_ip)
    timing.last = run.number
