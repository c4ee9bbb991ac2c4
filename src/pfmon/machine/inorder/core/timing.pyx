"""Timing of blocks: the use of a machine's mechanisms for a block.

On the fast path, without misses and conflicts, the block's accesses are performed at once. The memo replays the block's
timing if the block ran before from the same state of the pipeline and with the same responses of memory; otherwise the
pipeline simulates it (memo_replay.pyx). Events go into the records.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from pfmon.isa.ia64._encodings cimport (
    EFFECT_FLUSH_LINE, EFFECT_HINT, EFFECT_IMPORTANT_HINT, EFFECT_INSERT_CODE, EFFECT_INSERT_DATA, EFFECT_PURGE,
    EFFECT_SERIALIZE)
from pfmon.stream._stream cimport BLOCK_MASK, Cut, Mark, executed, mark_kind


cdef inline bint is_repeatable(const BlockExecution* run) noexcept nogil:
    """Whether the block is memoizable: determined by state, word, branch and responses of memory. Accesses in a data
    range change the events recorded, and properties known only from marks change the requests."""
    cdef const BlockMarks* block_marks = run.block_marks
    return not (run.ranged[0] | run.ranged[1]) and (
        block_marks == NULL
        or not (block_marks.is_tiny or block_marks.failed[0] | block_marks.failed[1]
                | block_marks.deferred[0] | block_marks.deferred[1] | block_marks.walked[0] | block_marks.walked[1]))


cdef class Timing:
    """``replay`` times a block, ``effects`` applies its marks, ``captures`` and ``shown`` report it. Without ``memo``
    everything is simulated: slow, with the same results."""

    def __cinit__(self, MemoReplay replay, MarkEffects effects, CaptureReporting captures, RecordReporting shown,
                  bint memo):
        self.replay, self.effects, self.captures, self.shown = replay, effects, captures, shown
        self.pipeline, self.data, self.fetch = replay.pipeline, replay.data, replay.fetch
        self.predictor = replay.pipeline.predictor
        self.memoizes = memo
        self.last = BLOCK_MASK
        start_branch_registers(&self.branch_registers)

    # --- a block

    cdef void run(self, HeldBlock* held, const uint64_t* addresses, uint64_t next_ip) noexcept nogil:
        cdef BlockExecution run
        cdef BlockMarks block_marks
        cdef uint64_t outcome
        cdef uint32_t marks = held.mark_count
        cdef bint replayed
        cdef int64_t began = self.replay.now
        cdef const BlockPlan* plan = held.plan
        begin_execution(&run, held.words[0], addresses, held.words + 1, plan.first_window)
        self.shown.begin()
        if self.captures.listener is not None:
            self.captures.listener.begin()
        if marks:
            outcome = self.predict(plan, &run, self.target_of(plan, &run, held, next_ip))
            memset(&block_marks, 0, sizeof(block_marks))
            run.block_marks = &block_marks
            collect_marks(held, &block_marks)
            if self.pages is not None:
                self.collect_walks(held, &block_marks)
        else:
            outcome = self.predict(plan, &run, next_ip)
        if self.pipeline.ranges.count:
            self.find_ranged(plan, &run, held.word_count - 1)
        replayed = self.time(plan, &run, outcome, marks != 0)
        if self.captures.listener is not None:
            self.report(plan, &run, replayed, began, next_ip)
        finish_block(self, plan, &run, next_ip)
        if plan.cut == Cut.FAILED_CHECK or not plan.plain:
            self.flush_behind(plan, &run)
        if marks:
            self.effects.apply(plan, run.number, held, next_ip)
        if self.captures.listener is not None:
            self.captures.record_captures()
        if self.snooped is not None and self.snooped.has_responses:
            self.report_responses(run.number)
        self.last = run.number
        self.shown.report(held, marks)

    cdef inline bint time(self, const BlockPlan* plan, BlockExecution* run, uint64_t outcome,
                          bint marked) noexcept nogil:
        """Makes the block's accesses and computes its cycles; returns whether it was replayed."""
        cdef bint known
        run.quick = run_fast_path(self.fetch, self.data, plan, run, self.replay.now, marked)
        known = self.memoizes and is_repeatable(run) and (run.quick or self.captures.listener is None) \
            and not (plan.pauses and self.pipeline.switch is not None)
        return self.replay.run(plan, run, outcome, known)

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

    cdef void find_ranged(self, const BlockPlan* plan, BlockExecution* run, uint64_t accesses) noexcept nogil:
        """Finds the accesses in the data ranges."""
        cdef uint64_t k
        for k in range(accesses):
            run.ranged[k >> 6 & 1] |= in_ranges(&self.pipeline.ranges, run.named[k]) << (k & 63)

    # --- after a block

    cdef void report(self, const BlockPlan* plan, BlockExecution* run, bint replayed, int64_t began,
                     uint64_t next_ip) noexcept nogil:
        """Reports the block's branch, and its accesses if it was replayed, to the capture listener."""
        if replayed and self.captures.listener.loads and run.made:
            self.captures.report_repeated(plan, run, self.replay.memo.issued(self.replay.node), began)
        if self.captures.listener.flows:
            if (self.replay.ran.cycles & NODE_WRONG_TARGET) != 0 if replayed else self.pipeline.wrong_target:
                run.prediction |= CODE_WRONG_TARGET
            self.captures.report_branch(plan, run, next_ip)

    cdef void follow_frames(self, const BlockPlan* plan, const BlockExecution* run) noexcept nogil:
        """Tracks register frames through calls, returns and rotation."""
        if plan.rotates:
            self.replay.rotate()
        elif run.taken and plan.calls:
            self.replay.move_frame(enter_frame(&self.pipeline.frames))
        elif run.taken and plan.returns:
            self.replay.move_frame(-leave_frame(&self.pipeline.frames))
        set_frame_levels(&self.pipeline.frames, self.replay.now)

    cdef void apply_hints(self, const BlockPlan* plan, const BlockExecution* run, uint64_t next_ip) noexcept nogil:
        """Hints to prefetch and prediction; what they cause belongs to no cycle with an issue."""
        cdef uint32_t i
        cdef const PipelineOp* step
        for i in range(plan.length if plan.has_hints else 0):
            step = &plan.steps[i]
            if step.effect >= EFFECT_HINT and not step.access:
                self.pipeline.event_log.context = <uint64_t>i << EVENT_INSTRUCTION_SHIFT
                self.apply_step_hint(step, run)
                self.pipeline.record_unattributed(run.number, i)
        if run.taken:
            self.pipeline.event_log.context = <uint64_t>(plan.length - 1) << EVENT_INSTRUCTION_SHIFT
            if self.pages is not None:
                next_ip = self.pages.of_code(next_ip)
            redirect(self.fetch, &self.pipeline.event_log, next_ip, plan.branch.many, self.replay.now)
            self.pipeline.record_unattributed(run.number, plan.length - 1)

    cdef void apply_step_hint(self, const PipelineOp* step, const BlockExecution* run) noexcept nogil:
        """The hint of an instruction."""
        if step.effect == EFFECT_FLUSH_LINE:             # of a recording without its address
            if executes(step, run.word):
                self.fetch.record_flush(&self.pipeline.event_log)
            return
        if self.pages is not None:
            self.predictor.hint(self.pages.of_code(<uint64_t>step.y), <uint64_t>step.imm,
                                step.effect == EFFECT_IMPORTANT_HINT)
            hint(self.fetch, &self.pipeline.event_log, self.pages.of_code(<uint64_t>step.imm), self.replay.now)
            return
        self.predictor.hint(<uint64_t>step.y, <uint64_t>step.imm, step.effect == EFFECT_IMPORTANT_HINT)
        hint(self.fetch, &self.pipeline.event_log, <uint64_t>step.imm, self.replay.now)

    cdef void flush_behind(self, const BlockPlan* plan, const BlockExecution* run) noexcept nogil:
        """Applies instructions of the block that flush the pipeline."""
        cdef uint32_t i
        self.replay.restore_pipeline()
        if plan.cut == Cut.FAILED_CHECK:
            self.pipeline.flush(run.number, XPN, self.pipeline.failed_check)
        for i in range(plan.length if not plan.plain else 0):
            if plan.steps[i].effect == EFFECT_SERIALIZE:
                self.pipeline.flush(run.number, XPN, self.pipeline.serialize)
            elif self.pages is not None and executes(&plan.steps[i], run.word):
                self.change_translations(plan, run, i)
        if plan.returns_from:
            self.pipeline.flush(run.number, XPN, self.pipeline.serialize)

    cdef void change_translations(self, const BlockPlan* plan, const BlockExecution* run, uint32_t i) noexcept nogil:
        """Follows an instruction of a whole system that inserts translations, or purges all: it has no marks."""
        cdef uint8_t effect = plan.steps[i].effect
        self.pipeline.event_log.context = <uint64_t>i << EVENT_INSTRUCTION_SHIFT
        if effect == EFFECT_INSERT_DATA:
            record(&self.pipeline.event_log, Occurrence.DTLB_FILLED, 1)
        elif effect == EFFECT_INSERT_CODE:
            record(&self.pipeline.event_log, Occurrence.ITLB_FILLED, 1)
        elif effect == EFFECT_PURGE:
            self.data.purge()
            self.fetch.purge(&self.pipeline.event_log)
        self.pipeline.record_unattributed(run.number, i)

    cdef void report_responses(self, uint64_t number) noexcept nogil:
        """Records snoop responses to another core, after the block's records: they are not part of the memo's records
        of a block."""
        self.pipeline.event_log.context = 0
        self.snooped.record_responses(&self.pipeline.event_log)
        self.pipeline.record_unattributed(number, 0)

    # --- a whole system

    cdef uint64_t target_of(self, const BlockPlan* plan, const BlockExecution* run, const HeldBlock* held,
                            uint64_t next_ip) noexcept nogil:
        """Returns the target of the block's branch. After an interruption the next block is the handler's: then it is
        that of an IP-relative branch, and assumed as predicted for a return."""
        cdef uint32_t i
        if self.pages is None or not plan.has_branch or is_indirect(plan.branch.kind):
            return next_ip
        for i in range(held.mark_count):
            if mark_kind(held.marks[i]) == Mark.INTERRUPTION:
                return self.predictor.next_return() if plan.branch.kind == BRANCH_RETURN else plan.branch.target
        return next_ip

    cdef void collect_walks(self, const HeldBlock* held, BlockMarks* block_marks) noexcept nogil:
        """Collects the walks of data accesses, by instruction."""
        cdef uint32_t i, instruction
        for i in range(held.mark_count):
            instruction = instruction_of(held.marks[i])
            if is_walk_of(held, i, WALK_OF_DATA) and instruction < held.plan.length \
                    and held.plan.steps[instruction].access:
                set_bit(block_marks.walked, instruction)
                self.data.walks[instruction] = walk_of(held, i)

    # --- between blocks

    cdef void run_late_marks(self, const BlockPlan* plan, HeldBlock* held, uint64_t next_ip) noexcept nogil:
        cdef uint32_t marks = held.mark_count
        self.shown.begin()
        if self.captures.listener is not None:
            self.captures.listener.begin()
        if plan != NULL:
            self.effects.apply(plan, self.last, held, next_ip)
        if self.captures.listener is not None:
            self.captures.record_captures()
        self.shown.report(held, marks)

    cdef int64_t drain(self) noexcept nogil:
        self.shown.begin()
        self.replay.restore_pipeline()
        if self.pipeline.open:
            self.pipeline.close(0, NULL, 0)
        if self.snooped is not None and self.last != BLOCK_MASK:
            self.report_responses(self.last)
        if self.pipeline.earliest - 1 > self.replay.now:    # the register stack engine was active last
            self.replay.now = self.pipeline.now = self.pipeline.earliest - 1
        self.shown.report(NULL, 0)               # a held block has not run yet
        self.replay.memo.write_out()
        return self.replay.now
