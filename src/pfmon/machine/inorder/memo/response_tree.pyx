"""Memoizes blocks that miss or wait, by the responses of memory.

The timing of a block depends on its initial state and on the responses of memory; the cycle of a request depends on the
responses before it. So the requests of a block from a state form a tree: a point is a request, an edge is a response so
far, and the last edge of a path leads to a node of the memo. Along a path memory accesses are performed as in a
simulation; all other timing is looked up (as in the out-of-order simulator of Schnarr and Larus, Fast Out-Of-Order
Processor Simulation Using Memoization, ASPLOS 1998).
"""

from libc.stdlib cimport free, realloc
from libc.string cimport memcpy


cdef enum:
    INITIAL_TREE_WORDS = 1 << 12
    POINT_WORDS = 3
    HEAD = 2                     # words of an edge before its response
    MAX_TREE_WORDS = 1 << 31             # numbers have 32 bits


cdef inline bint is_response(const TreeEdge* edge, const uint64_t* words, uint32_t count) noexcept nogil:
    cdef const uint64_t* known = <const uint64_t*>(edge + 1)
    cdef uint32_t i
    if edge.words != count:
        return False
    for i in range(count):
        if known[i] != words[i]:
            return False
    return True


cdef class ResponseTree:
    """Point 0 and edge 0 mean none."""

    def __cinit__(self):
        self.forget()

    def __dealloc__(self):
        free(self.words)

    cdef inline TreePoint* point_at(self, uint32_t point) noexcept nogil:
        return <TreePoint*>&self.words[point]

    cdef inline const MemoryEvent* question(self, uint32_t point) noexcept nogil:
        prefetch(&self.words[self.point_at(point).edges])
        return &self.point_at(point).event

    cdef const TreeEdge* find(self, uint32_t point, const AccessLog* log, uint32_t number) noexcept nogil:
        cdef const uint64_t* words = log.words + log.starts[number]
        cdef TreePoint* asked = self.point_at(point)
        cdef uint32_t count = log.starts[number + 1] - log.starts[number], edge = asked.edges
        cdef TreeEdge* one
        cdef TreeEdge* before = NULL
        while edge:
            one = <TreeEdge*>&self.words[edge]
            if is_response(one, words, count):
                if before != NULL:       # the latest moves to the front
                    before.other, one.other = one.other, asked.edges
                    asked.edges = edge
                return one
            before, edge = one, one.other
        return NULL

    cdef bint room(self, uint64_t words) noexcept nogil:
        """Reserves room for so many words more; False when there is no memory."""
        cdef void* fresh
        if self.word_count + words > MAX_TREE_WORDS:
            return False
        if self.word_count + words > self.word_capacity:
            fresh = realloc(self.words, (self.word_capacity + words + INITIAL_TREE_WORDS) * 2 * sizeof(uint64_t))
            if fresh == NULL:
                return False
            self.words, self.word_capacity = <uint64_t*>fresh, (self.word_capacity + words + INITIAL_TREE_WORDS) * 2
        return True

    cdef uint32_t new_point(self, const MemoryEvent* event) noexcept nogil:
        """Adds a point, for which there is room."""
        cdef uint32_t number = <uint32_t>self.word_count
        self.point_at(number).event, self.point_at(number).edges = event[0], 0
        self.word_count += POINT_WORDS
        return number

    cdef uint32_t add_point(self, const MemoryEvent* event) noexcept nogil:
        return self.new_point(event) if self.room(POINT_WORDS) else 0

    cdef TreeEdge* new_edge(self, uint32_t point, const AccessLog* log, uint32_t number) noexcept nogil:
        """Adds the response to an event of a script, for which there is room. Its successor is not known yet."""
        cdef uint32_t count = log.starts[number + 1] - log.starts[number]
        cdef TreeEdge* one = <TreeEdge*>&self.words[self.word_count]
        one.is_last, one.words, one.other = number + 1 == log.count, count, self.point_at(point).edges
        memcpy(one + 1, log.words + log.starts[number], count * sizeof(uint64_t))
        self.point_at(point).edges = <uint32_t>self.word_count
        self.word_count += HEAD + count
        return one

    cdef bint learn(self, uint32_t point, const AccessLog* log, uint32_t node) noexcept nogil:
        cdef const TreeEdge* known
        cdef TreeEdge* fresh
        cdef uint32_t i
        for i in range(log.count):
            known = self.find(point, log, i) if i + 1 < log.count else NULL
            if known != NULL:
                point = known.to
                continue
            if not self.room(HEAD + log.starts[i + 1] - log.starts[i] + POINT_WORDS):
                return False
            fresh = self.new_edge(point, log, i)
            fresh.to = node if fresh.is_last else self.new_point(&log.events[i + 1])
            point = fresh.to
        return True

    cdef uint64_t bytes_used(self) noexcept nogil:
        return self.word_count * sizeof(uint64_t)

    cdef void forget(self) noexcept nogil:
        self.word_count = 1
