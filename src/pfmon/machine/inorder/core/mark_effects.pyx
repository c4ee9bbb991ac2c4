"""Effects of the marks of a block on its timing, and on the pipeline after it."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.isa.ia64._encodings cimport EFFECT_LOADRS, Fault
from pfmon.stream._stream cimport (
    Deferral, INDEX_SHIFT, WALK_INSERTED, Mark, mark_kind, mark_value, unpacked_address)


cdef enum:
    COLLECTION = 0x1F8           # of an address: bits 3 to 8, all ones where the NaT bits of 63 registers are stored
    REGISTERS_A_PART = 64        # whose events are recorded together


cdef inline uint32_t instruction_of(uint64_t mark) noexcept nogil:
    """Returns the number of the instruction that caused a mark."""
    return <uint32_t>(mark >> INDEX_SHIFT & 0xFF)


cdef bint is_walk_of(const HeldBlock* held, uint32_t i, uint32_t side) noexcept nogil:
    return mark_kind(held.marks[i]) == Mark.WALK and mark_value(held.marks[i]) & 1 == side


cdef Walk walk_of(const HeldBlock* held, uint32_t i) noexcept nogil:
    cdef Walk walk
    walk.outcome, walk.entry = mark_value(held.marks[i]) >> 1 & 3, 0
    if i + 1 < held.mark_count and mark_kind(held.marks[i + 1]) == Mark.WALK_ADDRESS:
        walk.entry = unpacked_address(held.marks[i + 1])
    return walk


cdef void collect_marks(const HeldBlock* held, BlockMarks* block_marks) noexcept nogil:
    cdef uint32_t i, instruction
    cdef uint64_t mark
    for i in range(held.mark_count):
        mark = held.marks[i]
        instruction = instruction_of(mark)
        if instruction >= MAX_PLAN_LENGTH:
            continue
        if mark_kind(mark) == Mark.ALAT_MISS:
            set_bit(block_marks.failed, instruction)
            if mark_value(mark) & 1:
                set_bit(block_marks.float_check, instruction)
        elif mark_kind(mark) == Mark.FLUSH_TO_ZERO:
            block_marks.is_tiny = True
            block_marks.flushed[instruction] += mark_value(mark) == 1
            block_marks.kept[instruction] += mark_value(mark) == 0
        elif mark_kind(mark) == Mark.DEFERRED:
            set_bit(block_marks.deferred, instruction)
            if mark_value(mark) == Deferral.NO_PAGE:
                set_bit(block_marks.no_page, instruction)
            elif mark_value(mark) == Deferral.NO_ADDRESS:
                set_bit(block_marks.no_address, instruction)


cdef class MarkEffects:
    """``replay``: of the blocks that have the marks. ``captures`` is told of them."""

    def __cinit__(self, MemoReplay replay, CaptureReporting captures, uint64_t thread_id):
        self.replay, self.captures, self.pipeline = replay, captures, replay.pipeline
        self.thread_id = thread_id

    cdef void apply(self, const BlockPlan* plan, uint64_t number, HeldBlock* held, uint64_t next_ip) noexcept nogil:
        cdef uint32_t i
        cdef int kind
        self.replay.restore_pipeline()
        for i in range(held.mark_count):
            kind = mark_kind(held.marks[i])
            if self.captures.listener is not None:
                self.captures.report_mark(plan, number, held.marks[i], next_ip)
            if kind == Mark.SPILL or kind == Mark.FILL:
                self.apply_stack_mark(plan, number, held, i)
            elif kind == Mark.SYSTEM_CALL or kind == Mark.FAULT or kind == Mark.THREAD:
                self.interrupt(plan, number, held, i)
            elif kind == Mark.INTERRUPTION:              # its handler is in the stream
                self.pipeline.flush(number, XPN, self.pipeline.earliest - 1 - self.pipeline.now + self.pipeline.exception)
            elif kind == Mark.WALK and self.pages is not None:
                self.follow_walk(plan, number, held, i)
            elif kind == Mark.PURGE and self.pages is not None:
                self.purge_translations(number, held, i)
            elif kind == Mark.FRAME:
                set_frame(&self.pipeline.frames, mark_value(held.marks[i]))
            elif kind == Mark.HW_POLICY:
                if self.pipeline.switch is not None:
                    self.pipeline.switch.set_policy(mark_value(held.marks[i]) & 3)
            elif kind == Mark.CACHE_FLUSH:
                flush_caches(self.pipeline.data, self.replay.fetch, self.pipeline.data.l2, mark_value(held.marks[i]))
        set_frame_levels(&self.pipeline.frames, self.replay.now)
        held.mark_count = 0

    cdef void apply_stack_mark(self, const BlockPlan* plan, uint64_t number, const HeldBlock* held,
                               uint32_t i) noexcept nogil:
        """Applies a spill or a fill of the register stack engine, the mark of this number. The next one has its
        address."""
        cdef uint64_t mark = held.marks[i], address = 0
        cdef uint32_t instruction = instruction_of(mark)
        cdef uint32_t cause = RSE_OVERFLOW if mark_kind(mark) == Mark.SPILL else RSE_UNDERFLOW
        if i + 1 < held.mark_count and mark_kind(held.marks[i + 1]) == Mark.RSE_ADDRESS:
            address = unpacked_address(held.marks[i + 1]) | self.thread_id
        if cause == RSE_UNDERFLOW and instruction < plan.length and plan.steps[instruction].effect == EFFECT_LOADRS:
            cause = RSE_LOADRS
        self.move_registers(number, instruction, <uint32_t>(mark & 0xFFFF), address, cause)

    cdef void move_registers(self, uint64_t number, uint32_t instruction, uint32_t registers, uint64_t address,
                             uint32_t cause) noexcept nogil:
        """The register stack engine stores (``cause``: RSE_OVERFLOW) or loads so many registers, the lowest at
        ``address``: in the pipeline and in memory."""
        cdef bint store = cause == RSE_OVERFLOW
        cdef uint64_t used           # as the mechanisms have it
        cdef uint32_t i
        cdef int64_t began = self.pipeline.earliest, rate = self.pipeline.rse_rate
        cdef AccessResult served
        self.pipeline.stall(number, instruction, cause, (registers + rate - 1) // rate)
        for i in range(registers):
            while address & COLLECTION == COLLECTION:
                address += 8
            used = address if self.pages is None else tagged_address(self.pages, address)
            self.pipeline.event_log.context = (<uint64_t>instruction << EVENT_INSTRUCTION_SHIFT
                                               | in_ranges(&self.pipeline.ranges, address) << EVENT_RANGED_SHIFT)
            self.pipeline.data.access(&self.pipeline.event_log, used, 8, ACCESS_SPILL if store else ACCESS_FILL, 0,
                                      began + i // rate, &served)
            if self.pipeline.listener is not None:
                self.pipeline.notify_access(number, instruction, address, &served, True)
            address += 8
            if (i + 1) % REGISTERS_A_PART == 0:
                self.pipeline.record_unattributed(number, instruction)
        self.pipeline.record_unattributed(number, instruction)
        if store:
            self.pipeline.frames.dirty -= registers
            if self.pipeline.frames.dirty < 0:
                self.pipeline.frames.dirty = 0
        elif cause == RSE_LOADRS:    # registers loaded by loadrs are dirty; those loaded by a return are in its frame
            self.pipeline.frames.dirty += registers

    cdef void follow_walk(self, const BlockPlan* plan, uint64_t number, const HeldBlock* held, uint32_t i) noexcept nogil:
        """Applies a walk that is no access's of the block: the register stack engine's, a probe's, or one before an
        interruption. That of the next block's fetch goes with it."""
        cdef uint32_t instruction = instruction_of(held.marks[i])
        cdef int64_t began = self.pipeline.earliest
        cdef Walk walk = walk_of(held, i)
        cdef AccessResult served
        if is_walk_of(held, i, WALK_OF_CODE) and walk.outcome == WALK_INSERTED:
            self.replay.fetch.walk_due, self.replay.fetch.walks = walk, True
            return
        if is_walk_of(held, i, WALK_OF_DATA) and instruction < plan.length and plan.steps[instruction].access:
            return
        self.pipeline.event_log.context = <uint64_t>instruction << EVENT_INSTRUCTION_SHIFT
        if is_walk_of(held, i, WALK_OF_DATA):
            served.stalls = 0
            self.pipeline.stall(number, instruction, L1D_HPW, self.pipeline.data.follow_walk(
                &self.pipeline.event_log, &walk, began, &served) - began)
        else:
            began = self.replay.fetch.follow_walk(&self.pipeline.event_log, &walk, began) - began
            if began:
                self.pipeline.front_end.account_wait(number, 0, FRONT_TLBMISS, began)
                self.pipeline.stall(number, instruction, FE_TLBMISS, began)
        self.pipeline.record_unattributed(number, instruction)

    cdef void purge_translations(self, uint64_t number, const HeldBlock* held, uint32_t i) noexcept nogil:
        """Purges what the mark of this number covers in the first-level TLBs. The next mark has its address."""
        cdef uint32_t instruction = instruction_of(held.marks[i])
        cdef Purge purge
        if i + 1 == held.mark_count or mark_kind(held.marks[i + 1]) != Mark.PURGE_ADDRESS:
            return
        purge = purge_of(held.marks[i], held.marks[i + 1])
        self.pipeline.event_log.context = <uint64_t>instruction << EVENT_INSTRUCTION_SHIFT
        if purge.data:
            self.pipeline.data.purge_pages(&purge)
        if purge.code:
            self.replay.fetch.purge_pages(&self.pipeline.event_log, &purge)
        self.pipeline.record_unattributed(number, instruction)

    cdef void interrupt(self, const BlockPlan* plan, uint64_t number, const HeldBlock* held, uint32_t i) noexcept nogil:
        """Applies the mark of this number: a system call, a fault, or a switch of the program's threads, which is part
        of the system call right before it."""
        cdef uint64_t mark = held.marks[i]
        cdef int kind = mark_kind(mark)
        if kind != Mark.THREAD or i == 0 or mark_kind(held.marks[i - 1]) != Mark.SYSTEM_CALL:
            self.record_interruption(plan, number, mark)
        self.pipeline.flush(number, XPN, self.pipeline.exception)
        self.pipeline.interrupt(number, self.pipeline.system_call if kind == Mark.SYSTEM_CALL
                                else self.pipeline.fault if kind == Mark.FAULT
                                else self.pipeline.task_switch)

    cdef void record_interruption(self, const BlockPlan* plan, uint64_t number, uint64_t mark) noexcept nogil:
        """Records an entry to and exit from the operating system: by a system call, a fault or the clock, whose
        interrupt ends a thread's quantum. A floating-point interruption is qualified by the last retired instruction, a
        trap's own."""
        cdef uint64_t fault = mark_value(mark)
        cdef uint32_t instruction = instruction_of(mark)
        self.pipeline.event_log.context = <uint64_t>instruction << EVENT_INSTRUCTION_SHIFT
        record(&self.pipeline.event_log, Occurrence.LEVEL_CHANGED, ROUND_TRIP)
        if mark_kind(mark) == Mark.FAULT and (fault == Fault.FAULT_FP_FAULT or fault == Fault.FAULT_FP_TRAP):
            self.pipeline.event_log.context = <uint64_t>min(instruction, plan.length - 1) << EVENT_INSTRUCTION_SHIFT
            record(&self.pipeline.event_log, Occurrence.FLOAT_INTERRUPTED, 1)
        self.pipeline.record_unattributed(number, instruction)
