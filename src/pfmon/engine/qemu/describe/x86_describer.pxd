"""x86 instructions of announced blocks; see x86_describer.pyx."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BlockInstruction, OperandForm, RegisterMasks

cdef enum:
    STACK_OPCODES = 8 << 8       # of x87: the opcode's low three bits, then the byte ModRM

cpdef enum X86Rule:              # what capstone's registers of an instruction lack; a set of bits
    READS_DESTINATION = 1        # the register that it writes in part, or perhaps
    WRITES_FIRST = 2             # its first operand, if a register
    CLEARS_MASK = 4              # a gather or scatter: the mask is cleared
    KEEPS_VECTORS = 8            # vzeroupper: nothing waits for it
    SHIFTS = 16                  # by cl it may leave the flags as they are
    REPEATS = 32                 # a string instruction
    KEEPS_LENGTH = 64            # ret, enter: no prefix changes the length of their first immediate
    WRITES_NOTHING = 128         # no register; other instructions with VEX or EVEX write their first operand, if it is one

cdef struct X86Registers:        # of an instruction, by its number in capstone
    uint64_t read                # beyond capstone's: bits of RegisterMasks
    uint64_t written
    uint32_t rules               # X86Rule

cdef struct Operand:             # capstone's record of an operand
    int32_t type
    int32_t padding
    uint8_t value[24]            # of a register its number, of one in memory an Address
    uint8_t size
    uint8_t access
    uint8_t vector[14]

cdef struct Address:             # capstone's record of an operand in memory
    uint32_t segment
    uint32_t base
    uint32_t index
    int32_t scale
    int64_t displacement


@cython.final
cdef class X86Describer(Describer):
    cdef X86Registers more[MAX_CAPSTONE_IDS]
    cdef uint8_t forms[MAX_CAPSTONE_REGISTERS]  # OperandForm by capstone's number
    cdef uint16_t stack[STACK_OPCODES]          # x87 registers read, and written << 8, by opcode
    cdef uint32_t rip_number                    # capstone's of rip or eip

    cdef void operands(self, BlockInstruction* described, const InstructionFacts* facts) noexcept nogil
    cdef void branch(self, BlockInstruction* described, const InstructionFacts* facts) noexcept nogil
    cdef uint64_t bit(self, uint32_t number) noexcept nogil
    cdef uint64_t operand_bit(self, const Operand* operand) noexcept nogil
    cdef void correct(self, RegisterMasks* described, const X86Registers* more) noexcept nogil
    cdef void write_first(self, RegisterMasks* described, uint64_t first) noexcept nogil
    cdef bint is_masked(self) noexcept nogil
    cdef void clear_mask(self, RegisterMasks* described) noexcept nogil
    cdef bint by_cl(self, const X86Registers* more) noexcept nogil
    cdef uint32_t register_file_kind(self) noexcept nogil
    cdef OperandForm operand_form(self, const Operand* operand) noexcept nogil
    cdef uint64_t form_of(self, const X86Registers* more) noexcept nogil
    cdef uint64_t register_bits(self) noexcept nogil
    cdef uint64_t address_bits(self, const Address* address) noexcept nogil
    cdef bint length_changed(self, const X86Registers* more) noexcept nogil
    cdef bint vector_encoded(self) noexcept nogil
