"""Blocks as an out-of-order core executes them: see core_block.pyx."""

cimport cython
from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BlockAccess, BlockInstruction, BlockTable, RegisterMasks

cdef enum:
    MAX_UOP_PORTS = 6
    MAX_UOPS = 24                # of an instruction
    MAX_SOURCES = 12
    MAX_RESULTS = 4
    PART_SLOTS = 12              # µops of a part of a block at most, unless one instruction has more

cdef enum:
    MAX_UNIT_USES = 15           # ports and the divider

cdef enum:
    PORTS = 8                    # units that are looked at as one vector; further ports are looked at one by one

cdef struct PartGraph            # part_graph.pxd

cdef enum CoreKind:              # of an instruction
    CORE_SERIALIZING = 1         # begins when all before it are done, and all behind it begin after it
    CORE_FENCES_STORES = 2       # begins when all stores are in L1D
    CORE_MICROCODED = 4          # dispatches alone
    CORE_LOCKED = 8
    CORE_STREAMING = 16          # stores past the caches
    CORE_STRING = 32             # takes time by the bytes that it moves
    CORE_PREFETCH = 64           # nothing waits for its accesses
    CORE_PARTIAL_FLAGS = 128     # reads flags of which the last instruction wrote a part

cdef struct CoreUop:
    uint8_t count                # of the ports that can take it
    uint8_t busy                 # cycles in which the port takes no other
    uint8_t port[MAX_UOP_PORTS]

cdef struct CoreInstruction:     # its times are ticks
    uint8_t slots                # µops that dispatch
    uint8_t uops                 # µops that execute, but for those of its accesses
    uint8_t sources, results
    uint8_t accesses
    uint16_t kind                # CoreKind
    uint16_t divider             # for which it occupies the divider
    uint16_t busy                # ... and in which nothing else dispatches
    uint8_t address[2]           # registers of its addresses
    uint8_t result[MAX_RESULTS]
    uint8_t source[MAX_SOURCES]
    uint16_t first_uop
    uint16_t first_access
    int16_t latency              # from its sources to the first result
    int16_t latency2             # ... to others
    int16_t load_latency         # from its address, in L1D
    int16_t string_start, string_cycles  # of a string instruction: at its start, and for each 64 bytes
    uint8_t indexed              # its address has an index
    uint8_t vector               # its loads are of vectors
    int16_t forward              # from a store's data, to a load that gets it from the store buffer

cdef struct CoreAccess:
    uint8_t reads, writes
    uint8_t alone                # no other store is committed beside it: it writes a whole line, or past the caches

cdef enum:                      # CodeSource: of a block's µops
    FROM_DECODERS = 0
    FROM_UOP_CACHE
    FROM_LOOP_BUFFER
    CODE_SOURCES

cdef struct UnitUse:             # of a part: ticks
    int32_t load                 # of work for the unit
    int32_t end                  # from the beginning of the part until that is done, if the unit was idle
    uint8_t unit

cdef struct CorePart:            # of a block: instructions that follow each other
    PartGraph* graph             # if memory responds as usual; NULL: it has none so far
    PartGraph* patterns          # for patterns of responses, a list
    uint64_t pattern             # hash of the responses when it was executed last
    uint8_t first, end           # instructions
    uint16_t first_store         # number in CoreBlock.store
    uint8_t alone                # one waits for retirement, or for commits, or is locked: it has no graph
    uint8_t units, ports         # it uses; `ports`: those among them that are looked at as a vector
    uint16_t slots, loads, stores, waiting   # entries of the buffers; `waiting`: µops that execute
    uint16_t runs                # until it has a graph
    int32_t commits              # ticks in which its stores are committed
    int32_t entries[CORE_BUFFERS]  # of the buffers; of the station: 0
    int32_t half[CORE_BUFFERS]   # half of them, also of the station
    int32_t port_load[PORTS]          # as `unit`, by port; of those that it does not use: 0, NEVER
    int32_t port_end[PORTS]
    UnitUse unit[MAX_UNIT_USES]
    uint16_t first_access, end_access  # its first one; behind its last one, 0: it has none

cdef struct CoreBlock:           # then its instructions, its accesses, and their µops
    uint32_t number
    uint16_t length, accesses, stores
    CorePart* parts
    uint16_t* store              # its accesses that write, in order
    uint64_t* ticks              # by instruction and DelayCause that are not recorded; NULL: none so far
    CoreBlock* next              # of those with ticks, or counts of graphs, that are not recorded
    uint16_t cost[2][CODE_SOURCES]  # ticks of the front end: if control goes on behind it, if it branches
    uint8_t part_count
    uint8_t listed
    int16_t top                  # change of the top of the x87 stack
    uint8_t lines                # of the µop cache that a window of its code takes; 0: the decoders decode it each time
    uint16_t uops, slots         # executed, and dispatched
    uint16_t heavy               # slots of instructions that have several
    uint8_t partial              # while it is made: the last flags were written but for the carry flag
    BlockHistory* history        # NULL: no timeline is kept


cdef inline uint64_t mixed(uint64_t hash, uint64_t word) noexcept nogil:
    """Adds a word to a hash."""
    hash = (hash ^ word) * <uint64_t>0x9E3779B97F4A7C15
    return hash ^ hash >> 29


cdef inline CoreInstruction* instructions_of(const CoreBlock* block) noexcept nogil:
    return <CoreInstruction*>(block + 1)


cdef inline CoreUop* uops_of(const CoreBlock* block) noexcept nogil:
    return <CoreUop*>(instructions_of(block) + block.length)


cdef inline CoreAccess* core_accesses_of(const CoreBlock* block) noexcept nogil:
    return <CoreAccess*>(uops_of(block) + block.uops)


cdef void free_graphs(CorePart* part) noexcept nogil
cdef void free_block(CoreBlock* block) noexcept nogil


cdef struct FrontEndFigures:
    int32_t fetch                # bytes in a cycle
    int32_t decoders             # instructions in a cycle
    int32_t complex              # µops of one that the first decoder takes
    int32_t prefix               # cycles that a length-changing prefix takes
    bint prefix_line             # ... all of those in 16 bytes
    int32_t line, lines          # µops of a line of the µop cache, and its lines for a window; 0: there is none
    int32_t taken                # cycles from one taken branch to the next
    int32_t width

cdef struct CoreTiming:          # of a form of instructions
    CoreInstruction instruction
    CoreUop uop[MAX_UOPS]
    bint ignores_sources, merges
    uint64_t kept                # registers that it changes before its µops execute: the stack engine's, those of string instructions
    bint prefixed                # a length-changing prefix delays its decoding
    uint32_t fuses               # classes of conditional jumps that it fuses with
    uint32_t jump                # its own class; 0: it is no conditional jump
    int16_t top


cdef struct UnitLoads:           # of a part, by unit: ticks of work, when its first and last µop dispatch
    int32_t load[CORE_UNITS]
    int32_t begin[CORE_UNITS]
    int32_t last[CORE_UNITS]


@cython.final
cdef class CoreBlocks:
    cdef readonly BlockTable table
    cdef object timings
    cdef int32_t ticks           # of a cycle
    cdef int32_t slot_ticks      # for which a µop dispatches
    cdef int32_t commit_ticks    # ... and a store is committed, unless it is alone
    cdef CoreUop store_data
    cdef CoreUop load[2]         # of vectors: the second
    cdef CoreUop store_address[2]  # with an index: the second
    cdef FrontEndFigures front_end
    cdef bint partial_flags      # the processor renames flags in parts
    cdef uint64_t* form_keys     # open addressing
    cdef CoreTiming** form_timings
    cdef uint64_t form_slots, form_count

    cdef const CoreTiming* timing(self, uint64_t form) noexcept nogil
    cdef bint more_forms(self) noexcept nogil
    cdef int look_up(self, uint64_t form, CoreTiming* to) except -1
    cdef CoreBlock* make(self, uint64_t number) noexcept nogil
    cdef void put_accesses(self, CoreBlock* block, const BlockAccess* accesses,
                           const BlockInstruction* instructions) noexcept nogil
    cdef void put_instruction(self, CoreBlock* block, uint32_t i, const CoreTiming* timing, const RegisterMasks* masks,
                              uint32_t* uops) noexcept nogil
    cdef bint put_parts(self, CoreBlock* block) noexcept nogil
    cdef void describe_part(self, CoreBlock* block, CorePart* part) noexcept nogil
    cdef void load_units(self, CoreBlock* block, const CoreInstruction* one, uint32_t ports, int32_t begin,
                         UnitLoads* loads) noexcept nogil
    cdef int spread_part(self, CoreBlock* block, const CorePart* part, list to) except -1
    cdef void fuse(self, CoreBlock* block, const CoreTiming* jump) noexcept nogil
    cdef const CoreTiming* timing_of(self, const BlockInstruction* instruction, const uint8_t* payload) noexcept nogil
    cdef void put_costs(self, CoreBlock* block, const BlockInstruction* instructions, const uint8_t* payloads) noexcept nogil
    cdef int32_t lines_of(self, int32_t slots) noexcept nogil
