"""Shows an observer the records of a machine, block by block."""

from libc.stdint cimport uint32_t, uint64_t


cdef class RecordObserver(EventSetConsumer):
    """The base class ignores them."""

    cdef void on_block(self, const ObservedBlock* block) noexcept nogil:
        pass


cdef class RecordReporting:
    """``replay``: of the blocks whose records are shown."""

    def __cinit__(self, MemoReplay replay):
        self.replay, self.records = replay, replay.records

    cdef void begin(self) noexcept nogil:
        if self.observer is not None:
            self.records.begin_log()
            self.replay.ran = NULL

    cdef void report(self, const HeldBlock* held, uint32_t marks) noexcept nogil:
        cdef ObservedBlock block
        cdef const MemoNode* ran = self.replay.ran
        if self.observer is None:
            return
        self.records.logging = False
        block.now = <uint64_t>self.replay.recorded()
        block.words, block.marks, block.mark_count = NULL, NULL, 0
        if held != NULL:
            block.words, block.marks, block.mark_count = held.words, held.marks, marks
        block.items, block.item_count = self.records.log, self.records.log_count
        block.node, block.node_items, block.node_item_count, block.generation = 0, NULL, 0, self.replay.memo.flushes
        if ran != NULL:
            block.node = <uint32_t>(ran - self.replay.memo.nodes)
            block.node_items = self.replay.memo.logs + ran.log
            block.node_item_count = ran.log_count
        self.observer.on_block(&block)
