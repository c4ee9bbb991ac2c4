"""Notifies a machine's capture listeners (capture_listener.pxd), and records their captures.

Captures are recorded after the block's records, each as a part without instructions: they are not part of the memo's
records of a block.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from pfmon.isa.ia64._encodings cimport FAULT_BREAK, vector_of
from pfmon.stream._stream cimport Cut, INDEX_SHIFT, Mark, executed, mark_kind, mark_value

# Linux's interruption vector table (cr.iva): its first page of code in region 5.
cdef uint64_t INTERRUPTION_VECTORS = <uint64_t>0xA000000100000000


cdef enum:
    EXTERNAL_INTERRUPT = 0x3000  # offset of its vector (volume 2, 8.3)


cdef inline bint is_exception(uint64_t mark) noexcept nogil:
    """Whether a mark is an interruption that trace buffers capture: not an asynchronous one (Montecito manual
    3.3.10)."""
    return mark_kind(mark) == Mark.INTERRUPTION and mark_value(mark) != EXTERNAL_INTERRUPT


cdef class CaptureReporting:
    """``replay``: what the captures are of."""

    def __cinit__(self, BlockPlans plans, MemoReplay replay):
        self.plans, self.replay = plans, replay
        self.pipeline, self.records = replay.pipeline, replay.records

    cdef int set_listener(self, CaptureListener listener) except -1:
        """Sets the listener from the next instruction on; None: there is none."""
        self.listener = self.pipeline.listener = self.pipeline.front_end.listener = listener
        return 0

    cdef void report_repeated(self, const BlockPlan* plan, const BlockExecution* run, const uint32_t* issued,
                            int64_t began) noexcept nogil:
        """Reports the accesses of a replayed block; ``issued``: cycles until each did."""
        cdef uint32_t i, access = 0
        cdef const MemAccess* mem_access
        cdef const PipelineOp* step
        for i in range(plan.access_count):
            mem_access = &plan.mem_accesses[i]
            if not executed(run.word, mem_access.condition):
                continue
            step = &plan.steps[mem_access.step]
            if not step.access_flags & ACCESS_CHECK:
                self.pipeline.report_made(step, run, mem_access.step, access, began + issued[access])
            access += 1

    cdef void report_branch(self, const BlockPlan* plan, const BlockExecution* run, uint64_t next_ip) noexcept nogil:
        """Reports the block's branch, or that there was none."""
        cdef FlowChange flow
        self.arrived = plan.end & ~THREAD_ID
        if not plan.has_branch and plan.cut != Cut.FAILED_CHECK and not plan.returns_from:
            self.listener.no_flow_change()
            return
        flow.block, flow.instruction = run.number, plan.length - 1
        flow.address, flow.target = plan.steps[plan.length - 1].address & ~THREAD_ID, next_ip & ~THREAD_ID
        flow.taken, flow.prediction, flow.cycle = True, 0, self.replay.now
        flow.kind = FlowKind.FLOW_CHECK
        if plan.has_branch:
            flow.taken, flow.prediction = run.taken, code_of(run.prediction)
            if not is_indirect(plan.branch.kind) and plan.branch.kind != BRANCH_RETURN:
                flow.target = plan.branch.target & ~THREAD_ID    # also if nothing there retired
            flow.kind = FlowKind.FLOW_RETURN if plan.branch.kind == BRANCH_RETURN else \
                FlowKind.FLOW_INDIRECT if is_indirect(plan.branch.kind) else FlowKind.FLOW_RELATIVE
        if flow.taken:
            self.arrived = flow.target & ~<uint64_t>(0 if plan.returns_from else 15)
        self.listener.flow(&flow)

    cdef void report_mark(self, const BlockPlan* plan, uint64_t number, uint64_t mark,
                          uint64_t next_ip) noexcept nogil:
        """Reports events known only from marks: failed checks of advanced loads, exceptions. An interruption is
        delivered to the handler at ``next_ip``."""
        cdef FlowChange flow
        cdef int fault
        cdef uint32_t instruction = <uint32_t>(mark >> INDEX_SHIFT & 0xFF)
        if mark_kind(mark) == Mark.ALAT_MISS and self.listener.checks and instruction < plan.length:
            self.listener.check(number, instruction)
        elif (mark_kind(mark) == Mark.SYSTEM_CALL or mark_kind(mark) == Mark.FAULT
              or is_exception(mark)) and self.listener.flows:
            memset(&flow, 0, sizeof(flow))
            flow.block, flow.instruction = number, min(instruction, plan.length - 1)
            flow.address = self.arrived
            if instruction < plan.length:
                flow.address = plan.steps[instruction].address & ~THREAD_ID
            fault = FAULT_BREAK if mark_kind(mark) == Mark.SYSTEM_CALL else <int>(mark & 0xFF)
            flow.target = INTERRUPTION_VECTORS + vector_of(fault)
            if mark_kind(mark) == Mark.INTERRUPTION:
                flow.target = next_ip & ~THREAD_ID
            flow.kind, flow.taken, flow.cycle = FlowKind.FLOW_EXCEPTION, True, self.replay.now
            self.listener.flow(&flow)

    cdef void record_captures(self) noexcept nogil:
        """Records the captures after the block's records, in order."""
        cdef uint32_t k
        cdef Captured* one
        self.listener.gather()
        for k in range(self.listener.count):
            one = &self.listener.captured[k]
            if self.records.observed:
                one.second = self.is_second(one)
            one.item = self.records.log_count
            if one.occurrence == NOTHING_HAPPENED:       # merged with an earlier capture
                continue
            self.pipeline.event_log.context = (<uint64_t>one.instruction << EVENT_INSTRUCTION_SHIFT
                                           | <uint64_t>one.ranged << EVENT_RANGED_SHIFT)
            record(&self.pipeline.event_log, one.occurrence, 1)
            self.pipeline.record_unattributed(one.block, one.instruction)

    cdef bint is_second(self, const Captured* one) noexcept nogil:
        """Whether the captured instruction, of the current block, issued in the second bundle of its cycle, which
        follows the first one (Montecito manual, table 3-22, bn). One that faulted did not."""
        cdef uint64_t block = one.block
        cdef uint32_t instruction = one.instruction
        cdef const uint32_t* items = self.records.log
        cdef uint32_t count = self.records.log_count, k, turn
        cdef const Part* part
        cdef const OpenPart* still_open
        cdef bint found = False, second
        if (one.address ^ self.plans.table.c.instructions[
                self.plans.table.c.heads[block].first + instruction].address) >> 4:
            return False
        for turn in range(2):
            for k in range(0, count, 2):
                if items[k] & BUBBLE_FLAG == 0:
                    part = &self.records.parts[items[k]]
                    second = self.issued_second(part.code, <uint32_t>part.chain, block, instruction, &found)
                    if found:
                        return second
            if self.replay.ran == NULL:
                break
            items = self.replay.memo.logs + self.replay.ran.log
            count = self.replay.ran.log_count
        still_open = self.replay.open_part()
        return still_open != NULL and self.issued_second(still_open.code, still_open.before, block, instruction, &found)

    cdef bint issued_second(self, uint64_t code, uint32_t before, uint64_t block, uint32_t instruction,
                            bint* found) noexcept nogil:
        """`is_second` for an instruction of this part; not `found`: it is in another one."""
        cdef uint32_t first = <uint32_t>(code >> 32 & 0xFF), last = <uint32_t>(code >> 40 & 0xFF)
        cdef uint64_t bundle
        if code & 0xFFFFFFFFULL != block or instruction < first or instruction > last:
            return False
        found[0] = True
        bundle = self.plans.table.c.instructions[self.plans.table.c.heads[block].first + instruction].address >> 4
        while before:
            code = self.records.parts[before].code
            before = <uint32_t>self.records.parts[before].chain
        first = <uint32_t>(code >> 32 & 0xFF)
        return bundle == 1 + (self.plans.table.c.instructions[
            self.plans.table.c.heads[code & 0xFFFFFFFFULL].first + first].address >> 4)
