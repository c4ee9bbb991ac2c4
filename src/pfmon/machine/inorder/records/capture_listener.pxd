"""Capture listeners, notified of each miss and branch: event address registers and trace buffers."""

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cdef enum:
    MAX_BLOCK_CAPTURES = 1024    # while one block runs

cpdef enum TlbLevel:             # level that served a miss of a first-level TLB
    TLB_HIT = 0                  # no miss
    TLB_L2 = 1                   # the second-level TLB
    TLB_WALKER = 2               # the page walker found the entry in the VHPT
    TLB_FAULT = 3                # software

cpdef enum LoadSource:           # what served a load (Intel SDM volume 3, section 18.8.1.2: data source encoding)
    SOURCE_L1 = 1
    SOURCE_FILL_BUFFER = 2       # another miss of the line was under way
    SOURCE_L2 = 3
    SOURCE_L3 = 4                # no other core was asked; + SnoopAnswer of one that was
    SOURCE_L3_SNOOP_MISS = 5
    SOURCE_L3_SNOOP_HIT = 6
    SOURCE_L3_SNOOP_HITM = 7
    SOURCE_MEMORY = 12           # of this processor
    SOURCE_STLB_MISS = 16        # and its translation missed every TLB
    SOURCE_LOCKED = 32           # and it was locked

cpdef enum FlowKind:             # kind of a change of control flow
    FLOW_RELATIVE = 0            # IP-relative branch
    FLOW_RETURN = 1
    FLOW_INDIRECT = 2            # other indirect branch
    FLOW_CHECK = 3               # failed check; rfi
    FLOW_EXCEPTION = 4

cdef struct FlowChange:          # a retired branch, taken or not, or another change of control flow
    uint64_t block
    uint32_t instruction
    uint64_t address             # bundle | slot
    uint64_t target              # address of the next instruction
    uint32_t kind                # FlowKind
    uint32_t prediction          # predictor.PredictionCode
    uint8_t taken
    int64_t cycle                # in which it issued

cdef struct Captured:            # captured by a listener while a block ran
    uint64_t block
    uint32_t instruction         # that caused it
    uint32_t occurrence          # under which the records count it
    uint64_t address             # of the instruction (bundle | slot), of the line for fetches
    uint64_t data                # address of the access; target of a branch
    int64_t latency              # cycles
    uint32_t detail              # TlbLevel, or flags of the listener
    uint8_t ranged               # in the data ranges
    uint8_t second               # it issued in the second of two consecutive bundles
    uint32_t item                # its position in the log of the records


cdef class CaptureListener:
    # Events that it subscribes to.
    cdef bint precise            # every load, those that hit L1D too (out-of-order machines)
    cdef bint loads, translations, checks, fetches, fetch_translations, flows
    cdef readonly bint lost      # sticky: there was no room for a capture
    cdef uint32_t count          # captured while the current block ran
    cdef Captured captured[MAX_BLOCK_CAPTURES]

    # A load that missed or bypasses L1D issued in a cycle; its value arrived ``latency`` cycles later. ``served``: the
    # level that had the line (cache_hierarchy.CacheLevel), 0: the machine does not tell it.
    cdef void load(self, uint64_t block, uint32_t instruction, uint64_t address, int64_t cycle, int64_t latency,
                   bint of_stack, uint32_t served) noexcept nogil
    # Every load of an out-of-order machine, in order: when it dispatched, when its value was there, and what served it
    # (LoadSource).
    cdef void precise_load(self, uint64_t block, uint32_t instruction, uint64_t address, int64_t cycle, int64_t latency,
                           uint32_t source) noexcept nogil
    # ``of_stack``: the access is the register stack engine's.
    cdef void translation(self, uint64_t block, uint32_t instruction, uint64_t address, uint32_t level,
                          bint of_stack) noexcept nogil
    # An advanced load's check missed the ALAT.
    cdef void check(self, uint64_t block, uint32_t instruction) noexcept nogil
    # A demand fetch missed L1I; ``under_way``: the line had been requested before.
    cdef void fetch(self, uint64_t block, uint32_t instruction, uint64_t line, int64_t latency,
                    bint under_way) noexcept nogil
    cdef void fetch_translation(self, uint64_t block, uint32_t instruction, uint64_t line,
                                uint32_t level) noexcept nogil
    cdef void flow(self, const FlowChange* flow) noexcept nogil
    # A block without a branch of its own ran after a branch.
    cdef void no_flow_change(self) noexcept nogil
    @cython.final
    cdef Captured* capture(self, uint64_t block, uint32_t instruction, uint32_t occurrence) noexcept nogil
    # A block begins: clears the captures.
    cdef void begin(self) noexcept nogil
    # The block has run: `captured` is complete.
    cdef void gather(self) noexcept nogil


@cython.final
cdef class CaptureListeners(CaptureListener):
    cdef CaptureListener first, second
    cdef void append_captures(self, CaptureListener listener) noexcept nogil
