"""What blocks did before that miss or wait, by what memory answered.

The time of a block is made of the state in which it began and of what memory answers on the way: the cycle in which a
question is put depends on the answers before it, and on nothing else. So the questions of a block from a state are a tree:
a point is a question, an edge from it an answer that was met, and the last one leads to a node of the memo. To go that way
memory is asked as in a simulation; all else is looked up (so Schnarr and Larus made a simulator of out-of-order processors
fast: Fast Out-Of-Order Processor Simulation Using Memoization, ASPLOS 1998).
"""

from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from pfmon.machine.host_lines cimport prefetch

cdef enum:
    FIRST = 1 << 12
    HEAD = 2                     # words of an edge before its answer
    MOST_EDGE_WORDS = 1 << 31    # numbers of edges have 32 bits


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
    """Point 0 and edge 0 are none."""

    def __cinit__(self):
        self.forget()

    def __dealloc__(self):
        free(self.points)
        free(self.words)

    cdef void expect(self, uint32_t point) noexcept nogil:
        prefetch(&self.words[self.points[point].edges])

    cdef const Edge* find(self, uint32_t point, const Script* script, uint32_t number) noexcept nogil:
        cdef const uint64_t* words = script.words + script.starts[number]
        cdef uint32_t count = script.starts[number + 1] - script.starts[number], edge = self.points[point].edges
        cdef Edge* one
        cdef Edge* before = NULL
        while edge:
            one = <Edge*>&self.words[edge]
            if is_answer(one, words, count):
                if before != NULL:       # what was met last stands first
                    before.other, one.other = one.other, self.points[point].edges
                    self.points[point].edges = edge
                return one
            before, edge = one, one.other
        return NULL

    cdef uint32_t add_point(self, const Event* event) noexcept nogil:
        cdef void* fresh
        if self.point_count >= self.point_capacity:
            fresh = realloc(self.points, (self.point_capacity + FIRST) * 2 * sizeof(Point))
            if fresh == NULL:
                return 0
            self.points, self.point_capacity = <Point*>fresh, (self.point_capacity + FIRST) * 2
        self.points[self.point_count].event, self.points[self.point_count].edges = event[0], 0
        self.point_count += 1
        return self.point_count - 1

    cdef bint add_edge(self, uint32_t point, const Script* script, uint32_t number, uint32_t to) noexcept nogil:
        """The answer to an event of a script leads to a point, or after the last one to a node."""
        cdef uint32_t count = script.starts[number + 1] - script.starts[number]
        cdef void* fresh
        cdef Edge* one
        if self.word_count + HEAD + count > MOST_EDGE_WORDS:
            return False
        if self.word_count + HEAD + count > self.word_capacity:
            fresh = realloc(self.words, (self.word_capacity + HEAD + count + FIRST) * 2 * sizeof(uint64_t))
            if fresh == NULL:
                return False
            self.words, self.word_capacity = <uint64_t*>fresh, (self.word_capacity + HEAD + count + FIRST) * 2
        one = <Edge*>&self.words[self.word_count]
        one.to, one.is_last, one.words, one.other = to, number + 1 == script.count, count, self.points[point].edges
        memcpy(one + 1, script.words + script.starts[number], count * sizeof(uint64_t))
        self.points[point].edges = <uint32_t>self.word_count
        self.word_count += HEAD + count
        return True

    cdef bint learn(self, uint32_t point, const Script* script, uint32_t node) noexcept nogil:
        cdef const Edge* known
        cdef uint32_t i, following
        for i in range(script.count - 1):
            known = self.find(point, script, i)
            if known != NULL:
                point = known.to
                continue
            following = self.add_point(&script.events[i + 1])
            if following == 0 or not self.add_edge(point, script, i, following):
                return False
            point = following
        return self.add_edge(point, script, script.count - 1, node)

    cdef uint64_t bytes_used(self) noexcept nogil:
        return self.point_count * sizeof(Point) + self.word_count * sizeof(uint64_t)

    cdef void forget(self) noexcept nogil:
        self.point_count = self.word_count = 1
