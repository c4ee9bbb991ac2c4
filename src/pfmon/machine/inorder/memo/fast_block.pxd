"""The fast path through a block. It has one caller (machine.pyx), into whose loop the compiler inlines it."""

from libc.stdint cimport uint64_t


cdef inline void fast_block_ran(Timing timing, const BlockPlan* plan, uint64_t next_ip) noexcept nogil:
    """`Timing.block_ran` for a machine that runs alone, and an easy block without marks: with the same effect."""
    cdef BlockExecution run
    cdef uint64_t outcome
    begin_execution(&run, timing.block[0], timing.block + 1, plan.first_window)
    outcome = timing.predict(plan, &run, next_ip)
    run.quick = run_fast_path(timing.fetch, timing.data, plan, &run, timing.now, False)
    timing.simulate_or_replay(plan, &run, outcome, True)
    if plan.moves_frames:
        timing.follow_frames(plan, &run)
    if plan.has_hints or (run.taken and (plan.branch.many or timing.fetch.stream.active)):
        timing.apply_hints(plan, &run, next_ip)
    timing.last = run.number
