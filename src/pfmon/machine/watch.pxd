"""What is told, one by one, of misses and of changes of flow: event address registers and trace buffers listen here."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cdef enum:
    MOST_CAPTURED = 1024         # while one block runs

cpdef enum TlbLevel:             # what served a miss of a first-level TLB
    TLB_HIT = 0                  # no miss
    TLB_L2 = 1                   # the second-level TLB
    TLB_WALKER = 2               # the page walker found the entry in the VHPT
    TLB_FAULT = 3                # software

cpdef enum FlowKind:             # what changed the flow of execution
    FLOW_RELATIVE = 0            # IP-relative branch
    FLOW_RETURN = 1
    FLOW_INDIRECT = 2            # other indirect branch
    FLOW_CHECK = 3               # failed check
    FLOW_EXCEPTION = 4

cdef struct Flow:                # a branch that retired, taken or not, or another change of flow
    uint64_t block
    uint32_t instruction
    uint64_t address             # bundle | slot
    uint64_t target              # where control went
    uint32_t kind                # FlowKind
    uint32_t prediction          # predictor.PredictionCode
    uint8_t taken
    int64_t cycle                # in which it issued

cdef struct Captured:            # what a watch has captured while a block ran
    uint64_t block
    uint32_t instruction         # that it happened to
    uint32_t occurrence          # as which the records count it
    uint64_t address             # of the instruction (bundle | slot), of the line for fetches
    uint64_t data                # address of the access; target of a change of flow
    int64_t latency              # cycles
    uint32_t detail              # TlbLevel, or flags of the watch
    uint8_t ranged               # in the data ranges
    uint8_t second               # it issued in the second one of two bundles that follow each other
    uint32_t item                # where in the log of the records it is counted


cdef class Watch:
    # What it wants to be told of.
    cdef bint loads, translations, checks, fetches, fetch_translations, flows
    cdef readonly bint lost      # sticky: more was captured than there was room for
    cdef uint32_t count          # captured while the block at hand ran
    cdef Captured captured[MOST_CAPTURED]

    # A load that L1D did not serve, or that does not read it, issued in a cycle; its value came ``latency`` later.
    cdef void load(self, uint64_t block, uint32_t instruction, uint64_t address, int64_t cycle, int64_t latency,
                   bint of_stack) noexcept nogil
    # ``of_stack``: the access is the register stack engine's.
    cdef void translation(self, uint64_t block, uint32_t instruction, uint64_t address, uint32_t level,
                          bint of_stack) noexcept nogil
    # An advanced load's check found no entry in the ALAT.
    cdef void check(self, uint64_t block, uint32_t instruction) noexcept nogil
    # A demand fetch that L1I did not serve; ``under_way``: the line had been asked for before.
    cdef void fetch(self, uint64_t block, uint32_t instruction, uint64_t line, int64_t latency,
                    bint under_way) noexcept nogil
    cdef void fetch_translation(self, uint64_t block, uint32_t instruction, uint64_t line,
                                uint32_t level) noexcept nogil
    cdef void flow(self, const Flow* flow) noexcept nogil
    # A block ran behind a change of flow without one of its own.
    cdef void went_on(self) noexcept nogil
    cdef Captured* capture(self, uint64_t block, uint32_t instruction, uint32_t occurrence) noexcept nogil
    # A block begins: nothing was captured.
    cdef void begin(self) noexcept nogil
    # It has run: `captured` is complete.
    cdef void gather(self) noexcept nogil


cdef class Watches(Watch):
    cdef Watch first, second
    cdef void take(self, Watch watch) noexcept nogil
