"""How often each block ran, from the counters that translated code has added to (totals.c): the stream of a run whose order
nobody wants."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from pfmon.stream.consumer cimport Consumer
from pfmon.stream.failure cimport Failure
from pfmon.stream.table cimport Cut, copy_start
from pfmon.stream.words cimport Mark, NO_INSTRUCTION, indexed, mark_word

from pfmon.engine.qemu.describe cimport (AREA_HEAD, COUNTED, MAY_FAULT, REPEATED, SLOTS_SHIFT, SUCCESSOR, Describer,
                                         announcement, area, counters_of, room_of)

cdef struct Faults:              # of the blocks so far
    uint64_t died_at             # the last instruction of a block that ended the program, until it was found; 0: none
    uint64_t times
    uint64_t block, place        # of the latest one

cdef uint64_t MOST_TIMES = 0xFFFFFFFF


cdef uint64_t give_totals(const area* shared, Describer describer, Consumer consumer, bint faulted,
                          uint64_t* where) except? -1:
    """Give a consumer all blocks with counters that have been described; how many instructions retired in them.
    ``faulted``: that is how the program ended; if the block that began last ends with an instruction without a counter, it
    was that. ``where`` becomes the address of the instruction that faulted, if only one ever did."""
    cdef uint64_t at = 0, retired = 0
    cdef Faults faults
    faults.died_at = faults.times = faults.block = faults.place = 0
    cdef const announcement* it
    if faulted and shared.begun == shared.doubtful_at + 1:
        faults.died_at = shared.doubtful
    while at < describer.done:
        it = <const announcement*>(<const uint8_t*>shared + AREA_HEAD + at)
        if it.counters:
            retired += give_block(it, describer, consumer, &faults)
        at += room_of(it)
    if faulted and faults.times == 1:
        where[0] = describer.table.c.instructions[describer.table.c.heads[faults.block].first + faults.place].address
    return retired


cdef uint64_t give_block(const announcement* first, Describer describer, Consumer consumer,
                         Faults* faults) except? -1:
    """Give a consumer the runs of one block, and of the beginnings that were left for a fault. How often it got behind each
    instruction that may fault is known: the difference to the one before is how often that one did."""
    cdef const uint64_t* counters = counters_of(first)
    cdef const announcement* part = first
    cdef const uint8_t* sizes
    cdef uint64_t reached = counters[0], behind, retired = 0, whole
    cdef uint32_t number, i, place = 0, mark = 0, last_slots = 0
    if reached == 0:
        return 0
    for number in range(first.parts):
        sizes = <const uint8_t*>(part + 1)
        for i in range(part.length):
            if sizes[i] & MAY_FAULT and place < first.instructions - 1:
                mark += 1
                behind = counters[mark]
                retired += give_start(first.number, place, reached - behind, describer, consumer, faults)
                reached = behind
            last_slots = sizes[i] >> SLOTS_SHIFT & 3
            place += 1
        part = <const announcement*>(<const uint8_t*>part + room_of(part))
    whole = runs_of_last(first, last_slots, reached, counters[first.counters - 1])
    if whole and faults.died_at and faults.died_at == first.last_ip:
        whole -= 1
        faults.died_at = 0
    retired += give_start(first.number, first.instructions - 1, reached - whole, describer, consumer, faults)
    for number in range(first.parts):
        give_runs(first.number + number, whole, consumer)
    return retired + whole * first.instructions


cdef uint64_t runs_of_last(const announcement* it, uint32_t slots, uint64_t reached, uint64_t counted) noexcept nogil:
    """How often the last instruction of a block retired, that was reached so often. ``counted``: its accesses, of which
    qemu may make several for an operand, but always as many; or the iterations of a string instruction."""
    cdef uint64_t each
    if reached == 0:
        return 0
    if it.tail == COUNTED and it.accesses:
        return min(reached, counted // it.accesses)
    if it.tail == REPEATED:
        return reached - min(reached, counted)
    if it.tail == SUCCESSOR and slots and counted:
        each = (counted + reached - 1) // reached
        return counted // each
    return reached


cdef void give_runs(uint64_t block, uint64_t times, Consumer consumer) noexcept nogil:
    """A block ran so many times."""
    cdef uint64_t words[2]
    while times:
        words[0] = block
        words[1] = mark_word(Mark.TIMES, indexed(min(times - 1, MOST_TIMES), NO_INSTRUCTION))
        consumer.consume(words, 2 if times > 1 else 1)
        times -= 1 + min(times - 1, MOST_TIMES)


cdef uint64_t give_start(uint64_t block, uint64_t length, uint64_t times, Describer describer, Consumer consumer,
                         Faults* faults) noexcept nogil:
    """The first instructions of a block, which may have several parts, retired so many times and the next one did not; how
    many these are in all."""
    cdef uint64_t left = length
    cdef uint32_t fresh
    if times == 0:
        return 0
    faults.times += times
    while left >= describer.table.c.heads[block].length:
        give_runs(block, times, consumer)
        left -= describer.table.c.heads[block].length
        block += 1
    faults.block, faults.place = block, left
    if left:
        fresh = copy_start(&describer.table.c, block, <uint32_t>left, Cut.FAULT)
        if fresh == 0:
            consumer.fail(<Failure>describer.table.c.header.failure)
            return 0
        give_runs(fresh, times, consumer)
    return times * length
