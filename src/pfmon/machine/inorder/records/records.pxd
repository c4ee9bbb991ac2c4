"""Records of the machine: cycles in which something issued, and cycles in which nothing did."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef enum:
    NOBODY = 255                 # instead of an instruction's number
    NO_BLOCK = 0xFFFFFFFF
    NO_PART = 0
    BUBBLE_FLAG = 0x80000000     # in the log: the rest is a bubble's number, not a part's

cpdef enum BubbleKind:
    BUBBLE_BACK = 0              # nothing retired; Cause
    BUBBLE_FRONT = 1             # the front end delivered nothing; FrontCause
    BUBBLE_IDEAL = 2             # bundles missing at the exit of the instruction buffer, stalled or not; FrontCause
    BUBBLE_LOST = 3              # bundles that the back end could have taken; FrontCause
    BUBBLE_ENTRANCE = 4          # bundles missing at the entrance of the instruction buffer; FrontCause

cdef struct Part:                # instructions of one block that issue in one cycle; `before`: those issued before them
    uint64_t code                # block | first << 32 | last << 40 | branch code << 48
    uint64_t executed_dispersal                 # executed instructions | dispersal << 32
    uint64_t chain               # part before | occurrences << 32

@cython.final
cdef class Totals:               # counts of some event sets, added up
    cdef uint64_t* counts

@cython.final
cdef class Records:
    cdef Part* parts
    cdef uint64_t* part_counts   # cycles that ended with this part, in the event set in force
    cdef uint32_t* part_table    # open addressing, by hash
    cdef uint32_t part_count, part_capacity, part_table_size
    cdef uint64_t* bubble_keys
    cdef uint64_t* bubble_counts # ... in the event set in force
    cdef uint32_t* bubble_table
    cdef uint32_t bubble_count, bubble_capacity, bubble_table_size
    cdef uint64_t* event_lists   # lists in sequence, each preceded by its length
    cdef uint64_t event_used, event_capacity
    cdef uint64_t* event_starts
    cdef uint32_t* event_table
    cdef uint32_t event_count, event_list_capacity, event_table_size
    cdef uint32_t* log           # while `logging`: parts (bit 31 clear) and bubbles (set), each with its times
    cdef uint32_t log_count, log_capacity
    cdef bint logging
    cdef bint observed           # an observer sees the log, which goes on between blocks (record_observer.pyx)
    cdef readonly bint lost      # sticky: something could not be recorded
    cdef public uint32_t max_records    # of each kind; tests lower it
    cdef uint32_t event_sets, event_set    # their number; the one in force
    cdef uint64_t** parts_of     # counts by event set
    cdef uint64_t** bubbles_of

    cdef void use(self, uint32_t event_set) noexcept nogil
    cdef int room_for_part(self) noexcept nogil
    cdef int room_for_bubble(self) noexcept nogil
    cdef int room_for_events(self, uint32_t more) noexcept nogil
    cdef uint32_t event_place(self, const uint64_t* items, uint32_t count) noexcept nogil
    cdef void write_log(self, uint32_t what, uint64_t times) noexcept nogil
    cdef Totals part_totals(self, event_sets)
    cdef Totals bubble_totals(self, event_sets)
    cdef object events_of(self, uint32_t number)
    cdef object part_tuple(self, uint32_t number)
    cdef uint32_t part(self, uint64_t code, uint64_t executed, uint32_t dispersal, uint32_t before,
                       uint32_t event_log) noexcept nogil
    cdef uint32_t event_list(self, EventLog* event_log) noexcept nogil
    cdef uint32_t bubble(self, uint64_t block, uint32_t instruction, uint32_t kind, uint32_t cause) noexcept nogil
    cdef void add_cycle(self, uint32_t part) noexcept nogil
    cdef void add_bubbles(self, uint64_t block, uint32_t instruction, uint32_t kind, uint32_t cause,
                          uint64_t cycles) noexcept nogil
    cdef void begin_log(self) noexcept nogil
    cdef void replay(self, const uint32_t* log, uint32_t count, uint64_t times) noexcept nogil
