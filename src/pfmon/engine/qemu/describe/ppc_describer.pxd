"""PowerPC instructions of announced blocks; see ppc_describer.pyx."""

cimport cython
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BlockInstruction


cdef enum:
    MAX_UNDECODED = 64

cpdef enum PpcRule:              # source of an access's size, if not the mnemonic
    MNEMONIC_SIZE = 0
    WORDS = 1                    # registers up to the last: lmw, stmw
    BYTES = 2                    # the field NB: lswi, stswi
    SOME = 3                     # XER, at execution: lswx, stswx
    LINE = 4                     # of the data cache: dcbz

cdef struct Undecoded:           # instructions unknown to capstone: word & mask == value
    uint32_t value
    uint32_t mask
    InstructionFacts facts


@cython.final
cdef class PpcDescriber(Describer):
    cdef bint big_endian
    cdef Undecoded undecoded[MAX_UNDECODED]
    cdef uint32_t undecoded_count
    cdef uint32_t word           # the last described instruction
    cdef uint8_t shift[64]       # by primary opcode: position of the extended one
    cdef uint16_t mask[64]       # mask of the extended one
    cdef uint32_t* forms         # ppc_operands.Use, by primary and extended opcode

    cdef int make_room_for_forms(self) except -1
    cdef uint32_t word_of(self, const uint8_t* code) noexcept nogil
    cdef const InstructionFacts* find(self, const uint8_t* code, uint8_t size, uint64_t address) noexcept nogil
