"""Enters announced blocks into the block table; see block_describer.pyx."""

cimport cython
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BlockInstruction, BlockTable, Consumer, RegisterMasks

cdef enum:
    PAYLOAD_BYTES = 48           # of an instruction in the block table: its code and zeros, RegisterMasks, its form
    NO_REGISTER = 255            # no bit of RegisterMasks
    MAX_CAPSTONE_REGISTERS = 512  # in capstone
    MAX_CAPSTONE_IDS = 1 << 12   # of instructions in capstone

cdef struct Instruction:         # capstone's record of one
    uint32_t id
    uint64_t address
    uint16_t size
    uint8_t bytes[24]
    char mnemonic[32]
    char text[160]
    void* detail

cdef struct InstructionFacts:    # of an instruction, by its number in capstone
    uint32_t kind                # instruction_kinds.Kind
    uint8_t branch               # BranchKind
    uint8_t rule                 # Rule
    uint8_t first                # AccessKind of its first operand, if in memory
    uint16_t size                # bytes of its memory access; 0: as capstone says, or a pointer's
    uint32_t isa_kind            # of its instruction set

cpdef enum MnemonicRule:         # further properties of an instruction's operands
    NO_RULE = 0
    NO_ACCESSES = 1              # its memory operand is not accessed: lea, nop
    EXCHANGES = 2                # atomic even without a lock prefix, when an operand is in memory: xchg
    JUMPS = 3                    # direct or indirect, by its operand
    CONDITIONAL = 4              # a conditional jump
    FETCHES = 5                  # reads and writes nothing: prefetches, clflush


ctypedef int (*registers_function)(size_t, const void*, uint16_t*, uint8_t*, uint16_t*, uint8_t*) noexcept nogil


cdef class Describer:
    cdef readonly BlockTable table
    cdef void* library
    cdef size_t handle
    cdef Instruction* decoded
    cdef uint16_t width          # bytes of a pointer
    cdef InstructionFacts facts[MAX_CAPSTONE_IDS]
    cdef uint8_t registers[MAX_CAPSTONE_REGISTERS]  # bits of RegisterMasks, by capstone's number
    cdef registers_function read_registers
    cdef Announcements announced
    cdef bint traced             # registers are described, too
    cdef BlockTable parent       # describes inherited blocks
    cdef list found              # the files that were mapped
    cdef readonly list functions # of a Python program, in the order of their numbers, from 1 on
    cdef public object on_mapped # called when files were mapped; None: no call

    @cython.final
    cdef bint describe(self) noexcept nogil
    @cython.final
    cdef bint enter(self) noexcept nogil
    @cython.final
    cdef bint inherit(self, uint64_t first) noexcept nogil
    @cython.final
    cdef bint is_plain(self, uint64_t number) noexcept nogil
    cdef void instruction(self, BlockInstruction* described, const uint8_t* code, uint8_t size,
                          uint64_t address) noexcept nogil
    @cython.final
    cdef bint decode(self, const uint8_t* code, uint8_t size, uint64_t address) noexcept nogil
    cdef void dataflow(self, RegisterMasks* described, uint64_t* form) noexcept nogil


# Counters of block runs: see block_run_totals.pyx.
cdef uint64_t pass_totals(Describer describer, Consumer consumer, bint faulted, uint64_t* where) except? -1
