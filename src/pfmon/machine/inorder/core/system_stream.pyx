"""A machine's reading of a whole system's stream: marks give its pages their frames, and code has physical addresses."""

from libc.stdint cimport uint64_t

from pfmon.stream._stream cimport BLOCK_MASK, Mark, mark_kind, mark_value


cdef void consume_system(Machine machine, const uint64_t* words, uint64_t count) noexcept nogil:
    """`Machine.consume` for a whole system's stream."""
    cdef uint64_t i = 0, word
    cdef const BlockPlan* plan
    machine.begin_words()
    while i < count:
        word = words[i]
        if word >> 63:
            take_system_mark(machine, word)
            i += 1
            continue
        plan = plan_of(machine.plans, word & BLOCK_MASK)
        if plan == NULL:
            machine.fail(machine.plans.failure)
            return
        prefetch(words + i + WORDS_AHEAD)
        prefetch(&plan.branch)
        prefetch(plan + 1)
        run_system_block(machine, plan.ip)
        if machine.event_sets.due:
            machine.event_sets.change()
        hold(&machine.held, words + i, plan)
        begin_system_block(machine, plan)
        i += machine.held.word_count
    machine.end_words()


cdef inline void take_system_mark(Machine machine, uint64_t mark) noexcept nogil:
    """Takes a mark; a page's frame holds for the held block, too."""
    cdef int kind = mark_kind(mark)
    if kind == Mark.PAGE_ADDRESS or kind == Mark.PAGE_FRAME:
        machine.pages.take_page(mark)
    elif kind == Mark.WALK_ADDRESS or kind == Mark.PURGE_ADDRESS:
        hold_mark(&machine.held, mark)       # with the mark before it
    elif kind == Mark.FRAME and machine.held.words == NULL and machine.timing.last == BLOCK_MASK:
        set_frame(&machine.pipeline.frames, mark_value(mark))        # before the first block
        set_frame_levels(&machine.pipeline.frames, machine.replay.now)
    else:
        if machine.held.mark_count + 2 > MAX_BLOCK_MARKS:    # interruptions, and nothing that retires between them
            machine.advance(0)
            machine.held.mark_count = 0      # before the first block they are of none
        machine.take_mark(mark)


cdef inline void run_system_block(Machine machine, uint64_t next_ip) noexcept nogil:
    """Runs the held block with its marks, or marks alone; control goes to ``next_ip``."""
    if machine.alone and machine.held.words != NULL and machine.held.plan.fast and not machine.held.mark_count:
        run_fast_block(machine.timing, &machine.held, machine.held_addresses(), next_ip)
    else:
        machine.run_held_block(next_ip)


cdef inline void begin_system_block(Machine machine, const BlockPlan* plan) noexcept nogil:
    """The block is the next to be fetched."""
    cdef uint64_t alias = <uint64_t>plan.alias << ALIAS_SHIFT
    machine.fetch.begin_block(plan.first_window, alias)
    machine.pages.enter_code(plan.ip, plan.first_window >> FRAME_SHIFT << FRAME_SHIFT | alias)
