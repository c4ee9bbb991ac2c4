"""Replays memoized blocks; simulates all others in the pipeline and memoizes them.

Pipeline timing is replayed; memory accesses are always performed: by the fast path (fast_path.pxd), or here, in the
same cycles as in a simulation (access_log.pxd, response_tree.pyx).
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.stream._stream cimport executed

cdef enum:
    MAX_BLOCK_PATHS = 4096       # memoized paths of a block from a state (response_tree.pyx)
    FAST_PATH_SHIFT = PREDICTION_BITS    # of `fast_path_code` in an outcome

cdef uint64_t FAST_PATH_LOST = 1 << 16


cdef inline uint64_t fast_path_code(const BlockPlan* plan, const BlockExecution* run) noexcept nogil:
    """Returns the extent of the fast path, as a part of a node's outcome: 0: all; FAST_PATH_LOST: not encodable."""
    cdef uint64_t windows
    if run.quick:
        return 0
    if run.slow_window == 0 or run.slow_window == NO_WINDOW:
        return (1 if run.slow_window else 2) | <uint64_t>run.made << 7
    windows = 3 + (run.slow_window - plan.first_window) // WINDOW
    return windows | <uint64_t>run.made << 7 if windows < 128 else FAST_PATH_LOST


cdef inline uint32_t reissues_of(const BlockExecution* run, const MemAccess* mem_access,
                                 uint32_t access) noexcept nogil:
    """Returns how often a quick access is reissued for its bank of L2."""
    return served_as(run, access) if mem_access.kind == ACCESS_FLOAT_LOAD and not mem_access.checks else 0


cdef class MemoReplay:
    """``pipeline`` simulates, ``memo`` keeps what it did. The pipeline's state is in one of the two."""

    def __cinit__(self, Pipeline pipeline, InstructionFetch fetch, Memo memo):
        self.pipeline, self.memo, self.records = pipeline, memo, pipeline.records
        self.data, self.fetch = pipeline.data, fetch
        self.clock = &pipeline.data.l2.user_clock

    cdef inline bint run(self, const BlockPlan* plan, BlockExecution* run, uint64_t outcome, bint known) noexcept nogil:
        """A state of the pipeline does not say which of its waits are the operating system's."""
        cdef uint64_t code = fast_path_code(plan, run)
        cdef int64_t began = self.now
        if code == FAST_PATH_LOST or self.now < self.clock.end:
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

    # --- the pipeline's state, in the memo or in the pipeline

    cdef void restore_pipeline(self) noexcept nogil:
        if self.state:
            self.pipeline.now = self.now
            self.pipeline.restore(self.memo.state_at(self.state))
            self.state = 0
            self.node = NULL

    cdef void move_frame(self, uint32_t moved) noexcept nogil:
        if moved and self.state:
            self.state = self.memo.shifted(self.state, moved, False, 0)

    cdef void rotate(self) noexcept nogil:
        if self.state:
            self.state = self.memo.shifted(self.state, 0, True, self.pipeline.frames.now.sor)
        else:
            self.pipeline.rotate()

    cdef const OpenPart* open_part(self) noexcept nogil:
        cdef const PipelineState* state
        if self.state:
            state = self.memo.state_at(self.state)
            return &state.part if state.open else NULL
        return &self.pipeline.part if self.pipeline.open else NULL

    cdef int64_t front(self) noexcept nogil:
        if self.state:
            return self.now + self.memo.state_at(self.state).front
        return self.pipeline.front_end.ready

    cdef int64_t recorded(self) noexcept nogil:
        if self.state:
            return self.now + self.memo.state_at(self.state).earliest - 1 - self.memo.state_at(self.state).open
        return self.pipeline.earliest - 1 - self.pipeline.open

    # --- replay

    cdef bint repeat(self, const BlockExecution* run, uint64_t outcome) noexcept nogil:
        """Replays the block from this state; False: it is not memoized. The script has its memory accesses."""
        cdef PipelineState state
        cdef MemoNode* node
        if self.state == 0:
            if not self.pipeline.save(&state):
                return False
            self.state = self.memo.state(&state)
            self.node = NULL
            if self.state == 0:
                return False
        node = self.following(run, outcome)
        if node == NULL:
            return False
        if node.point:
            node = self.follow_responses(run, node.point)
            if node == NULL:
                return False
        if self.pipeline.switch is not None and self.may_switch(self.now + (node.cycles & NODE_CYCLES)):
            return False
        self.memo.count(node)
        self.ran = self.node = node
        self.now += node.cycles & NODE_CYCLES
        self.state = node.after
        self.repeated += 1
        return True

    cdef inline MemoNode* following(self, const BlockExecution* run, uint64_t outcome) noexcept nogil:
        """Returns the node of a block, mostly one of the two that followed the last block's node before; NULL: none."""
        cdef MemoNode* last = self.node
        cdef MemoNode* node
        cdef uint32_t number
        if last == NULL:
            number = self.memo.find(self.state, run.word, outcome, run.served)
            return &self.memo.nodes[number] if number else NULL
        node = &self.memo.nodes[last.next]
        if is_node(node, self.state, run.word, outcome, run.served):
            return node
        number = last.other
        if not is_node(&self.memo.nodes[number], self.state, run.word, outcome, run.served):
            number = self.memo.find(self.state, run.word, outcome, run.served)
            if number == 0:
                return NULL
        last.other, last.next = last.next, number
        return &self.memo.nodes[number]

    cdef inline bint may_switch(self, int64_t until) noexcept nogil:
        """Whether a thread switch is possible before a cycle: then the block is simulated."""
        if self.pipeline.switch is None or self.pipeline.switch.next_event >= until:
            return False
        self.is_known = True
        return True

    cdef MemoNode* follow_responses(self, const BlockExecution* run, uint32_t point) noexcept nogil:
        """Repeats the block's memory requests, as long as memory responds as before; returns the node, or NULL."""
        cdef AccessLog* access_log = &self.pipeline.access_log
        cdef const TreeEdge* edge = NULL
        cdef const MemoryEvent* event
        access_log.began = self.now
        while edge == NULL or not edge.is_last:
            event = self.memo.responses.question(point)
            if not has_room(access_log) or self.may_switch(self.now + event.at):
                return NULL
            self.request_again(run, event)
            if access_log.lost:          # the request was made, and cannot be repeated
                self.memo.lost = True
                return NULL
            edge = self.memo.responses.find(point, access_log, access_log.count - 1)
            if edge == NULL:
                return NULL
            point = edge.to
        return &self.memo.nodes[point]

    cdef void request_again(self, const BlockExecution* run, const MemoryEvent* event) noexcept nogil:
        """Makes an event's request to memory, like the pipeline."""
        cdef AccessLog* access_log = &self.pipeline.access_log
        cdef EventLog* event_log = &self.pipeline.event_log
        cdef int64_t now = self.now + event.at
        cdef Fetched fetched
        cdef AccessResult served
        event_log.context = <uint64_t>event.instruction << EVENT_INSTRUCTION_SHIFT
        if event.kind == MemoryEventKind.EVENT_FETCH:
            request_fetch_window(access_log, self.fetch, event_log, event, run.first_window + event.window, now,
                                 &fetched)
        elif event.kind == MemoryEventKind.EVENT_FENCE:
            request_access(access_log, self.data, event_log, event, 0, now, &served)
        elif event.kind == MemoryEventKind.EVENT_ACCESS:
            request_access(access_log, self.data, event_log, event, run.addresses[event.access], now, &served)
        else:
            log_event(access_log, self.data, event, run.addresses[event.access], now)
        event_log.count = 0

    cdef void make_late_accesses(self, const BlockPlan* plan, const BlockExecution* run, int64_t began) noexcept nogil:
        """Applies the effects of stores and reads of a replayed block on later accesses, in their cycles of issue: the
        fast path assumed the earliest possible ones."""
        cdef const uint32_t* issued = self.memo.issued(self.node)
        cdef uint32_t i, access = 0
        cdef const MemAccess* mem_access
        for i in range(plan.access_count):
            mem_access = &plan.mem_accesses[i]
            if not executed(run.word, mem_access.condition):
                continue
            if is_store(mem_access.kind):
                enter_store(&self.data.store_conflicts, run.addresses[access], mem_access.size, began + issued[access])
            elif reissues_of(run, mem_access, access):
                self.data.l2.issue_early(run.addresses[access], 1, reissues_of(run, mem_access, access),
                                       began + issued[access])
            access += 1

    cdef void repeat_allocs(self, const BlockPlan* plan, int64_t began) noexcept nogil:
        """Repeats the allocs of a replayed block, each in its cycle."""
        cdef const uint32_t* words = self.memo.allocs(self.node, plan.allocs)
        cdef uint32_t i
        for i in range(plan.allocs):
            self.pipeline.frames.now.sof = words[2 * i + 1]
            set_frame_levels(&self.pipeline.frames, began + words[2 * i])
        self.pipeline.frames.now.sol, self.pipeline.frames.now.sor = plan.sol, plan.sor

    # --- simulation

    cdef void simulate(self, const BlockPlan* plan, BlockExecution* run, uint64_t outcome, bint known) noexcept nogil:
        """Simulates a block in the pipeline and memoizes it; ``known``: it may be memoized."""
        cdef uint32_t before = self.state
        cdef int64_t began
        cdef bint remember = before and known and not self.is_known
        self.is_known = False
        self.restore_pipeline()
        began = self.now
        if remember:
            self.records.begin_log()
        self.pipeline.run(plan, run)
        self.records.logging = self.records.observed
        self.now = self.pipeline.now
        self.simulated += 1
        if self.memo.counted is not None and self.memo.counted.room():
            self.memo.counted.add_runs_of(run.word, 1)
        if remember and not self.pipeline.access_log.lost and not self.pipeline.switched \
                and not self.pipeline.entered_kernel:
            self.memoize(plan, run, before, outcome, self.now - began)

    cdef void memoize(self, const BlockPlan* plan, const BlockExecution* run, uint32_t before, uint64_t outcome,
                      int64_t cycles) noexcept nogil:
        """Makes a node of the block just simulated, and takes its state over into the memo, if it has room."""
        cdef PipelineState state
        cdef uint32_t after, number
        if self.memo.full():
            self.memo.write_out()
            self.memo.forget()
            return
        if self.pipeline.save(&state) and cycles < 1 << 30:
            after = self.memo.state(&state)
            if after:
                number = self.learn(plan, run, before, outcome, after, cycles)
                self.node = &self.memo.nodes[number]
                self.state = after if number else 0

    cdef uint32_t learn(self, const BlockPlan* plan, const BlockExecution* run, uint32_t before, uint64_t outcome,
                        uint32_t after, int64_t cycles) noexcept nogil:
        """Makes a node of the block just simulated; 0: there is none."""
        cdef bint asked = self.pipeline.access_log.count != 0
        cdef uint32_t root = 0, node, flags = NODE_WRONG_TARGET if self.pipeline.wrong_target else 0
        cdef MemoNode* first
        if asked:
            root = self.memo.find(before, run.word, outcome, run.served)
            if root == 0:
                root = self.memo.add_root(before, run.word, outcome, run.served, &self.pipeline.access_log.events[0])
            if root == 0 or self.memo.nodes[root].ways == MAX_BLOCK_PATHS:
                return 0
        if not asked and self.late_accesses(plan, run, cycles):
            flags |= NODE_LATE_ACCESSES
        node = self.memo.add(before, run.word, outcome, run.served, after, <uint32_t>cycles | flags,
                             self.pipeline.allocs,
                             plan.allocs, self.pipeline.issued, 0 if asked else run.made, not asked)
        if node == 0 or not asked:
            return node
        first = &self.memo.nodes[root]
        if not self.memo.responses.learn(first.point, &self.pipeline.access_log, node):
            return 0
        first.ways += 1
        return node

    cdef bint late_accesses(self, const BlockPlan* plan, const BlockExecution* run, int64_t cycles) noexcept nogil:
        """Whether loads after a block that took ``cycles`` may conflict with its stores (store_conflict.pxd), or reads
        of the block were issued again."""
        cdef uint32_t i, access = 0
        cdef const MemAccess* mem_access
        for i in range(plan.access_count):
            mem_access = &plan.mem_accesses[i]
            if not executed(run.word, mem_access.condition):
                continue
            if access < run.made and is_store(mem_access.kind) \
                    and cycles - self.pipeline.issued[access] <= self.data.store_conflicts.window:
                return True
            if access < run.made and reissues_of(run, mem_access, access):
                return True
            access += 1
        return False
