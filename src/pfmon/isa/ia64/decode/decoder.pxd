"""The decoder's C interface."""

from libc.stdint cimport int8_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t


cdef enum Unit:                  # slot types
    UNIT_M = 0
    UNIT_I = 1
    UNIT_F = 2
    UNIT_B = 3
    UNIT_X = 4                   # the L and X slots together
    UNITS = 5

cdef inline str unit_letters():
    """The letters of the units, by their numbers."""
    letters = {UNIT_M: "M", UNIT_I: "I", UNIT_F: "F", UNIT_B: "B", UNIT_X: "X"}
    return "".join([letters[unit] for unit in range(UNITS)])

cdef enum Role:                  # flags
    ROLE_SOURCE = 1
    ROLE_TARGET = 2
    ROLE_BASE = 4                # base register of a load, store or line prefetch, which updates it

cdef struct RegisterOperand:     # Op.r1 .. Op.r4; FILE_NONE: unused by the row
    uint8_t file
    uint8_t role
    uint8_t low                  # lowest bit of its number in the slot
    uint8_t width

cdef struct ImmediateOperand:    # count 0: none
    uint8_t count
    uint8_t low[6]               # fields, highest first
    uint8_t width[6]
    uint8_t total                # bits of all fields
    uint8_t is_signed
    uint8_t relative             # the bundle's address is added
    uint8_t has_table
    int8_t table[8]
    int64_t base
    int64_t step

cdef struct Row:
    void* run                    # the handler, an engine's (cpu.pxd, Handler); NULL before its engine is loaded
    void* guarded                # the same, tests the qualifying predicate; NULL: needs a guard
    uint64_t mask                # fixed bits
    uint64_t value
    uint32_t number              # in instruction_set.INSTRUCTIONS
    uint32_t kind                # stream.kinds.Kind
    uint32_t isa_kind            # stream.ia64.Ia64Kind
    uint8_t nat
    uint8_t predicated
    uint8_t emit
    uint8_t ctype
    uint8_t has_qp
    uint8_t imm_is_ip            # Op.imm is the bundle's address
    uint8_t tie_width            # 0: no tie
    uint8_t tie_a
    uint8_t tie_b
    uint8_t tie_complement
    uint8_t as_first  # its handler's number among those that begin a pair (encoding_rows.PAIRS); 0: none does
    uint8_t as_second            # the same among those that end one
    uint16_t x
    RegisterOperand registers[4]
    ImmediateOperand imm
    ImmediateOperand y
    ImmediateOperand x_operand
    Attributes attributes

cdef struct Operands:            # the operands as Op has them
    int64_t imm
    int64_t y
    uint16_t x
    uint8_t r1, r2, r3, r4, qp

cdef Row* decode(int unit, uint64_t encoding, uint64_t extension) noexcept nogil
cdef void operands(Row* row, uint64_t encoding, uint64_t extension, uint64_t bundle_address,
                   Operands* out) noexcept nogil
cdef void* paired(Row* first, Row* second) noexcept nogil
cdef int load_decoder(size_t origin=*) except -1
