"""Memoizes blocks that miss or wait, by the responses of memory.

The timing of a block depends on its initial state and on the responses of memory: the cycle of a request depends on the
responses before it, and on nothing else. So the requests of a block from a state form a tree: a point is a request, an
edge from it a response seen so far, and the last one leads to a node of the memo. On a path through it memory accesses
are performed as in a simulation; everything else is looked up (as in the out-of-order simulator of Schnarr and Larus,
Fast Out-Of-Order Processor Simulation Using Memoization, ASPLOS 1998).
"""

from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from pfmon.machine.host_lines cimport prefetch

cdef enum:
    FIRST = 1 << 12
    POINT_WORDS = 3
    HEAD = 2                     # words of an edge before its response
    MOST_OUTCOME_WORDS = 1 << 31         # numbers have 32 bits


cdef inline bint is_answer(const Edge* edge, const uint64_t* words, uint32_t count) noexcept nogil:
    cdef const uint64_t* known = <const uint64_t*>(edge + 1)
    cdef uint32_t i
    if edge.words != count:
        return False
    for i in range(count):
        if known[i] != words[i]:
            return False
    return True


cdef class Outcomes:
    """Point 0 and edge 0 mean none."""

    def __cinit__(self):
        self.forget()

    def __dealloc__(self):
        free(self.words)

    cdef inline Point* point_at(self, uint32_t point) noexcept nogil:
        return <Point*>&self.words[point]

    cdef inline const Event* question(self, uint32_t point) noexcept nogil:
        prefetch(&self.words[self.point_at(point).edges])
        return &self.point_at(point).event

    cdef const Edge* find(self, uint32_t point, const Script* script, uint32_t number) noexcept nogil:
        cdef const uint64_t* words = script.words + script.starts[number]
        cdef Point* asked = self.point_at(point)
        cdef uint32_t count = script.starts[number + 1] - script.starts[number], edge = asked.edges
        cdef Edge* one
        cdef Edge* before = NULL
        while edge:
            one = <Edge*>&self.words[edge]
            if is_answer(one, words, count):
                if before != NULL:       # the latest moves to the front
                    before.other, one.other = one.other, asked.edges
                    asked.edges = edge
                return one
            before, edge = one, one.other
        return NULL

    cdef bint room(self, uint64_t words) noexcept nogil:
        """Reserves room for so many words more; False when there is no memory."""
        cdef void* fresh
        if self.word_count + words > MOST_OUTCOME_WORDS:
            return False
        if self.word_count + words > self.word_capacity:
            fresh = realloc(self.words, (self.word_capacity + words + FIRST) * 2 * sizeof(uint64_t))
            if fresh == NULL:
                return False
            self.words, self.word_capacity = <uint64_t*>fresh, (self.word_capacity + words + FIRST) * 2
        return True

    cdef uint32_t new_point(self, const Event* event) noexcept nogil:
        """Adds a point, for which there is room."""
        cdef uint32_t number = <uint32_t>self.word_count
        self.point_at(number).event, self.point_at(number).edges = event[0], 0
        self.word_count += POINT_WORDS
        return number

    cdef uint32_t add_point(self, const Event* event) noexcept nogil:
        return self.new_point(event) if self.room(POINT_WORDS) else 0

    cdef Edge* new_edge(self, uint32_t point, const Script* script, uint32_t number) noexcept nogil:
        """Adds the response to an event of a script, for which there is room. Its successor is not known yet."""
        cdef uint32_t count = script.starts[number + 1] - script.starts[number]
        cdef Edge* one = <Edge*>&self.words[self.word_count]
        one.is_last, one.words, one.other = number + 1 == script.count, count, self.point_at(point).edges
        memcpy(one + 1, script.words + script.starts[number], count * sizeof(uint64_t))
        self.point_at(point).edges = <uint32_t>self.word_count
        self.word_count += HEAD + count
        return one

    cdef bint learn(self, uint32_t point, const Script* script, uint32_t node) noexcept nogil:
        cdef const Edge* known
        cdef Edge* fresh
        cdef uint32_t i
        for i in range(script.count):
            known = self.find(point, script, i) if i + 1 < script.count else NULL
            if known != NULL:
                point = known.to
                continue
            if not self.room(HEAD + script.starts[i + 1] - script.starts[i] + POINT_WORDS):
                return False
            fresh = self.new_edge(point, script, i)
            fresh.to = node if fresh.is_last else self.new_point(&script.events[i + 1])
            point = fresh.to
        return True

    cdef uint64_t bytes_used(self) noexcept nogil:
        return self.word_count * sizeof(uint64_t)

    cdef void forget(self) noexcept nogil:
        self.word_count = 1
