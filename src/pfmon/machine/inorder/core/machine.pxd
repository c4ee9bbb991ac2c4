"""The machine: see machine.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.stream._stream cimport EventSetConsumer


@cython.final
cdef class Machine(EventSetConsumer):
    # Mechanisms. Two hardware threads of a core share the first four.
    cdef readonly L2 l2
    cdef readonly DataMemory data
    cdef readonly InstructionFetch fetch
    cdef readonly BranchPredictor predictor
    cdef readonly BlockPlans plans
    cdef readonly Records records
    cdef readonly Pipeline pipeline
    cdef readonly Memo memo
    # Their use for a block, in this order.
    cdef Timing timing
    cdef MemoReplay replay
    cdef EventSetSwitch event_sets

    cdef readonly PhysicalAddresses pages        # of a whole system; None: a program's
    cdef HeldBlock held
    cdef uint64_t tagged[MAX_HELD_WORDS]         # of the held block of a whole system: its addresses
    cdef uint64_t thread_id      # set in all data addresses passed to the mechanisms
    cdef uint64_t code_id        # ... of code
    cdef bint alone              # no listener for blocks, and no other thread or core
    cdef uint32_t thread         # of a whole system: its hardware thread
    cdef bint same_program       # as the other one: equal addresses mean the same
    cdef bint together           # coupled with another one: their streams end together
    cdef bint ended              # ... its own has ended
    cdef Arbiter arbiter         # of cores that share memory; None: it shares none
    cdef int64_t next_turn       # cycle from which the other core has to catch up first

    cdef make_core(self, config, Machine beside)
    cdef connect(self, config, uint32_t event_sets, bint memo)
    cdef void begin_words(self) noexcept nogil
    cdef const uint64_t* held_addresses(self) noexcept nogil
    cdef void take_mark(self, uint64_t mark) noexcept nogil
    cdef void run_held_block(self, uint64_t next_ip) noexcept nogil
    cdef void run_late_marks(self, uint64_t next_ip) noexcept nogil
    cdef void end_words(self) noexcept nogil
    cdef void advance(self, uint64_t next_ip) noexcept nogil
    cdef int64_t drain(self) noexcept nogil
    cdef int64_t end(self) noexcept nogil
    cdef void check_for_losses(self) noexcept nogil
    cdef snoop_each_other(self, Machine other, bint same_memory)
    cdef account_evictions(self, ThreadSwitch switch)
