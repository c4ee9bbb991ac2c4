"""Totals of a machine's records: each record's count times its increments (record_counts.pyx); runs of blocks that a
machine counts itself, so that no reader of the stream beside it is needed.
"""

cimport cython
from libc.stdint cimport uint32_t, uint64_t

from pfmon.machine._machine cimport IntervalMachine, IntervalPath, MissMachine, PathStep, Records, Totals, WordPlan, steps_of
from pfmon.stream._stream cimport ALWAYS, BlockTable

from pfmon.signals.machine_signals import level_function


def level_total(levels, term, threshold=0):
    """Sums a level's function over all cycles; with a threshold counts the cycles in which it is greater."""
    function = level_function(term)
    histogram = levels[function.level]
    values = [(function.of(value, len(histogram) - 1), cycles) for value, cycles in enumerate(histogram)]
    if threshold:
        return sum([cycles for value, cycles in values if value > threshold])
    return sum([value * cycles for value, cycles in values])


@cython.final
cdef class MachineTotals:
    """As of the machine's `update_records` or `finish`; ``event_sets``: the event sets included, None: all."""

    cdef RecordCounts counts

    def __cinit__(self, machine, queries, Increments increments, BlockTable table, int stack_rate):
        self.counts = RecordCounts(queries, increments, table, machine.records, stack_rate)

    def add(self, CountAccumulator sink, event_sets=None):
        """Adds the monitors' counts to a sink."""
        cdef RecordCounts counts = self.counts
        cdef Records records = counts.records
        cdef Totals parts = records.part_totals(event_sets), bubbles = records.bubble_totals(event_sets)
        cdef uint32_t i
        with nogil:
            for i in range(1, records.part_count):
                if parts.counts[i]:
                    counts.add_part(i, <long long>parts.counts[i], sink)
            for i in range(records.bubble_count):
                if bubbles.counts[i]:
                    counts.add_bubble(i, <long long>bubbles.counts[i], sink)


def add_runs(Tally tally, IntervalMachine machine):
    """Counts in ``tally`` all blocks that have run on a finished machine. MemoryError."""
    cdef uint64_t which, i
    if not tally.room():
        raise MemoryError
    for which in range(3):
        for i in range(machine.paths.capacity[which]):
            if machine.paths.plans[which][i] != NULL:
                add_runs_of_path(tally, machine.paths.plans[which][i])


cdef void add_runs_of_path(Tally tally, IntervalPath* path) noexcept nogil:
    """Counts the blocks of a path."""
    cdef PathStep* step = steps_of(path)
    cdef PathStep* last = step + (path.blocks - 1)
    cdef uint64_t runs = path.runs[0] + path.runs[1]
    if runs == 0:
        return
    while step < last:
        tally.add_runs_of(step.word, runs)
        step += 1
    if path.runs[0]:
        tally.add_runs_of(last.block.number, path.runs[0])
    if path.runs[1]:
        tally.add_runs_of(last.block.number | <uint64_t>1 << path.condition_bit, path.runs[1])


def add_word_runs(Tally tally, MissMachine machine):
    """Counts in ``tally`` all blocks that have run on a finished machine without time. MemoryError."""
    cdef uint64_t which, i
    if not tally.room():
        raise MemoryError
    for which in range(3):
        for i in range(machine.plans.capacity[which]):
            if machine.plans.plans[which][i] != NULL:
                add_runs_of_plan(tally, machine.plans.plans[which][i])


cdef void add_runs_of_plan(Tally tally, const WordPlan* plan) noexcept nogil:
    """Counts the blocks of a plan: the conditions of all but the last are its steps'."""
    cdef uint64_t runs = plan.runs[0] + plan.runs[1], word
    cdef uint32_t block, step = 0
    if runs == 0:
        return
    for block in range(plan.blocks - 1):
        word = plan.parts[block].number
        if step < plan.step_count and plan.steps[step].block == block:
            if plan.steps[step].condition != ALWAYS:
                word |= <uint64_t>plan.steps[step].taken << (32 + plan.steps[step].condition)
            step += 1
        tally.add_runs_of(word, runs)
    word = plan.parts[plan.blocks - 1].number
    if plan.runs[0]:
        tally.add_runs_of(word, plan.runs[0])
    if plan.runs[1]:
        tally.add_runs_of(word | <uint64_t>1 << (32 + plan.last.condition), plan.runs[1])
