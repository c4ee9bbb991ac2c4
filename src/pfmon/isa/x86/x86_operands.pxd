"""Registers and operands of x86 instructions as payloads of the block table have them: the instruction's code, the masks of
its registers (isa/common/operand_masks.pxd), and its form, a word of 64 bits that says which instruction it is and what its
operands are."""

cdef enum:
    FORM_AT = 40                 # bytes of a payload before the form

cdef enum:                       # bits of RegisterMasks; bits 0-15: general registers by number
    FLAG_CARRY = 16              # CF
    FLAGS_OTHER = 17             # OF, SF, ZF, AF, PF
    STACK_BASE = 18              # st(i), relative to the top before the instruction; or mm_i: bits 18-25
    OPMASK_BASE = 26             # k1 to k6: bits 26-31; k0 has the bit of k1, k7 that of k6
    VECTOR_BASE = 32             # xmm, ymm and zmm registers by number

cpdef enum OperandForm:          # five bits of the form for each operand, in Intel's order
    FORM_NONE = 0
    FORM_IMMEDIATE = 1
    FORM_R8 = 2
    FORM_R8_HIGH = 3                  # ah, bh, ch, dh
    FORM_R16 = 4
    FORM_R32 = 5
    FORM_R64 = 6
    FORM_XMM = 7
    FORM_YMM = 8
    FORM_ZMM = 9
    FORM_MM = 10
    FORM_ST = 11
    FORM_OPMASK = 12
    FORM_M8 = 13
    FORM_M16 = 14
    FORM_M32 = 15
    FORM_M64 = 16
    FORM_M80 = 17
    FORM_M128 = 18
    FORM_M256 = 19
    FORM_M512 = 20
    FORM_M_OTHER = 21
    FORM_SYSTEM = 22                  # segment, control or debug register
    FORM_OTHER = 23

cpdef enum FormBit:              # first bits of the fields of a form; capstone's number of the instruction is in bits 0-11
    FORM_OPERANDS = 12           # six times an OperandForm
    FORM_SAME = 42               # its source registers are one register: xor eax, eax
    FORM_OWN_SOURCE = 43         # its destination is also a written source: mov eax, eax
    FORM_REPEATED = 44           # 1: rep or repe, 2: repne
    FORM_LOCKED = 46             # lock, or an exchange with memory
    FORM_BASE = 47
    FORM_INDEX = 48
    FORM_DISPLACED = 49          # a displacement is encoded, even if it is 0: bases rbp and r13 have one
    FORM_RIP_RELATIVE = 50
    FORM_SCALED = 51             # the scale is not 1
    FORM_FAR = 52                # the displacement is not from 0 to 2047
    FORM_LENGTH_CHANGED = 53     # a prefix changes the length of the rest
    FORM_BY_CL = 54              # a shift or rotation by cl
    FORM_VEX = 55                # encoded with VEX or EVEX
    FORM_POPS = 56               # faddp, which capstone takes for fadd
    FORM_BY_ONE = 57             # a shift or rotation by 1 that is encoded without an immediate

cdef enum:
    FORM_MAX_OPERANDS = 6
    FORM_OPERAND_BITS = 5
