"""What the pipeline has to know of an encoding: ports, latency classes, registers (traits.py makes it)."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t

cdef enum:
    MOST_SOURCES = 6
    MOST_TARGETS = 4
    FIXED = 8                    # an operand's place: 0-3 Code.r1 .. r4, 4 qp, FIXED: `number` itself

cdef enum Port:                  # sets of ports that an instruction may go to; nested, so that counting suffices
    PORT_A = 0                   # any M or I
    PORT_M = 1                   # any M
    PORT_M01 = 2
    PORT_M0 = 3
    PORT_M23 = 4
    PORT_M2 = 5
    PORT_I = 6                   # any I
    PORT_I0 = 7
    PORT_F = 8
    PORT_F0 = 9
    PORT_B = 10
    PORT_BRP = 11                # nop.b, hint.b, brp: does not end the issue group
    PORT_L = 12                  # movl, nop.x: an I port
    PORTS = 13

cdef enum Operation:             # producers: rows of the latency table
    OP_ALU = 0
    OP_MULTIMEDIA
    OP_TRANSLATE
    OP_GETF
    OP_SETF
    OP_FMAC
    OP_FMISC
    OP_COMPARE
    OP_FCMP
    OP_FRCPA
    OP_LOAD
    OP_LOAD_FLOAT
    OP_FROM_BRANCH
    OP_TO_PREDICATES
    OP_FROM_LOOP                 # LC, EC, PFS
    OP_FROM_OTHER
    OP_FROM_STATUS               # FPSR, control registers
    OP_FROM_INDIRECT
    OP_TO_BRANCH
    OP_TO_LOOP                   # LC, EC, PFS
    OP_TO_REGISTER
    OP_STORE
    OPERATIONS

cdef enum Use:                   # consumers: columns of the latency table
    USE_PREDICATE = 0            # qualifying predicate
    USE_BRANCH_PREDICATE
    USE_ALU
    USE_ADDRESS
    USE_MULTIMEDIA
    USE_STORE
    USE_FMAC
    USE_FMISC
    USE_GETF
    USE_SETF
    USE_BRANCH                   # a branch register or loop counter that a branch reads
    USE_APPLICATION              # mov from an application register
    USES

cdef struct Operand:
    uint8_t place
    uint8_t what                 # Use or Operation
    uint16_t first               # where its register file begins in the scoreboard

cdef struct Traits:
    uint32_t kind                # stream.kinds.Kind
    uint8_t port
    uint8_t sources
    uint8_t targets
    uint8_t access               # memory.AccessKind + 1; 0: none
    uint16_t access_flags
    uint8_t size
    uint8_t branch               # predictor.BranchKind + 1; 0: none
    uint8_t whether
    uint8_t many
    uint8_t clear
    uint8_t effect               # Effect
    Operand source[MOST_SOURCES]
    Operand target[MOST_TARGETS]

cdef enum Effect:                # what an instruction does to the pipeline besides
    EFFECT_NONE = 0
    EFFECT_ALLOC
    EFFECT_ROTATE                # counted and while branches
    EFFECT_SERIALIZE             # srlz.i: refetches what follows
    EFFECT_ALL_PREDICATES        # writes every predicate
    EFFECT_COVER
    EFFECT_CLEAR_ROTATION
    EFFECT_LOADRS
    EFFECT_HINT                  # brp with a target in the instruction; it and those below are outside of the pipeline
    EFFECT_IMPORTANT_HINT        # ... with .imp
    EFFECT_FLUSH_LINE            # fc

# Scoreboard: registers by index.
cdef enum:
    GR_FIRST = 0                 # r0-r31; stacked ones are a ring behind
    STACKED = 0x8000             # flag in a Step's register: low bits count from r32
    RING_FIRST = 32
    RING = 128
    FR_FIRST = 160
    PR_FIRST = 288
    BR_FIRST = 352
    AR_LC = 360
    AR_EC = 361
    AR_PFS = 362
    AR_CCV = 363
    AR_UNAT = 364
    AR_FPSR = 365
    AR_OTHER = 366
    CR_ANY = 367
    PR_ALL = 368                 # when the last predicate is there
    AR_RSE = 369                 # RSC, BSP, BSPSTORE, RNAT
    REGISTERS = 370
