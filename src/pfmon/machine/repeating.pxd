"""Replay of memoized blocks, and simulation of all others: see repeating.pyx."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine.code cimport Plan
from pfmon.machine.memo cimport Node
from pfmon.machine.run cimport Run
from pfmon.machine.script cimport Event
from pfmon.machine.watched cimport Watched


cdef class Repeating(Watched):
    cdef Node* node              # of the memo, that led to its state; NULL: none
    cdef readonly uint64_t repeated, simulated
    cdef bint alone              # no listener for blocks, and no other thread or core
    cdef bint is_known           # the current block is memoized, but was not replayed

    cdef Node* following(self, const Run* run, uint64_t outcome) noexcept nogil
    cdef bint may_switch(self, int64_t until) noexcept nogil
    cdef bint repeat(self, const Run* run, uint64_t outcome) noexcept nogil
    cdef Node* ask_on(self, const Run* run, uint32_t point) noexcept nogil
    cdef void ask(self, const Run* run, const Event* event) noexcept nogil
    cdef bint late_accesses(self, const Plan* plan, const Run* run, int64_t cycles) noexcept nogil
    cdef void make_late_accesses(self, const Plan* plan, const Run* run, int64_t began) noexcept nogil
    cdef void simulate(self, const Plan* plan, Run* run, uint64_t outcome, bint known) noexcept nogil
    cdef uint32_t learn(self, const Plan* plan, const Run* run, uint32_t before, uint64_t outcome, uint32_t after,
                        int64_t cycles) noexcept nogil
    cdef void repeat_allocs(self, const Plan* plan, int64_t began) noexcept nogil
    cdef void go_on_here(self) noexcept nogil
