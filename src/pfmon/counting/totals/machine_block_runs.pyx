"""Runs of blocks from a machine that counts them itself: no reader of the stream beside it is needed."""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.machine._machine cimport IntervalBlock, IntervalMachine, counts_of
from pfmon.stream._stream cimport ALWAYS, BANKS


def add_runs(Tally tally, IntervalMachine machine):
    """Counts in ``tally`` all blocks that have run on a finished machine. MemoryError."""
    cdef uint64_t bank, i, ran
    cdef IntervalBlock* plan
    if not tally.room():
        raise MemoryError
    for bank in range(BANKS):
        for i in range(machine.plans.capacity[bank]):
            plan = machine.plans.plans[bank][i]
            ran = counts_of(plan).ran if plan != NULL else 0
            if ran == 0:
                continue
            if plan.condition == ALWAYS:
                tally.add_runs_of(plan.number, ran)
                continue
            tally.add_runs_of(plan.number, ran - plan.held)
            if plan.held:
                tally.add_runs_of(plan.number | <uint64_t>1 << (32 + plan.condition), plan.held)
