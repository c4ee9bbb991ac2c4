"""Event address registers and trace buffers in operation: see capture_units.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine._machine cimport CaptureListener, Captured, DataRanges, FlowChange
from pfmon.stream._stream cimport BlockTable

cdef enum:
    LEVELS = 4                   # capture_listener.TlbLevel
    DATA_EAR = 0                 # owner of a filter: index of `filters`
    INSTRUCTION_EAR = 1
    BRANCHES = 2
    BEHIND = 16                  # of Captured.detail: it happened after the instruction retired

cdef struct TrackedLoad:         # the load that the data EAR tracks
    int64_t until                # cycle from which another one can be tracked
    int64_t captured_until       # ... captured
    bint overlapped              # a load issued, untracked, while the last one was tracked
    uint64_t random              # state of the generator


@cython.final
cdef class CaptureUnits(CaptureListener):
    cdef BlockTable table
    cdef Increments filters
    cdef DataRanges ranges
    cdef bint data_ranged        # the data EAR honours the data ranges
    # settings
    cdef bint every_load         # for samples of ops
    cdef int64_t least_load, gap, least_fetch
    cdef bint of_requests        # the instruction EAR captures only fetches of lines already in flight
    cdef uint32_t data_levels, fetch_levels      # a bit for each TlbLevel
    cdef uint32_t taken, targets, paths, kinds, stages
    cdef uint32_t traced         # privileges at which the buffer captures, a bit each
    cdef bint exceptions         # the buffer captures failed checks and exceptions
    cdef bint windows            # its entries name windows of two bundles
    # state of the capture decisions
    cdef TrackedLoad tracked
    cdef bint target_due         # a captured branch was taken, and its target is not captured yet
    cdef uint64_t target
    cdef int64_t target_cycle, last_cycle
    cdef uint64_t last_bundle    # of the last branch, if it was captured and not taken; 0: none
    # contents of the registers
    cdef Captured data_held, fetch_held
    cdef bint data_there, fetch_there
    cdef uint32_t first_occurrence       # occurrences under which captures are recorded: data, instruction, branch
    cdef TraceBuffer trace
    cdef bint traces_addresses   # the buffer is the IP-EAR
    cdef readonly int64_t delay  # cycles from the freeze of the monitors to that of the IP-EAR
    cdef int64_t elapsed         # cycles since the last address retired
    cdef bint flushed            # the pipeline was flushed since then
    cdef TraceBuffer trace_kept  # `keep_trace`
    cdef uint64_t latest         # bundle that retired last
    cdef bint switched           # the thread has lost the core since then; an entry marks it
    cdef int64_t elapsed_kept
    cdef uint64_t latest_kept
    cdef bint switched_kept
    cdef bint flushed_kept
    cdef bint kept               # ... may be restored
    cdef bint again              # ... was
    cdef uint64_t pending        # target written next unless its bundle branches again
    cdef bint pending_there
    cdef uint32_t applied        # captures of the current block already applied

    cdef bint passes(self, uint32_t whose, uint64_t block, uint32_t instruction) noexcept nogil
    cdef bint is_traced(self, uint64_t block) noexcept nogil
    cdef uint64_t address_of(self, uint64_t block, uint32_t instruction) noexcept nogil
    cdef bint is_captured(self, const FlowChange* flow) noexcept nogil
    cdef void write_target(self, uint64_t block, uint32_t instruction) noexcept nogil
    cdef void apply_until(self, uint32_t item) noexcept nogil
    cdef void apply(self, const Captured* one) noexcept nogil
    cdef void write_pending(self) noexcept nogil
    cdef void switch_away(self, int64_t delay) noexcept nogil
    cdef void pass_cycles(self, int64_t cycles, bint flush) noexcept nogil
    cdef void retire(self, uint64_t address) noexcept nogil
    cdef void keep_trace(self) noexcept nogil
    cdef void restore_trace(self) noexcept nogil
    cdef void freeze_early(self, uint64_t address, int64_t delay) noexcept nogil
