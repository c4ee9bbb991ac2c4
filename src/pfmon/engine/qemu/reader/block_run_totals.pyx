"""Block runs from the counters in translated code (totals.c), for runs that need no order."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from pfmon.stream._stream cimport (
    BLOCK_MASK, Consumer, Cut, Failure, Mark, NO_INSTRUCTION, PathHead, copy_start, indexed, mark_word)


cdef struct Faults:              # of the blocks so far
    uint64_t died_at             # last instruction of the block that ended the program; 0: found or none
    uint64_t times
    uint64_t block, place        # of the latest fault

cdef uint64_t MAX_BLOCK_RUNS = 0xFFFFFFFF
cdef uint64_t MAX_RUN_COUNT = <uint64_t>1 << 48    # limit of all runs, and of a counter: days of execution


cdef uint64_t pass_totals(Describer describer, Consumer consumer, bint faulted, uint64_t* where) except? -1:
    """Give a consumer the runs of all described blocks with counters; returns the number of retired instructions.
    ``faulted``: a fault ended the program; if the last begun block ends with an instruction without a counter, that one
    faulted. ``where`` becomes the address of the faulting instruction, if there was a single fault. The program can
    overwrite counters: impossible values fail the consumer."""
    cdef uint64_t counters[MAX_TRANSLATED_INSTRUCTIONS + 1]
    cdef uint64_t number, retired = 0, runs = 0
    if describer.announced.in_line:
        return pass_counted_in_line(describer, consumer)
    cdef Faults faults
    faults.died_at = faults.times = faults.block = faults.place = 0
    cdef const Kept* it
    if faulted and read_once(&describer.announced.shared.begun) \
            == read_once(&describer.announced.shared.doubtful_at) + 1:
        faults.died_at = read_once(&describer.announced.shared.doubtful)
    for number in range(describer.announced.count):
        it = &describer.announced.kept[number]
        if it.counters:
            memcpy(counters, describer.announced.counters(it), it.counters * sizeof(uint64_t))
            runs += counters[0]
            if not are_sound(describer, it, counters) or runs > MAX_RUN_COUNT:
                consumer.fail(Failure.BAD_STREAM)
                return retired
            retired += pass_block_runs(number, it, counters, describer, consumer, &faults)
    if faulted and faults.times == 1:
        where[0] = describer.table.c.instructions[describer.table.c.heads[faults.block].first + faults.place].address
    return retired


cdef uint64_t pass_counted_in_line(Describer describer, Consumer consumer) noexcept nogil:
    """Give a consumer the runs of all described blocks and paths, each of which has a counter (engine/x86_64)."""
    cdef const PathHead* path
    cdef uint64_t number, block, times, retired = 0, runs = 0
    for number in range(describer.announced.count):
        times = describer.announced.counter_in_line(describer.announced.kept[number].counter)
        if not is_possible(times, &runs):
            break
        retired += times * describer.announced.kept[number].instructions
        pass_whole_runs(number, times, consumer)
    for number in range(describer.announced.paths.count):
        path = &describer.announced.paths.heads[number]
        times = describer.announced.counter_in_line(path.counter)
        if not is_possible(times, &runs):
            break
        retired += times * describer.announced.paths.sizes[number].instructions
        for block in range(path.first, path.first + path.blocks):
            pass_whole_runs(describer.announced.paths.words[block] & BLOCK_MASK, times, consumer)
    if runs > MAX_RUN_COUNT:
        consumer.fail(Failure.BAD_STREAM)
    return retired


cdef inline bint is_possible(uint64_t times, uint64_t* runs) noexcept nogil:
    """Whether a counter, added to those before, is within the limit of all runs."""
    runs[0] += min(times, MAX_RUN_COUNT + 1)
    return runs[0] <= MAX_RUN_COUNT


cdef bint are_sound(Describer describer, const Kept* it, const uint64_t* counters) noexcept nogil:
    """Whether a block has the right number of counters, with possible values."""
    cdef const uint8_t* sizes = describer.announced.sizes + it.first_size
    cdef uint32_t i, marks = 0
    for i in range(it.instructions - 1):
        marks += sizes[i] & MAY_FAULT != 0
    for i in range(it.counters):
        if counters[i] > MAX_RUN_COUNT:
            return False
    return it.counters == marks + 2


cdef uint64_t pass_block_runs(uint64_t first, const Kept* it, const uint64_t* counters, Describer describer,
                         Consumer consumer, Faults* faults) except? -1:
    """Give a consumer the runs of one block, and of its beginnings that ended in a fault. Counters say how often each
    instruction that may fault was passed: the difference to the previous one is its number of faults."""
    cdef const uint8_t* sizes = describer.announced.sizes + it.first_size
    cdef uint64_t reached = counters[0], behind, retired = 0, whole
    cdef uint32_t number, place, mark = 0, last_slots = sizes[it.instructions - 1] >> SLOTS_SHIFT & 3
    if reached == 0:
        return 0
    for place in range(it.instructions - 1):
        if sizes[place] & MAY_FAULT:
            mark += 1
            behind = min(reached, counters[mark])
            retired += pass_partial_runs(first, place, reached - behind, describer, consumer, faults)
            reached = behind
    whole = runs_of_last(it, last_slots, reached, counters[it.counters - 1])
    if whole and faults.died_at and faults.died_at == it.last_ip:
        whole -= 1
        faults.died_at = 0
    retired += pass_partial_runs(first, it.instructions - 1, reached - whole, describer, consumer, faults)
    for number in range(it.parts):
        pass_whole_runs(first + number, whole, consumer)
    return retired + whole * it.instructions


cdef uint64_t runs_of_last(const Kept* it, uint32_t slots, uint64_t reached, uint64_t counted) noexcept nogil:
    """How often a block's last instruction retired, when reached ``reached`` times. ``counted``: its accesses, of which
    qemu may make several for an operand, but always equally many; or the iterations of a string instruction."""
    cdef uint64_t each
    if reached == 0:
        return 0
    if it.tail == COUNTED and it.accesses:
        return min(reached, counted // it.accesses)
    if it.tail == REPEATED:
        return reached - min(reached, counted)
    if it.tail == SUCCESSOR and slots and counted:
        each = max(<uint64_t>1, counted // reached + (counted % reached != 0))
        return min(reached, counted // each)
    return reached


cdef void pass_whole_runs(uint64_t block, uint64_t times, Consumer consumer) noexcept nogil:
    """Give a consumer a number of runs of a block."""
    cdef uint64_t words[2]
    while times:
        words[0] = block
        words[1] = mark_word(Mark.TIMES, indexed(min(times - 1, MAX_BLOCK_RUNS), NO_INSTRUCTION))
        consumer.consume(words, 2 if times > 1 else 1)
        times -= 1 + min(times - 1, MAX_BLOCK_RUNS)


cdef uint64_t pass_partial_runs(uint64_t block, uint64_t length, uint64_t times, Describer describer, Consumer consumer,
                         Faults* faults) noexcept nogil:
    """Count runs of a block's first instructions, possibly of several parts, that ended in a fault; returns the number
    of instructions."""
    cdef uint64_t left = length
    cdef uint32_t fresh
    if times == 0:
        return 0
    faults.times += times
    while left >= describer.table.c.heads[block].length:
        pass_whole_runs(block, times, consumer)
        left -= describer.table.c.heads[block].length
        block += 1
    faults.block, faults.place = block, left
    if left:
        fresh = copy_start(&describer.table.c, block, <uint32_t>left, Cut.FAULTED)
        if fresh == 0:
            consumer.fail(<Failure>describer.table.c.header.failure)
            return 0
        pass_whole_runs(fresh, times, consumer)
    return times * length
