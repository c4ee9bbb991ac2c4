"""An out-of-order core: see core.pyx."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    RECIPROCAL_TICKS = 24        # log2: up to which `reciprocal` divides exactly
    EPOCH_TICKS = 28             # log2: by which dispatch may be behind the epoch


@cython.final
cdef class OutOfOrderCore:
    cdef CoreFigures figures
    cdef CoreState state
    cdef CoreBuffer buffers[CORE_BUFFERS]
    cdef int32_t entered[CORE_BUFFERS]  # entries of the buffers so far, modulo 2^32; of the station: 0
    cdef int32_t full[CORE_BUFFERS]     # the first entry for which there may be no room; of the station: free ones
    cdef int32_t station_hidden
    cdef int32_t at[MAX_LANES]   # after the epoch: the sinks of the graph that ran last
    cdef Pattern pattern         # that was looked for last
    cdef int64_t shortest        # ticks in which no buffer can be filled
    cdef BlockTimes times        # of the block that ran last
    cdef CycleAccounting accounting
    cdef bint uses_graphs
    cdef bint may_use_graphs     # ... but for blocks whose timeline is kept
    cdef CoreTimeline timeline   # None: none is kept
    cdef bint captured           # the timeline of the block that runs is kept
    cdef int64_t cycle           # of dispatch
    cdef int64_t cycle_ticks     # when it began
    cdef uint64_t reciprocal     # of the ticks of a cycle, times 2^32
    cdef readonly uint64_t executed, from_graphs

    cdef int make_buffer(self, CoreBuffer* buffer, int64_t entries) except -1
    cdef void run(self, CoreBlock* block, const Response* responses, uint32_t count, uint32_t end) noexcept nogil
    cdef void fetch(self, const Response* responses, uint32_t count) noexcept nogil
    cdef void redirect(self, CoreBlock* block, int64_t decoded, uint32_t end) noexcept nogil
    cdef void catch_up(self, CoreBlock* block, uint32_t cause) noexcept nogil
    cdef void wait_for_room(self, const CorePart* part) noexcept nogil
    cdef void enter_buffers(self, const CorePart* part, int64_t began) noexcept nogil
    cdef void execute_part(self, CoreBlock* block, CorePart* part, const Response* responses,
                           uint32_t count) noexcept nogil
    cdef void execute_instead(self, CoreBlock* block, CorePart* part) noexcept nogil
    cdef void count_unit(self, CoreBlock* block, CorePart* part, uint32_t use, int64_t done) noexcept nogil
    cdef void execute_counted(self, CoreBlock* block, CorePart* part, const Response* responses,
                              uint32_t count) noexcept nogil
    cdef void note_pattern(self, CoreBlock* block, CorePart* part) noexcept nogil
    cdef void add_pattern(self, CoreBlock* block, CorePart* part) noexcept nogil
    cdef void account(self, CoreBlock* block, CorePart* part, PartGraph* graph, int64_t ticks, uint32_t which) noexcept nogil
