"""The main pipeline: dispersal, issue, stalls (Montecito manual 2.3 and 4.6).

A block is simulated by issue groups: dispersal to ports, the cycle in which operands are ready, the responses of
memory, and the causes of cycles without an issue. Time is that of the execution stage: instructions of a cycle retire
together a fixed number of cycles later, so cycles with an issue are cycles with a retirement, and all others are
back-end bubbles.
"""

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memset

from pfmon.isa.ia64._encodings cimport (
    AR_RSE, BR_FIRST, EFFECT_ALLOC, EFFECT_FENCE, EFFECT_PAUSE, FR_FIRST, OP_LOAD, OP_LOAD_FLOAT, OP_MULTIMEDIA, PR_ALL,
    PR_FIRST, USE_ADDRESS)
from pfmon.machine.config.latencies import OPERATION_NAMES, USE_NAMES, latency_of

cdef inline uint32_t cause_of(uint16_t index, uint8_t operation) noexcept nogil:
    """Returns the cause of a wait for a register."""
    if index < FR_FIRST:
        return GRALL if operation == OP_LOAD else GRGR
    if index < PR_FIRST:
        return FRALL
    if index < BR_FIRST or index == PR_ALL:
        return PR
    if index == AR_RSE:
        return RSE_AR_DEP
    return ARCR


cdef class Pipeline:
    """``config``: the machine's figures; the other arguments are the mechanisms that the pipeline uses."""

    def __cinit__(self, config, DataMemory data, InstructionFetch fetch, BranchPredictor predictor, Records records):
        self.data, self.predictor, self.records = data, predictor, records
        self.front_end = FrontEnd(config, fetch, records)
        self.front_end.access_log = &self.access_log
        self.front_end.clock = &data.l2.user_clock
        self.mispredict = config["predictor.mispredict"]
        self.exception = config["pipeline.exception_flush"]
        self.system_call, self.fault = config["kernel.system_call"], config["kernel.fault"]
        self.task_switch = config["kernel.task_switch"]
        self.failed_check = config["pipeline.failed_check"]
        self.serialize = config["pipeline.serialize_flush"]
        self.early_address = config["latency.multimedia.address_flush"] if config["pipeline.mm_address_flush"] else 0
        self.rse_rate = config["rse.rate"]
        self.m_ports = config["pipeline.m_ports"]
        self.nat_window = config["pipeline.unat_window"]
        self.register_write = config["predictor.register_write"] if predictor.reads_registers else 0
        for number, operation in enumerate(OPERATION_NAMES):
            for use, column in enumerate(USE_NAMES):
                latency = latency_of(config, operation, column)
                self.board.latency[number][use] = latency
                if latency > self.board.longest[number]:
                    self.board.longest[number] = latency
        self.earliest = 1

    def __dealloc__(self):
        free(self.frames.below)

    # --- between blocks

    cdef void run(self, const BlockPlan* plan, const BlockExecution* run) noexcept nogil:
        """Simulates a block that ran."""
        cdef uint32_t first = 0, beyond
        cdef PortUse use = self.use
        self.access = self.alloc_count = 0
        self.wrong_target = self.switched = self.entered_kernel = False
        self.began = self.access_log.began = self.now
        self.access_log.next = 0
        if self.open:                    # instructions of this block may issue with the last ones of the one before
            self.start = self.now
            beyond = self.form(plan, run, 0)
            if beyond > 0 and self.need <= self.now:
                self.issue(plan, run, 0, beyond)
                first = beyond
                self.open = self.why == WHY_END
                if not self.open:
                    self.close(self.why, plan, beyond)
            else:
                self.use = use
                self.close(WHY_FRONT_END if self.why == WHY_FRONT_END else WHY_IMPLICIT, plan, 0)
        while first < plan.length:
            memset(&self.use, 0, sizeof(PortUse))
            if self.owed:
                record_switch(self, run, first)
            beyond = self.form(plan, run, first)
            if self.switch is not None and self.switch.next_event < max(self.start, self.need) \
                    and switch_out(self, run, first):
                continue
            self.front_end.account_waits(run, first, self.earliest, self.start)
            self.issue(plan, run, first, beyond)
            self.open = self.why == WHY_END
            if not self.open:
                self.close(self.why, plan, beyond)
            first = beyond
        if run.taken:
            if plan.steps[plan.length - 1].address & 16 == 0:    # ended in its first half
                self.records.add_bubbles(run.number, plan.length - 1, BUBBLE_ENTRANCE, FRONT_UNREACHED, 1)
        if run.taken or bubbles_of(run.prediction):
            self.front_end.redirect(bubbles_of(run.prediction), bubble_cause_of(run.prediction))
        if plan.has_branch and (flags_of(run.prediction) & (WRONG_PATH | WRONG_TARGET) or self.wrong_target):
            self.flush(run.number, BRU, self.mispredict)
        self.front_end.fill_buffer(run.number, self.earliest)

    cdef void flush(self, uint64_t number, uint32_t cause, int64_t cycles) noexcept nogil:
        """Flushes fetched bundles; the next instruction issues ``cycles`` later than it could have."""
        if self.open:
            self.close(WHY_TAKEN, NULL, 0)
        self.front_end.flush(number, cause, self.now + cycles)

    cdef void stall(self, uint64_t number, uint32_t instruction, uint32_t cause, int64_t cycles) noexcept nogil:
        """Stalls the back end."""
        if cycles > 0:
            if self.open:
                self.close(WHY_IMPLICIT, NULL, 0)
            self.earliest += cycles
            self.records.add_bubbles(number, instruction, BUBBLE_BACK, cause, cycles)

    cdef void enter_kernel(self, uint64_t number, uint32_t instruction, int64_t cycles, int64_t flush) noexcept nogil:
        if flush:
            self.records.add_bubbles(number, instruction, BUBBLE_BACK, XPN, flush)
        if cycles:
            self.records.add_bubbles(number, instruction, BUBBLE_BACK, KERNEL, cycles)
        self.earliest += cycles + flush
        self.front_end.stop(cycles + flush)

    cdef void interrupt(self, uint64_t number, int64_t cycles) noexcept nogil:
        enter_level_0(&self.data.l2.user_clock, self.earliest - 1, self.earliest - 1 + cycles)
        self.enter_kernel(number, 0, cycles, 0)

    # --- dispersal

    cdef uint32_t form(self, const BlockPlan* plan, const BlockExecution* run, uint32_t first) noexcept nogil:
        """Forms the group that begins at ``first``; returns the number of the instruction after it. Sets `why`,
        `start`, `need`."""
        cdef uint32_t i = first
        cdef const PipelineOp* step
        self.need = 0
        self.why = WHY_END
        while i < plan.length:
            step = &plan.steps[i]
            if self.use.instructions == 0 or (step.begins and (i > 0 or step.slot == 0)):
                if step.alone and self.use.instructions:
                    self.why = WHY_IMPLICIT
                    break
                if self.use.bundles == 2:
                    self.why = WHY_FULL
                    break
                if self.use.before_bbb and step.all_b:
                    self.why = WHY_IMPLICIT
                    break
                if step.window != self.front_end.window:
                    self.front_end.deliver(&self.event_log, run, step, i, self.earliest,
                                           (self.start if self.use.instructions else self.now) + 1)
                if self.use.instructions == 0:
                    if self.front_end.kernel:        # its page had no translation
                        self.enter_kernel(run.number, i, self.front_end.kernel, self.exception)
                        self.entered_kernel = True
                        self.front_end.kernel = 0
                    self.start = max(self.earliest, self.front_end.ready)
                    self.use.skipped = step.slot
                elif self.front_end.ready > self.start:
                    self.why = WHY_FRONT_END
                    break
                self.use.bundles += 1
                self.use.before_bbb = 0
            if not fits(&self.use, step, self.m_ports):
                self.why = WHY_IMPLICIT
                break
            occupy_ports(&self.use, step)
            if self.board.horizon > self.start:
                self.await_operands(step, i, executes(step, run.word))
            i += 1
            if step.stop:
                self.why = WHY_EXPLICIT
                break
            if step.after == SPLITS:
                self.why = WHY_IMPLICIT
                break
            if step.after == SPLITS_BEFORE_BBB:
                self.use.before_bbb = 1
        if i == plan.length and run.taken:
            self.why = WHY_TAKEN
        return i

    # --- operands and issue

    cdef void await_operands(self, const PipelineOp* step, uint32_t number, bint executed) noexcept nogil:
        """Waits until the operands of an instruction are ready; a predicated-off one waits for its predicate."""
        cdef uint32_t i
        cdef uint16_t index
        cdef int64_t at
        cdef uint32_t sources = step.sources
        if not executed and sources > 1:
            sources = 1
        for i in range(sources):
            index = scoreboard_index(step.source[i], self.frames.base)
            at = usable(&self.board, index, step.use[i])
            if at > self.start and at > self.need:
                self.need_cause = cause_of(index, self.board.operation[index])
                if self.early_address and step.use[i] == USE_ADDRESS and self.board.operation[index] == OP_MULTIMEDIA:
                    at = self.board.time[index] + self.early_address
                    self.need_cause = XPN
                self.need = at
                self.need_step = number

    cdef void issue(self, const BlockPlan* plan, const BlockExecution* run, uint32_t first,
                    uint32_t beyond) noexcept nogil:
        """Issues the instructions from ``first`` to ``beyond`` together."""
        cdef uint32_t i, k
        cdef const PipelineOp* step
        cdef uint64_t executed = 0
        cdef int64_t ready, issued
        if not self.open:
            self.now = self.start
            if self.need > self.start:
                self.records.add_bubbles(run.number, self.need_step, BUBBLE_BACK, self.need_cause,
                                         self.need - self.start)
                self.now = self.need
            self.part.before = 0
        else:
            self.part.before = self.records.part(self.part.code, self.part.executed, 0, self.part.before,
                                                 self.part.event_log)
        issued = self.now
        self.stalled = 0
        for i in range(first, beyond):
            step = &plan.steps[i]
            if not executes(step, run.word):
                continue
            executed |= <uint64_t>1 << (i - first)
            ready = issued
            if run.block_marks != NULL:
                self.record_marks(step, run, i)
            if step.access:
                ready = self.mem_access(step, run, i, run.addresses[self.access])
                self.access += 1
            if step.effect == EFFECT_FENCE:
                self.fence(run, i)
            elif step.effect == EFFECT_PAUSE and self.switch is not None:
                self.switch.pause(issued)
            elif step.effect == EFFECT_ALLOC:
                self.resize_frame(step, issued)
            if step.writes_br:
                self.br_ready[step.writes_br] = issued + self.register_write
            for k in range(step.targets):
                write_register(&self.board, scoreboard_index(step.target[k], self.frames.base), step.operation[k],
                               ready if step.operation[k] == OP_LOAD or step.operation[k] == OP_LOAD_FLOAT else issued)
        if beyond == plan.length and plan.has_branch:
            self.event_log.context = <uint64_t>(beyond - 1) << EVENT_INSTRUCTION_SHIFT
            self.wrong_target = (flags_of(run.prediction) & EARLIER_TARGET
                                 and self.br_ready[plan.branch.through - 1] > self.front_end.ready)
            self.predictor.record_outcome(&self.event_log, &plan.branch, run.taken,
                                        code_of(run.prediction) | (CODE_WRONG_TARGET if self.wrong_target else 0))
        self.part.code = run.number | <uint64_t>first << 32 | <uint64_t>(beyond - 1) << 40
        self.part.executed = executed
        self.part.event_log = self.records.event_list(&self.event_log)
        if self.earliest < issued + 1:
            self.earliest = issued + 1
        self.earliest += self.stalled

    cdef void record_marks(self, const PipelineOp* step, const BlockExecution* run, uint32_t number) noexcept nogil:
        """Records a failed check and tiny results of an instruction in the cycle in which it issues."""
        cdef uint64_t ranged = has_bit(run.ranged, self.access) if step.access else 0
        self.event_log.context = <uint64_t>number << EVENT_INSTRUCTION_SHIFT | ranged << EVENT_RANGED_SHIFT
        if has_bit(run.block_marks.failed, number):
            record(&self.event_log, FLOAT_CHECK_FAILED if has_bit(run.block_marks.float_check, number)
                   else CHECK_FAILED, 1)
        if run.block_marks.flushed[number]:
            record(&self.event_log, TINY_FLUSHED, run.block_marks.flushed[number])
        if run.block_marks.kept[number]:
            record(&self.event_log, TINY_KEPT, run.block_marks.kept[number])

    cdef int64_t mem_access(self, const PipelineOp* step, const BlockExecution* run, uint32_t number,
                            uint64_t address) noexcept nogil:
        """Performs a memory access; returns the cycle from which an integer operation can use the loaded value."""
        cdef AccessResult served
        cdef MemoryEvent event
        cdef uint32_t flags = step.access_flags, reissues = 0, bank_flags = 0 if run.quick else OCCUPIES_BANK
        cdef uint64_t ranged = has_bit(run.ranged, self.access)
        self.event_log.context = <uint64_t>number << EVENT_INSTRUCTION_SHIFT | ranged << EVENT_RANGED_SHIFT
        if flags & ACCESS_CHECK and (run.block_marks == NULL or not has_bit(run.block_marks.failed, number)):
            if step.access == ACCESS_LOAD + 1:
                record(&self.event_log, L1D_CHECK_READ, 1)
            return self.now                          # a check load that hits the ALAT
        if flags & ACCESS_SPILL_FILL:
            self.await_unat(step, run, number)
        if was_made(run, self.access):
            self.issued[self.access] = <uint32_t>(self.now - self.began)
            if self.listener is not None and self.listener.loads:
                self.report_made(step, run, number, self.access, self.now)
            if served_as(run, self.access) == SERVED_BY_L2 and step.access != ACCESS_FLOAT_LOAD + 1:
                self.data.record_plain(&self.event_log)
                event = access_event(EVENT_BANK, number, self.access, bank_flags, 0, 0)
                log_event(&self.access_log, self.data, &event, address, self.now)
                return self.now + self.data.l2.latency
            if step.access == ACCESS_FLOAT_LOAD + 1:
                reissues = served_as(run, self.access)
            self.data.record_quick(&self.event_log, step.access - 1, reissues)
            if is_store(step.access - 1):            # until now it counted as made as early as it could have been
                event = access_event(EVENT_STORE, number, self.access, bank_flags, 0, step.size)
                log_event(&self.access_log, self.data, &event, address, self.now)
            elif step.access == ACCESS_FLOAT_LOAD + 1:
                bank_flags = OCCUPIES_BANK | reissues << REISSUE_SHIFT if reissues else bank_flags
                event = access_event(EVENT_BANK, number, self.access, bank_flags, 0, 0)
                log_event(&self.access_log, self.data, &event, address, self.now)
            return self.now + self.data.quick_latency[step.access - 1] + self.data.l2.reissue_cycles(reissues)
        if run.block_marks != NULL and has_bit(run.block_marks.walked, number):
            flags |= ACCESS_WALKED
            self.data.walking = number
        if flags & ACCESS_SPECULATIVE and run.block_marks != NULL:
            if has_bit(run.block_marks.no_address, number):
                return self.now
            if has_bit(run.block_marks.deferred, number):
                flags |= ACCESS_DEFERRED
            if has_bit(run.block_marks.no_page, number):
                flags |= ACCESS_NO_PAGE
        served.stalls = 0
        event = access_event(EVENT_ACCESS, number, self.access, flags, step.access - 1, step.size)
        request_access(&self.access_log, self.data, &self.event_log, &event, address, self.now, &served)
        if self.listener is not None and step.access != ACCESS_LFETCH + 1 and step.access != ACCESS_FLUSH + 1:
            self.notify_access(run.number, number, run.named[self.access], &served, False)
        self.stall_after_issue(run, number, &served)
        return served.ready

    cdef void stall_after_issue(self, const BlockExecution* run, uint32_t number,
                                const AccessResult* served) noexcept nogil:
        cdef uint32_t i
        for i in range(served.stalls):
            self.stalled += served.cycles[i]
            if served.cause[i] == KERNEL:
                self.front_end.stop(served.cycles[i])
                self.entered_kernel = True
            self.records.add_bubbles(run.number, number, BUBBLE_BACK, served.cause[i], served.cycles[i])

    cdef void fence(self, const BlockExecution* run, uint32_t number) noexcept nogil:
        """Later accesses wait until all accesses before the fence are done."""
        cdef MemoryEvent event = access_event(EVENT_FENCE, number, 0, 0, 0, 0)
        cdef AccessResult served
        served.stalls = 0
        self.event_log.context = <uint64_t>number << EVENT_INSTRUCTION_SHIFT
        request_access(&self.access_log, self.data, &self.event_log, &event, 0, self.now, &served)
        self.stall_after_issue(run, number, &served)

    cdef void resize_frame(self, const PipelineOp* step, int64_t issued) noexcept nogil:
        """Executes alloc: the frame has its new size from the cycle of its issue."""
        self.frames.now.sof, self.frames.now.sol, self.frames.now.sor = step.imm, step.y, step.x
        set_frame_levels(&self.frames, issued)
        self.allocs[2 * self.alloc_count] = <uint32_t>(issued - self.began)
        self.allocs[2 * self.alloc_count + 1] = <uint32_t>step.imm
        self.alloc_count += 1

    cdef void notify_access(self, uint64_t block, uint32_t instruction, uint64_t address, const AccessResult* served,
                   bint of_stack) noexcept nogil:
        """Notifies the capture listener of misses. Stores request no value from L2."""
        address &= ~THREAD_ID
        if served.level and self.listener.translations:
            self.listener.translation(block, instruction, address, served.level, of_stack)
        if served.asked >= 0 and self.listener.loads:
            self.listener.load(block, instruction, address, served.asked, served.ready - served.asked, of_stack, 0)

    cdef void report_made(self, const PipelineOp* step, const BlockExecution* run, uint32_t number, uint32_t access,
                        int64_t issued) noexcept nogil:
        """Reports an access performed earlier: integer loads hit L1D, others hit L2 in its latency."""
        cdef uint64_t address = run.named[access] & ~THREAD_ID
        if step.access == ACCESS_FLOAT_LOAD + 1:
            self.listener.load(run.number, number, address, issued,
                            self.data.quick_latency[<int>ACCESS_FLOAT_LOAD]
                            + self.data.l2.reissue_cycles(served_as(run, access)), False, 0)
        elif served_as(run, access) == SERVED_BY_L2:
            self.listener.load(run.number, number, address, issued, self.data.l2.latency, False, 0)

    cdef void await_unat(self, const PipelineOp* step, const BlockExecution* run, uint32_t number) noexcept nogil:
        """Delays ld8.fill until the st8.spill before it has written its bit of ar.unat."""
        cdef int64_t wait = self.unat_written - self.now
        if step.access == ACCESS_STORE + 1:
            self.unat_written = self.now + self.nat_window
        elif step.access == ACCESS_LOAD + 1 and wait > self.stalled:
            self.records.add_bubbles(run.number, number, BUBBLE_BACK, L1D_NATCONF, wait - self.stalled)
            self.stalled = wait

    # --- the end of a cycle

    cdef void close(self, uint32_t why, const BlockPlan* plan, uint32_t next_step) noexcept nogil:
        """Ends the cycle and records it. ``next_step``: the first that did not issue, NULL plan: unknown."""
        cdef uint32_t dispersal = dispersal_of(&self.use, why, self.left_over, plan, next_step, self.m_ports)
        cdef uint64_t block = <uint32_t>self.part.code
        cdef uint32_t missing, last
        self.open = False
        self.records.add_cycle(self.records.part(self.part.code, self.part.executed, dispersal, self.part.before,
                                                 self.part.event_log))
        if self.use.bundles < 2 and (why == WHY_FRONT_END or why == WHY_TAKEN):
            missing = self.front_end.missing() if why == WHY_FRONT_END else FRONT_UNREACHED
            last = <uint32_t>(self.part.code >> 40 & 0xFF)
            self.records.add_bubbles(block, last, BUBBLE_LOST, missing, 1)
            self.records.add_bubbles(block, last, BUBBLE_IDEAL, missing, 1)
        self.left_over = DISPERSAL_EXPLICIT if why == WHY_EXPLICIT else \
            DISPERSAL_IMPLICIT if why == WHY_IMPLICIT else DISPERSAL_FRONT_END

    cdef void rotate(self) noexcept nogil:
        """Renames registers (br.ctop and similar): results in flight move with them."""
        rotate_board(&self.board, self.now, self.frames.base, self.frames.now.sor)

    cdef void record_unattributed(self, uint64_t number, uint32_t instruction) noexcept nogil:
        write_unattributed_events(self.unattributed, &self.event_log, self.records, number, instruction)

    # --- for the memo

    cdef bint save(self, PipelineState* state) noexcept nogil:
        """Saves the state between two blocks; False when it does not fit in one."""
        cdef uint32_t i
        memset(state, 0, sizeof(PipelineState))
        if self.earliest - self.now > 1 << 20 or not self.front_end.save(state, self.now):
            return False
        state.open = self.open
        state.earliest = <int32_t>(self.earliest - self.now)
        if self.unat_written > self.now:
            state.unat_written = <int32_t>(self.unat_written - self.now)
        for i in range(8):
            if self.br_ready[i] > self.now - BR_READY_SINCE:
                state.br_ready[i] = <uint8_t>(self.br_ready[i] - (self.now - BR_READY_SINCE))
        state.left_over = self.left_over
        if self.open:
            state.part = self.part
            state.use = self.use
        return pending_results(&self.board, self.now, self.frames.base, state.pending, &state.pending_count)

    cdef void restore(self, const PipelineState* state) noexcept nogil:
        """Restores a state; `now` and the frames are unchanged."""
        cdef uint32_t i
        for i in range(8):
            self.br_ready[i] = self.now - BR_READY_SINCE + state.br_ready[i]
        self.open = state.open
        self.earliest = self.now + state.earliest
        self.front_end.restore(state, self.now)
        self.unat_written = self.now + state.unat_written
        self.left_over = state.left_over
        self.part = state.part
        self.use = state.use
        resume_results(&self.board, self.now, self.frames.base, state.pending, state.pending_count)
