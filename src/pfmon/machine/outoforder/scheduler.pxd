"""The schedule of a part of a block on an out-of-order core: see scheduler.pyx."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    MAX_RESPONSES = 512          # of a block
    MAX_BLOCK_ACCESSES = 1024
    MAX_INSTRUCTIONS = 256       # of a block
    MAX_DELAYS = 4096            # of a block: several of an instruction, by what its part waited for
    MAX_TRANSFERS = 64           # lines behind one access
    WITHOUT_CYCLE = 0x80         # no instruction retired behind that
    BEHIND = 0x40                # the instruction had retired
    DELAY_CAUSE = 0x3F

cdef enum ResponseKind:         # what memory does other than serve an access from L1D
    RESPONSE_SECOND_LEVEL = 1    # L2 has the line,
    RESPONSE_THIRD_LEVEL         # ... L3
    RESPONSE_MEMORY              # ... or only memory
    RESPONSE_IN_FLIGHT           # it arrives in `value` ticks,
    RESPONSE_IN_FLIGHT_HERE      # ... or with that of access `value` of this block
    RESPONSE_WALK                # no TLB has the translation
    RESPONSE_BUS                 # further lines are transferred, prefetched or written back: `value` & 0xFFFF of L3,
                                 # `value` >> 16 of memory
    RESPONSE_FORWARDED           # from a store whose data is ready in `value` ticks
    RESPONSE_FORWARDED_HERE      # ... from access `value` of this block
    RESPONSE_BLOCKED             # by a store that is committed in `value` ticks
    RESPONSE_BLOCKED_HERE
    RESPONSE_ALIASED             # 4 KB behind a store whose address is known in `value` cycles
    RESPONSE_SPLIT               # two lines
    RESPONSE_PAGE_SPLIT
    RESPONSE_TRANSLATION         # the second TLB has the translation
    RESPONSE_FETCH               # code arrives `value` ticks later; the last ones of a block
    RESPONSE_FETCH_TRANSLATION
    RESPONSE_STRING              # a repeated string instruction reads or writes `value` bytes
    RESPONSE_SNOOP               # the line comes `value` ticks later: another core was asked for it
    RESPONSE_OWNERSHIP           # of an access that loads and stores: the core owns the line `value` ticks after the load

cdef struct Response:
    uint16_t access              # its number in the block
    uint8_t kind                 # ResponseKind
    uint8_t spare
    int32_t value

cdef enum DelayCause:            # why an instruction retired later than the one before; in the order of stall_causes.Cause
    DELAY_L2 = 0                 # its data came from L2,
    DELAY_L3                     # ... from L3,
    DELAY_MEMORY                 # ... from memory
    DELAY_TRANSLATION            # the first-level TLB did not have the translation
    DELAY_STORES                 # the store buffer was full
    DELAY_BRANCH                 # after a misprediction
    DELAY_REDIRECT               # after a taken branch whose target was known at decode
    DELAY_FETCH                  # its code was not in L1I
    DELAY_FETCH_TRANSLATION      # ... or not translated
    DELAY_DISPATCH               # no more µops dispatch in a cycle
    DELAY_LATENCY                # of its execution
    DELAY_PORT                   # its ports were busy
    DELAY_DIVIDER                # the divider was
    DELAY_L1                     # latency of L1D
    DELAY_FORWARD                # its data came from the store buffer
    DELAY_BLOCKED                # ... and could not, or seemed to: 4 KB aliasing
    DELAY_SPLIT                  # its data was in two lines
    DELAY_LOCK
    DELAY_SERIALIZE
    DELAY_BUFFER                 # the reorder buffer, reservation station or load buffer was full
    DELAY_FRONT_END              # it was not decoded
    DELAY_CAUSES

cdef struct Delay:               # an instruction retired later than the one before
    uint8_t instruction
    uint8_t cause                # DelayCause, WITHOUT_CYCLE
    int64_t ticks

cdef struct CycleDelay:          # the same in cycles: of which the last one is that in which it retired, unless WITHOUT_CYCLE
    uint8_t instruction
    uint8_t cause
    uint32_t cycles

cdef struct StoreTimes:
    int64_t ready                # its data can be forwarded
    int64_t committed            # it is in L1D

cdef struct BlockTimes:          # of a block that runs
    int64_t began                # its responses are relative to that
    uint32_t response            # number of the next response
    uint32_t delays
    uint32_t cause               # DelayCause of what dispatch waited for,
    int64_t waited               # ... and for how long
    int64_t bytes                # of a string instruction
    int64_t full, stores_full    # for which dispatch waited for any buffer, and for that of stores,
    int64_t undelivered          # ... for the front end,
    int64_t mispredicted         # ... and behind a mispredicted branch
    int64_t short_wait           # ticks of a µop in the reservation station that do not count
    # of the current part
    int64_t executed             # the last of its µops starts
    int64_t waiting              # µops that wait in the reservation station for longer; by a graph only if the last one waits for long
    int64_t resolved             # its last instruction is done
    int64_t arrives              # the lines of its stores are in L1D
    int64_t commits              # ticks in which no other store is committed
    int64_t dispatched[MAX_INSTRUCTIONS]  # by instruction: it dispatches,
    int64_t data[MAX_INSTRUCTIONS]     # ... its operands are ready,
    int64_t address[MAX_INSTRUCTIONS]  # ... and those of its addresses,
    int64_t done[MAX_INSTRUCTIONS]     # ... it has executed
    Delay delay[MAX_DELAYS]
    StoreTimes store[MAX_BLOCK_ACCESSES]  # by access
    int64_t line[MAX_BLOCK_ACCESSES]      # by access: its line arrives, if it was in flight

cdef enum BlockEnd:              # bits
    END_TAKEN = 1
    END_MISPREDICTED = 2
    END_REDIRECTED = 4           # the target was known at decode
    END_SOURCE_SHIFT = 4         # CodeSource

cdef struct CoreFigures:         # times are ticks
    int32_t width                # µops that dispatch in a cycle
    int32_t ticks                # of a cycle
    int32_t slot                 # for which a µop dispatches
    int32_t lead                 # that the front end may be ahead
    int32_t level[3]             # latencies of L2, L3 and memory
    int32_t fill[3]              # for which such a line occupies the line fill buffers: its latency by their number
    int32_t ring                 # ... a line occupies the way from L3,
    int32_t bus                  # ... and from memory
    int32_t walk, walker         # latency of a page walk; for which it occupies the walkers
    int32_t blocked              # from the commit of the store to the load's data
    int32_t alias
    int32_t split, page_split    # of loads across lines, and pages
    int32_t split_busy           # for which its second part occupies each port of loads
    int32_t store_split, store_page_split
    int32_t translation          # second TLB
    int32_t mispredict, redirect
    int32_t partial_flags        # until flags can be read that several instructions wrote
    int32_t lock
    uint8_t load_ports           # their number
    uint8_t load_port[MAX_UOP_PORTS]


cdef void execute(const CoreFigures* figures, CoreState* state, const CoreBlock* block, const CorePart* part,
                  const Response* responses, uint32_t response_count, BlockTimes* times) noexcept nogil
