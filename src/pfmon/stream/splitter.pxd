"""A reader that splits the stream exactly before or after given instructions; see splitter.pyx."""

cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef uint64_t NOWHERE            # the address of no block

cdef enum:
    MAX_TRIGGERS = 32            # of code and of data together
    MAX_PART_WORDS = 1 << 10     # words of a part with its addresses and marks

cdef struct WatchedAddress:      # a data trigger
    uint64_t address
    bint reads
    bint writes
    uint32_t number

cdef struct RanBlock:            # a block of the stream that ran
    uint64_t word
    const uint64_t* addresses
    const uint64_t* marks
    uint64_t mark_count


cdef class Splitter(Consumer):
    cdef BlockTable table
    cdef bint traced
    cdef readonly uint64_t retired       # instructions so far
    cdef uint64_t due            # number of instructions to split at
    cdef uint64_t returns_to     # `reach_return` is called when a block begins here; NOWHERE: never
    cdef uint64_t last           # number of the block before
    cdef readonly uint64_t next_address  # of the next instruction, while a trigger or a time is reached
    cdef uint32_t code_count, data_count
    cdef uint64_t code[MAX_TRIGGERS]
    cdef WatchedAddress data[MAX_TRIGGERS]
    cdef unsigned char* watched[BANKS]   # by block number: whether it contains a trigger; 0: not yet examined
    cdef uint64_t known[BANKS]
    cdef uint64_t* parts         # whole, start, end -> number of the part: open-addressed hash
    cdef uint32_t* part_numbers
    cdef uint64_t part_count, part_capacity
    cdef uint64_t buffer[MAX_PART_WORDS]

    # Hooks: what a reader does with the parts, and where they end.
    cdef void pass_on(self, const uint64_t* words, uint64_t count) noexcept nogil
    cdef void reach(self, uint32_t trigger) noexcept nogil
    cdef void reach_due(self) noexcept nogil
    cdef void reach_return(self) noexcept nogil
    cdef bint ends_part(self, uint64_t mark) noexcept nogil
    cdef void handle_mark(self, uint64_t mark) noexcept nogil

    @cython.final
    cdef bint has_trigger(self, uint64_t number) noexcept nogil
    @cython.final
    cdef bint examine_block(self, uint64_t number) noexcept nogil
    @cython.final
    cdef void split(self, const RanBlock* ran) noexcept nogil
    @cython.final
    cdef void stop_before(self, const RanBlock* ran, const BlockHead* head, uint32_t i, uint64_t access) noexcept nogil
    @cython.final
    cdef bint touched(self, const RanBlock* ran, const BlockHead* head, uint32_t i, uint64_t access,
                      uint32_t trigger) noexcept nogil
    @cython.final
    cdef bint mem_accesses(self, const RanBlock* ran, const BlockInstruction* instruction, uint32_t i, uint8_t kind,
                      uint64_t address, uint32_t trigger) noexcept nogil
    @cython.final
    cdef void pass_part(self, const RanBlock* ran, uint32_t start, uint32_t end) noexcept nogil
    @cython.final
    cdef uint32_t part_of(self, uint64_t number, uint32_t start, uint32_t end) noexcept nogil
    @cython.final
    cdef bint grow_parts(self) noexcept nogil
