"""Counts every taken branch by source and target: what samples of last branch records are compared with."""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from pfmon.stream._stream cimport (
    BLOCK_MASK, BlockHead, BlockInstruction, BranchKind, Failure, Mark, accesses_of, executed, mark_kind, mark_value)

cdef enum:
    FIRST_EDGES = 1 << 12        # places of the hash table; doubled whenever half are used

cdef uint64_t EDGE_HASH = 0x9E3779B97F4A7C15ULL


cdef class BranchEdges(Consumer):
    """``recorded``: bits of MSR_LBR_SELECT of the kinds that are counted."""

    def __cinit__(self, BlockTable table, bint traced, uint32_t recorded):
        self.table, self.traced, self.recorded = table, traced, recorded
        self.edges = <EdgeCount*>calloc(FIRST_EDGES, sizeof(EdgeCount))
        if self.edges == NULL:
            raise MemoryError
        self.capacity = FIRST_EDGES

    def __dealloc__(self):
        free(self.edges)
        free(self.sources)

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = 0
        cdef const BlockHead* head
        cdef const BlockInstruction* last
        while i < count:
            if words[i] >> 63:
                if mark_kind(words[i]) == Mark.THREAD:
                    self.switch_to(mark_value(words[i]))
                i += 1
                continue
            head = &self.table.c.heads[words[i] & BLOCK_MASK]
            if self.source:
                self.count_edge(head.ip)
            last = &self.table.c.instructions[head.first + head.length - 1]
            if last.branch != BranchKind.NO_BRANCH and executed(words[i], last.condition) \
                    and select_bit(last) & self.recorded:
                self.source = last.address
            i += 1 + (accesses_of(head, words[i]) if self.traced else 0)

    cdef void switch_to(self, uint64_t thread) noexcept nogil:
        cdef uint64_t count = max(thread, self.thread) + 1
        cdef uint64_t* sources
        if count > self.thread_count:
            sources = <uint64_t*>realloc(self.sources, count * sizeof(uint64_t))
            if sources == NULL:
                self.fail(Failure.OUT_OF_MEMORY)
                return
            memset(sources + self.thread_count, 0, (count - self.thread_count) * sizeof(uint64_t))
            self.sources, self.thread_count = sources, count
        self.sources[self.thread] = self.source
        self.source, self.thread = self.sources[thread], thread

    cdef void count_edge(self, uint64_t target) noexcept nogil:
        """Counts the branch that ended the last block."""
        cdef EdgeCount* edge = self.place_of(self.source, target)
        if edge.source == 0:
            if 2 * self.used >= self.capacity:
                if not self.grow():
                    self.fail(Failure.OUT_OF_MEMORY)
                    return
                edge = self.place_of(self.source, target)
            edge.source, edge.target = self.source, target
            self.used += 1
        edge.count += 1
        self.source = 0

    cdef EdgeCount* place_of(self, uint64_t source, uint64_t target) noexcept nogil:
        """Returns where an edge is counted, or a free place for it."""
        cdef uint64_t place = ((source * EDGE_HASH ^ target) * EDGE_HASH >> 32) & (self.capacity - 1)
        while self.edges[place].source and (self.edges[place].source != source or self.edges[place].target != target):
            place = (place + 1) & (self.capacity - 1)
        return &self.edges[place]

    cdef bint grow(self) noexcept nogil:
        cdef EdgeCount* before = self.edges
        cdef uint64_t i, count = self.capacity
        cdef EdgeCount* edges = <EdgeCount*>calloc(2 * count, sizeof(EdgeCount))
        if edges == NULL:
            return False
        self.edges, self.capacity = edges, 2 * count
        for i in range(count):
            if before[i].source:
                self.place_of(before[i].source, before[i].target)[0] = before[i]
        free(before)
        return True

    def counts(self):
        """Returns the counts by (source, target)."""
        cdef uint64_t i
        return {(self.edges[i].source, self.edges[i].target): self.edges[i].count
                for i in range(self.capacity) if self.edges[i].source}
