"""Timing of blocks: the mechanisms of a machine, and their use for a block.

On the fast path, without misses and conflicts, the block's accesses are performed at once. The memo replays the block's
timing if the block ran before from the same state of the pipeline and with the same responses of memory; otherwise the
pipeline simulates it (memo_replay.pyx). Events go into the records.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from pfmon.isa.ia64._encodings cimport (
    EFFECT_FLUSH_LINE, EFFECT_HINT, EFFECT_IMPORTANT_HINT, EFFECT_LOADRS, EFFECT_SERIALIZE, Fault)
from pfmon.stream._stream cimport (
    BLOCK_MASK, Cut, Deferral, Failure, INDEX_SHIFT, Mark, executed, mark_kind, mark_value, unpacked_address)


cdef enum:
    MEMO_BYTES = 96 << 20
    FAST_PATH_SHIFT = PREDICTION_BITS    # of `fast_path_code` in an outcome

cdef uint64_t FAST_PATH_LOST = 1 << 16


cdef inline bint is_repeatable(const BlockExecution* run) noexcept nogil:
    """Whether the block is memoizable: determined by state, word, branch and responses of memory. Accesses in a data
    range change the events recorded, and properties known only from marks change the requests."""
    cdef const BlockMarks* block_marks = run.block_marks
    return not (run.ranged[0] | run.ranged[1]) and (
        block_marks == NULL
        or not (block_marks.is_tiny or block_marks.failed[0] | block_marks.failed[1]
                | block_marks.deferred[0] | block_marks.deferred[1]))


cdef inline uint64_t fast_path_code(const BlockPlan* plan, const BlockExecution* run) noexcept nogil:
    """Returns the extent of the fast path, as a part of a node's outcome: 0: all; FAST_PATH_LOST: not encodable."""
    cdef uint64_t windows
    if run.quick:
        return 0
    if run.slow_window == 0 or run.slow_window == NO_WINDOW:
        return (1 if run.slow_window else 2) | <uint64_t>run.made << 7
    windows = 3 + (run.slow_window - plan.first_window) // WINDOW
    return windows | <uint64_t>run.made << 7 if windows < 128 else FAST_PATH_LOST


cdef class Timing(MemoReplay):
    """``config``: the machine's figures. ``ranges``: (address, mask) of the data ranges. Without ``memo`` everything is
    simulated: slow, with the same results. ``event_sets``: number of event sets in the records. ``beside``: the machine
    of the other hardware thread of the core, whose caches, TLBs and predictor tables this one shares; ``thread``: its
    number; ``same_program``: both have the same addresses."""

    def __cinit__(self, config, table, ranges=(), bint memo=True, uint32_t event_sets=1, Timing beside=None,
                  uint32_t thread=0, bint same_program=False):
        self.thread_id = THREAD_ID if thread else 0
        self.code_id = 0 if same_program else self.thread_id
        self.plans = BlockPlans(config, table, self.code_id)
        self.records = Records(event_sets)
        if beside is None:
            self.l2 = L2(config)
            self.data = DataMemory(config, self.l2)
            self.predictor = branch_predictor(config)
            self.fetch = InstructionFetch(config, self.l2, self.predictor)
            self.data.fetch = self.fetch
        else:
            self.l2, self.data, self.predictor, self.fetch = beside.l2, beside.data, beside.predictor, beside.fetch
        self.pipeline = Pipeline(config, self.data, self.fetch, self.predictor, self.records)
        self.memo = Memo(self.records, MEMO_BYTES)
        self.memoize = memo
        self.last = BLOCK_MASK           # none
        start_branch_registers(&self.branch_registers)
        self.set_ranges(ranges)

    def set_ranges(self, ranges):
        """Sets the data ranges from the next instruction on: (address, mask) each. No block may be held: call
        `update_records` first."""
        set_ranges(&self.pipeline.ranges, [(address | (self.thread_id & mask), mask) for address, mask in ranges])

    # --- a block

    cdef void block_ran(self, uint64_t next_ip) noexcept nogil:
        """Runs the held block; control goes to ``next_ip``."""
        cdef BlockExecution run
        cdef BlockMarks block_marks
        cdef uint64_t outcome
        cdef uint32_t marks = 0
        cdef bint known, looked_up
        cdef int64_t began = self.now
        cdef const BlockPlan* plan = self.plan
        begin_execution(&run, self.block[0], self.block + 1, plan.first_window)
        if self.observer is not None:
            self.records.begin_log()
            self.ran = NULL
            marks = self.mark_count
        if self.listener is not None:
            self.listener.begin()
        outcome = self.predict(plan, &run, next_ip)
        if self.mark_count:
            memset(&block_marks, 0, sizeof(block_marks))
            run.block_marks = &block_marks
            self.collect_marks(plan, &block_marks)
        if self.pipeline.ranges.count:
            self.find_ranged(plan, &run)
        run.quick = run_fast_path(self.fetch, self.data, plan, &run, self.now, self.mark_count != 0)
        known = self.memoize and is_repeatable(&run) and (run.quick or self.listener is None) \
            and not (plan.pauses and self.pipeline.switch is not None)
        looked_up = self.simulate_or_replay(plan, &run, outcome, known)
        if looked_up and self.listener is not None and self.listener.loads and run.made:
            self.report_repeated(plan, &run, self.memo.issued(self.node), began)
        if self.listener is not None and self.listener.flows:
            if (self.ran.cycles & NODE_WRONG_TARGET) != 0 if looked_up else self.pipeline.wrong_target:
                run.prediction |= CODE_WRONG_TARGET
            self.report_branch(plan, &run, next_ip)
        if plan.moves_frames:
            self.follow_frames(plan, &run)
        if plan.has_hints or (run.taken and (plan.branch.many or self.fetch.stream.active)):
            self.apply_hints(plan, &run, next_ip)
        if plan.cut == Cut.FAILED_CHECK or not plan.plain:
            self.flush_behind(plan, &run)
        if self.mark_count:
            self.apply_marks(plan, run.number)
        if self.listener is not None:
            self.record_captures()
        if self.snooped is not None and self.snooped.has_responses:
            self.report_responses(run.number)
        self.last = run.number
        if self.observer is not None:
            self.report_block(marks)

    cdef inline uint64_t predict(self, const BlockPlan* plan, BlockExecution* run, uint64_t next_ip) noexcept nogil:
        """Predicts the block's branch; returns the result, as a part of a node's outcome."""
        if not plan.has_branch:
            if plan.br_writes_end:
                self.follow_branch_registers(plan, run, next_ip)
            return 0
        run.taken = executed(run.word, plan.taken_condition)
        run.prediction = self.predictor.run(&plan.branch, run.taken, next_ip)
        if plan.br_writes_end or plan.branch.through:
            self.follow_branch_registers(plan, run, next_ip)
        return run.prediction

    cdef inline bint simulate_or_replay(self, const BlockPlan* plan, BlockExecution* run, uint64_t outcome,
                                        bint known) noexcept nogil:
        """Replays a block after the fast path, if it is memoizable, else simulates it; returns whether replayed. A
        state of the pipeline does not say which of its waits are the operating system's."""
        cdef uint64_t code = fast_path_code(plan, run)
        cdef int64_t began = self.now
        if code == FAST_PATH_LOST or self.now < self.l2.user_clock.end:
            known = False
        outcome |= code << FAST_PATH_SHIFT
        if not run.quick:
            begin_log(&self.pipeline.access_log, known)
        if not (known and self.repeat(run, outcome)):
            if run.quick:
                begin_log(&self.pipeline.access_log, False)
            self.simulate(plan, run, outcome, known)
            return False
        if self.ran.cycles & NODE_LATE_ACCESSES:
            self.make_late_accesses(plan, run, began)
        if plan.allocs:
            self.repeat_allocs(plan, began)
        return True

    cdef void follow_branch_registers(self, const BlockPlan* plan, BlockExecution* run,
                                      uint64_t next_ip) noexcept nogil:
        """Tracks the block's writes to branch registers, and whether its branch had another target before them."""
        cdef uint32_t i
        for i in range(plan.first_br_write, plan.br_writes_end):
            if plan.steps[i].writes_br and executes(&plan.steps[i], run.word):
                branch_register_written(&self.branch_registers, plan.steps[i].writes_br)
        if plan.branch.through and run.taken:
            if target_differs(&self.branch_registers, plan.branch.through - 1, next_ip) \
                    and self.predictor.reads_registers and not flags_of(run.prediction) & (WRONG_PATH | UNKNOWN_PATH):
                run.prediction |= EARLIER_TARGET << FLAGS_SHIFT

    cdef void report_block(self, uint32_t marks) noexcept nogil:
        """Shows the records of the held block, or of none."""
        cdef ObservedBlock block
        cdef int64_t earliest = self.pipeline.earliest
        cdef bint is_open = self.pipeline.open
        self.records.logging = False
        if self.state:
            earliest = self.now + self.memo.state_at(self.state).earliest
            is_open = self.memo.state_at(self.state).open
        block.now = <uint64_t>(earliest - 1 - is_open)
        block.words, block.marks, block.mark_count = self.block, self.marks, marks
        block.items, block.item_count = self.records.log, self.records.log_count
        block.node, block.node_items, block.node_item_count, block.generation = 0, NULL, 0, self.memo.flushes
        if self.ran != NULL:
            block.node, block.node_items = <uint32_t>(self.ran - self.memo.nodes), self.memo.logs + self.ran.log
            block.node_item_count = self.ran.log_count
        self.observer.on_block(&block)

    cdef void find_ranged(self, const BlockPlan* plan, BlockExecution* run) noexcept nogil:
        """Finds the accesses in the data ranges."""
        cdef uint64_t k
        for k in range(self.block_count - 1):
            run.ranged[k >> 6 & 1] |= in_ranges(&self.pipeline.ranges, run.addresses[k]) << (k & 63)

    cdef void report_responses(self, uint64_t number) noexcept nogil:
        """Records snoop responses to another core, after the block's records: they are not part of the memo's records
        of a block."""
        self.pipeline.event_log.context = 0
        self.snooped.record_responses(&self.pipeline.event_log)
        self.record_unattributed(number, 0)

    # --- losses

    cdef void check_for_losses(self) noexcept nogil:
        """Sets this machine's failure from the mechanisms' sticky flags of lost entries.

        Limits that only make blocks not memoizable are no losses (scoreboard.MAX_PENDING_RESULTS,
        pipeline_state.MAX_STATE_WAITS, accesses beyond 64 of a block that L2 serves): such a block is simulated, with
        the same result.
        """
        if self.records.lost or self.memo.lost or self.pipeline.frames.lost or self.data.table.lost \
                or self.fetch.table.lost:
            self.fail(Failure.OUT_OF_MEMORY)
        if self.pipeline.event_log.lost or (self.listener is not None and self.listener.lost):
            self.fail(Failure.TOO_MANY_OCCURRENCES)
        if self.pipeline.front_end.lost or self.pipeline.frames.current_level.lost \
                or self.pipeline.frames.dirty_level.lost or self.data.lost() or self.fetch.lost() or self.l2.lost():
            self.fail(Failure.TOO_MANY_ENTRIES)

    # --- after a block

    cdef void follow_frames(self, const BlockPlan* plan, const BlockExecution* run) noexcept nogil:
        """Tracks register frames through calls, returns and rotation."""
        cdef uint32_t moved = 0
        if plan.rotates:
            if self.state:
                self.state = self.memo.shifted(self.state, 0, True, self.pipeline.frames.now.sor)
            else:
                self.pipeline.rotate()
        elif run.taken and plan.calls:
            moved = enter_frame(&self.pipeline.frames)
        elif run.taken and plan.returns:
            moved = -leave_frame(&self.pipeline.frames)
        if moved and self.state:
            self.state = self.memo.shifted(self.state, moved, False, 0)
        set_frame_levels(&self.pipeline.frames, self.now)

    cdef void apply_hints(self, const BlockPlan* plan, const BlockExecution* run, uint64_t next_ip) noexcept nogil:
        """Hints to prefetch and prediction; what they cause belongs to no cycle with an issue."""
        cdef uint32_t i
        cdef const PipelineOp* step
        if plan.has_hints:
            for i in range(plan.length):
                step = &plan.steps[i]
                if step.effect < EFFECT_HINT or step.access:
                    continue
                self.pipeline.event_log.context = <uint64_t>i << EVENT_INSTRUCTION_SHIFT
                if step.effect == EFFECT_FLUSH_LINE:     # of a recording without its address
                    if executes(step, run.word):
                        self.fetch.record_flush(&self.pipeline.event_log)
                else:
                    self.predictor.hint(<uint64_t>step.y, <uint64_t>step.imm, step.effect == EFFECT_IMPORTANT_HINT)
                    hint(self.fetch, &self.pipeline.event_log, <uint64_t>step.imm, self.now)
                self.record_unattributed(run.number, i)
        if run.taken:
            self.pipeline.event_log.context = <uint64_t>(plan.length - 1) << EVENT_INSTRUCTION_SHIFT
            redirect(self.fetch, &self.pipeline.event_log, next_ip, plan.branch.many, self.now)
            self.record_unattributed(run.number, plan.length - 1)

    # --- marks

    cdef void collect_marks(self, const BlockPlan* plan, BlockMarks* block_marks) noexcept nogil:
        """Reads marks needed before the block is simulated: failed checks, deferred loads, tiny results."""
        cdef uint32_t i, instruction
        for i in range(self.mark_count):
            instruction = <uint32_t>(self.marks[i] >> INDEX_SHIFT & 0xFF)
            if instruction >= MAX_PLAN_LENGTH:
                continue
            if mark_kind(self.marks[i]) == Mark.ALAT_MISS:
                set_bit(block_marks.failed, instruction)
                if mark_value(self.marks[i]) & 1:
                    set_bit(block_marks.float_check, instruction)
            elif mark_kind(self.marks[i]) == Mark.FLUSH_TO_ZERO:
                block_marks.is_tiny = True
                block_marks.flushed[instruction] += mark_value(self.marks[i]) == 1
                block_marks.kept[instruction] += mark_value(self.marks[i]) == 0
            elif mark_kind(self.marks[i]) == Mark.DEFERRED:
                set_bit(block_marks.deferred, instruction)
                if mark_value(self.marks[i]) == Deferral.NO_PAGE:
                    set_bit(block_marks.no_page, instruction)
                elif mark_value(self.marks[i]) == Deferral.NO_ADDRESS:
                    set_bit(block_marks.no_address, instruction)

    cdef void flush_behind(self, const BlockPlan* plan, const BlockExecution* run) noexcept nogil:
        """Applies instructions of the block that flush the pipeline."""
        cdef uint32_t i
        self.restore_pipeline()
        if plan.cut == Cut.FAILED_CHECK:
            self.pipeline.flush(run.number, XPN, self.pipeline.failed_check)
        for i in range(plan.length if not plan.plain else 0):
            if plan.steps[i].effect == EFFECT_SERIALIZE:
                self.pipeline.flush(run.number, XPN, self.pipeline.serialize)

    cdef void apply_marks(self, const BlockPlan* plan, uint64_t number) noexcept nogil:
        """Stalls or flushes the pipeline after the block, by its marks, which are consumed."""
        cdef uint32_t i, instruction
        cdef uint64_t mark, address
        cdef uint32_t cause
        cdef int kind
        self.restore_pipeline()
        for i in range(self.mark_count):
            mark = self.marks[i]
            kind = mark_kind(mark)
            if self.listener is not None:
                self.report_mark(plan, number, mark)
            instruction = <uint32_t>(mark >> INDEX_SHIFT & 0xFF)
            if kind == Mark.SPILL or kind == Mark.FILL:
                address = 0
                if i + 1 < self.mark_count and mark_kind(self.marks[i + 1]) == Mark.RSE_ADDRESS:
                    address = unpacked_address(self.marks[i + 1]) | self.thread_id
                cause = RSE_OVERFLOW if kind == Mark.SPILL else RSE_UNDERFLOW
                if kind == Mark.FILL and instruction < plan.length and plan.steps[instruction].effect == EFFECT_LOADRS:
                    cause = RSE_LOADRS
                move_registers(self.pipeline, number, instruction, <uint32_t>(mark & 0xFFFF), address, cause)
            elif kind == Mark.SYSTEM_CALL or kind == Mark.FAULT or kind == Mark.THREAD:
                if kind != Mark.THREAD or i == 0 or mark_kind(self.marks[i - 1]) != Mark.SYSTEM_CALL:
                    self.record_interruption(plan, number, instruction, mark)
                self.pipeline.flush(number, XPN, self.pipeline.exception)
                self.pipeline.interrupt(number, self.pipeline.system_call if kind == Mark.SYSTEM_CALL
                                        else self.pipeline.fault if kind == Mark.FAULT
                                        else self.pipeline.task_switch)
        set_frame_levels(&self.pipeline.frames, self.now)
        self.mark_count = 0

    cdef void record_interruption(self, const BlockPlan* plan, uint64_t number, uint32_t instruction,
                                 uint64_t mark) noexcept nogil:
        """Records an entry to and exit from the operating system: by a system call, a fault or the clock, whose
        interrupt ends a thread's quantum. A floating-point interruption is qualified by the last retired instruction, a
        trap's own."""
        cdef uint64_t fault = mark_value(mark)
        self.pipeline.event_log.context = <uint64_t>instruction << EVENT_INSTRUCTION_SHIFT
        record(&self.pipeline.event_log, Occurrence.LEVEL_CHANGED, ROUND_TRIP)
        if mark_kind(mark) == Mark.FAULT and (fault == Fault.FAULT_FP_FAULT or fault == Fault.FAULT_FP_TRAP):
            self.pipeline.event_log.context = <uint64_t>min(instruction, plan.length - 1) << EVENT_INSTRUCTION_SHIFT
            record(&self.pipeline.event_log, Occurrence.FLOAT_INTERRUPTED, 1)
        self.record_unattributed(number, instruction)

    cdef void apply_late_marks(self) noexcept nogil:
        """Applies marks of a block that was no longer held."""
        cdef const BlockPlan* plan
        if self.last != BLOCK_MASK:
            plan = self.plans.plan(self.last)
            if plan != NULL:
                self.apply_marks(plan, self.last)
            else:
                self.fail(self.plans.failure)
