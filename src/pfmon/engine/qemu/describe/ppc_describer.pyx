"""Describes PowerPC instructions.

A table has the properties of mnemonics (ppc_mnemonics.py). Branches are read from their encoding (Power ISA, book I,
section 2.4): capstone 5 takes unconditional ones (bc 20) for bdnz, and does not report calls. An instruction has 32
bits, a prefixed one, which capstone does not decode, 64. The form gives the registers read and written (ppc_forms.py,
ppc_operands.pyx).
"""

from libc.stdint cimport uint16_t, uint32_t, uint64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from pfmon.stream._stream cimport ALWAYS, BlockInstruction, BranchKind, Kind, RegisterMasks


cdef enum:                       # primary opcodes, and extended ones of opcode 19
    OPCODE_BC = 16             # bc
    OPCODE_B = 18           # b
    REGISTER = 19
    TO_LINK = 16                 # bclr
    TO_COUNT = 528               # bcctr
    TO_TARGET = 560              # bctar
    EXTENDED_BITS = 10


cdef inline uint32_t extended(uint32_t word) noexcept nogil:
    return word >> 1 & 0x3FF


cdef inline bint is_branch(uint32_t word) noexcept nogil:
    cdef uint32_t primary = word >> 26
    return primary == OPCODE_BC or primary == OPCODE_B or (
        primary == REGISTER and (extended(word) == TO_LINK or extended(word) == TO_COUNT
                                 or extended(word) == TO_TARGET))


cdef inline bint targets_next(uint32_t word) noexcept nogil:
    """Whether a branch with LK has the next instruction as its target: that idiom reads the instruction address and is
    no call (bcl 20,31,$+4; book I, section 2.4)."""
    return word >> 26 == OPCODE_B and word & 0x3FFFFFE == 4 or word >> 26 == OPCODE_BC and word & 0xFFFE == 4


cdef void describe_direct(BlockInstruction* described, uint32_t word) noexcept nogil:
    """b and bc: target relative to their own address, unless AA is set; a call, if LK is."""
    cdef bint calls = word & 1 and not targets_next(word)
    described.branch = BranchKind.DIRECT_CALL if calls else BranchKind.DIRECT
    if calls:
        described.kind |= Kind.CALL
    if not word & 2:
        described.kind |= Kind.RELATIVE


cdef void describe_indirect(BlockInstruction* described, uint32_t word) noexcept nogil:
    """Target in LR, CTR or TAR. A bclr is no return if its field BH says so; one that sets LR is a call."""
    described.kind |= Kind.INDIRECT
    if word & 1:
        described.kind |= Kind.CALL
        described.branch = BranchKind.INDIRECT_CALL
    elif extended(word) == TO_LINK and word >> 11 & 3 == 0:
        described.kind |= Kind.RETURN
        described.branch = BranchKind.RETURN_BRANCH
    else:
        described.branch = BranchKind.INDIRECT_JUMP


cdef void describe_branch(BlockInstruction* described, uint32_t word) noexcept nogil:
    """The field BO says whether a branch other than b is conditional."""
    described.kind = Kind.BRANCH
    if word >> 26 == REGISTER:
        describe_indirect(described, word)
    else:
        describe_direct(described, word)
    if word >> 26 != OPCODE_B and word >> 21 & 0x14 != 0x14:
        described.condition = 0


cdef uint16_t bytes_of(uint8_t rule, uint16_t size, uint32_t word, bint is_64) noexcept nogil:
    """Bytes that an instruction accesses, by its mnemonic or its fields."""
    if rule == PpcRule.WORDS:
        return <uint16_t>(4 * (32 - (word >> 21 & 31)))
    if rule == PpcRule.BYTES:
        return <uint16_t>(word >> 11 & 31 or 32)
    if rule == PpcRule.SOME:
        return 4
    if rule == PpcRule.LINE:
        return 128 if is_64 else 32
    return size


cdef class PpcDescriber(Describer):
    """Describes PowerPC instructions of either size and byte order."""

    def __cinit__(self, table, path, facts, registers, architecture, uint32_t mode):
        self.big_endian = mode >> 31

    def set_undecoded(self, rows):
        """Set the facts of instructions that capstone does not decode: value, mask, facts. ValueError: too many."""
        for value, mask, (kind, branch, rule, first, size, isa_kind) in rows:
            if self.undecoded_count == MAX_UNDECODED:
                raise ValueError(f"more than {MAX_UNDECODED} instructions that capstone does not decode")
            self.undecoded[self.undecoded_count] = Undecoded(value, mask,
                InstructionFacts(kind, branch, rule, first, size, isa_kind))
            self.undecoded_count += 1

    def __dealloc__(self):
        free(self.forms)

    cdef int make_room_for_forms(self) except -1:
        self.forms = <uint32_t*>calloc(64 << EXTENDED_BITS, sizeof(uint32_t))
        if self.forms == NULL:
            raise MemoryError
        return 0

    def set_forms(self, extensions, rows):
        """Set the registers used by instructions (ppc_forms.py). ``extensions``: position of the extended opcode, by
        primary opcode; rows of primary opcode, extended opcode, ppc_operands.Use."""
        if self.forms == NULL:
            self.make_room_for_forms()
        for primary, (shift, mask) in extensions.items():
            self.shift[primary], self.mask[primary] = shift, mask
        for primary, extended, uses in rows:
            self.forms[primary << EXTENDED_BITS | extended] = uses

    cdef void dataflow(self, RegisterMasks* described, uint64_t* form) noexcept nogil:
        cdef uint32_t primary = self.word >> 26
        if self.forms != NULL:
            fill_operands(described, self.word, self.forms[
                primary << EXTENDED_BITS | (self.word >> self.shift[primary] & self.mask[primary])])

    cdef uint32_t word_of(self, const uint8_t* code) noexcept nogil:
        if self.big_endian:
            return <uint32_t>code[0] << 24 | <uint32_t>code[1] << 16 | <uint32_t>code[2] << 8 | code[3]
        return <uint32_t>code[3] << 24 | <uint32_t>code[2] << 16 | <uint32_t>code[1] << 8 | code[0]

    cdef const InstructionFacts* find(self, const uint8_t* code, uint8_t size, uint64_t address) noexcept nogil:
        """The facts of an instruction, or NULL."""
        cdef uint32_t word = self.word_of(code), i
        if self.decode(code, size, address):
            return &self.facts[self.decoded.id] if self.decoded.id < MAX_CAPSTONE_IDS else NULL
        for i in range(self.undecoded_count):
            if word & self.undecoded[i].mask == self.undecoded[i].value:
                return &self.undecoded[i].facts
        return NULL

    cdef void instruction(self, BlockInstruction* described, const uint8_t* code, uint8_t size,
                          uint64_t address) noexcept nogil:
        """Describe one instruction; an unknown one has no kinds."""
        cdef uint32_t word = self.word_of(code)
        cdef const InstructionFacts* facts
        self.word = word
        memset(described, 0, sizeof(BlockInstruction))
        described.address, described.length, described.condition, described.privilege = address, size, ALWAYS, 3
        if is_branch(word):
            describe_branch(described, word)
            return
        facts = self.find(code, size, address)
        if facts == NULL:
            return
        described.kind, described.isa_kind = facts.kind, facts.isa_kind
        described.access, described.size = facts.first, bytes_of(facts.rule, facts.size, word, self.width == 8)
