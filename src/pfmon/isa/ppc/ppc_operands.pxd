"""Registers read and written by PowerPC instructions: see ppc_operands.pyx."""

from libc.stdint cimport uint32_t

from pfmon.stream._stream cimport RegisterMasks

cpdef enum Use:                  # used fields, and implicit registers
    WRITE_RT = 1 << 0
    WRITE_RA = 1 << 1
    WRITE_FT = 1 << 2
    WRITE_RT_ON = 1 << 3         # and all after it
    WRITE_BF = 1 << 4
    WRITE_FXM = 1 << 5
    WRITE_SPR = 1 << 6
    WRITE_CA = 1 << 7
    WRITE_CR0 = 1 << 8
    WRITE_LR = 1 << 9            # if LK is set
    RECORD = 1 << 10             # CR0, if Rc is set
    RECORD_1 = 1 << 11           # CR1
    READ_RT = 1 << 12
    READ_RA = 1 << 13
    READ_RA0 = 1 << 14
    READ_RB = 1 << 15
    READ_FT = 1 << 16
    READ_FA = 1 << 17
    READ_FB = 1 << 18
    READ_FC = 1 << 19
    READ_RT_ON = 1 << 20
    READ_BC = 1 << 21
    READ_BITS = 1 << 22          # of the condition register, two
    READ_CR = 1 << 23
    READ_SPR = 1 << 24
    READ_CA = 1 << 25
    READ_BO = 1 << 26
    READ_LR = 1 << 27
    READ_CTR = 1 << 28
    ADDRESS_RA0 = 1 << 29
    ADDRESS_RB = 1 << 30

# The registers that an instruction with this code and these uses reads, writes, and uses in addresses.
cdef void fill_operands(RegisterMasks* place, uint32_t word, uint32_t uses) noexcept nogil
