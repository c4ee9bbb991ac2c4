"""Attributes of an encoding for later stages, independent of its execution (encoding_rows.py states them)."""

from libc.stdint cimport uint8_t, uint16_t

cdef enum:
    MAX_SOURCES = 6
    MAX_TARGETS = 4

cpdef enum Operation:            # how a register is produced
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
    OP_FROM_CLOCK                # ITC, RUC
    OP_FROM_INDIRECT
    OP_TO_BRANCH
    OP_TO_LOOP                   # LC, EC, PFS
    OP_TO_REGISTER
    OP_STORE
    OPERATIONS

cpdef enum Use:                  # how a register is consumed
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

cpdef enum AccessType:
    ACCESS_LOAD = 0              # integer load
    ACCESS_FLOAT_LOAD = 1
    ACCESS_STORE = 2
    ACCESS_FLOAT_STORE = 3
    ACCESS_SEMAPHORE = 4
    ACCESS_LFETCH = 5
    ACCESS_FILL = 6              # of the register stack engine
    ACCESS_SPILL = 7
    ACCESS_FLUSH = 8             # fc
    ACCESS_KINDS = 9

cpdef enum AccessFlag:
    ACCESS_ACQUIRE = 1
    ACCESS_RELEASE = 2
    ACCESS_SPECULATIVE = 4       # ld.s, ld.sa
    ACCESS_ADVANCED = 8          # ld.a, ld.sa
    ACCESS_CHECK = 16            # ld.c, ldf.c: goes to memory only if the check failed
    ACCESS_EXCLUSIVE = 32        # ld.bias, lfetch.excl: the line is requested for writing
    ACCESS_NT1 = 64              # locality hints
    ACCESS_NT2 = 128
    ACCESS_NTA = 256
    ACCESS_SPILL_FILL = 512      # ld8.fill, st8.spill
    ACCESS_FAULTING = 1024       # lfetch.fault: it takes the faults that other lfetch drop

cpdef enum BranchType:           # as the PMU's branch events distinguish them and the predictor does
    BRANCH_RELATIVE = 0          # br.cond, IP-relative
    BRANCH_CALL = 1              # br.call, IP-relative
    BRANCH_RETURN = 2
    BRANCH_INDIRECT = 3          # br.cond through a branch register
    BRANCH_INDIRECT_CALL = 4
    BRANCH_CLOOP = 5             # counted loop: br.cloop
    BRANCH_WTOP = 6              # br.wtop, wexit
    BRANCH_LONG = 7              # brl
    BRANCH_LONG_CALL = 8
    BRANCH_CTOP = 9              # counted loops that rotate registers: br.ctop, cexit
    BRANCH_KINDS = 10

cpdef enum Whether:              # prediction hints, as encoded
    STATIC_TAKEN = 0
    STATIC_NOT_TAKEN = 1
    DYNAMIC_TAKEN = 2
    DYNAMIC_NOT_TAKEN = 3

cpdef enum Effect:               # other effects of an instruction on the pipeline
    EFFECT_NONE = 0
    EFFECT_ALLOC
    EFFECT_ROTATE                # counted and while branches
    EFFECT_SERIALIZE             # srlz.i: refetches the following instructions
    EFFECT_ALL_PREDICATES        # writes every predicate
    EFFECT_COVER
    EFFECT_CLEAR_ROTATION
    EFFECT_LOADRS
    EFFECT_FENCE                 # mf: later instructions wait for all earlier memory accesses
    EFFECT_PAUSE                 # hint: @pause (0) switches to the other hardware thread
    EFFECT_RETURN_FROM           # rfi: serializes
    EFFECT_INSERT_DATA           # itc.d
    EFFECT_INSERT_CODE           # itc.i
    EFFECT_PURGE                 # ptc.e: no translation cache keeps anything
    EFFECT_HINT                  # brp with a target in the instruction; it and the next two are outside of the pipeline
    EFFECT_IMPORTANT_HINT        # the same with .imp
    EFFECT_FLUSH_LINE            # fc

cpdef enum Place:                # position of an operand's register number: 0-3 are r1 to r4
    PLACE_QP = 4
    FIXED = 8                    # the register `first` itself

cpdef enum RegisterIndex:        # registers by one index; stacked general registers are a ring after the others
    GR_FIRST = 0                 # r0-r31
    RING_FIRST = 32
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
    PR_ALL = 368                 # ready time of the last predicate
    AR_RSE = 369                 # RSC, BSP, BSPSTORE, RNAT
    REGISTER_COUNT = 370

cdef enum:
    STACKED = 0x8000             # flag in an index: low bits count from r32
    RING = 128

cdef struct Operand:             # a register that an encoding reads or writes
    uint8_t place                # Place
    uint8_t what                 # Use or Operation
    uint16_t first               # start of its register file (RegisterIndex)

cdef struct Attributes:
    uint8_t layout               # number of its format (formats.FORMATS)
    uint8_t sources
    uint8_t targets
    uint8_t access               # AccessType + 1; 0: none
    uint16_t access_flags        # AccessFlag
    uint8_t size                 # bytes of its memory access
    uint8_t branch               # BranchType + 1; 0: none
    uint8_t whether              # of a branch: Whether
    uint8_t many                 # of a branch: sequential prefetch hint .many
    uint8_t clear                # of a branch: deallocation hint .clr
    uint8_t effect               # Effect
    uint8_t fp_operations        # floating-point operations (names.csv, fp_ops_retired)
    uint8_t fp_halves            # half of them when f0 is the addend or f1 a factor
    Operand source[MAX_SOURCES]
    Operand target[MAX_TARGETS]


cdef inline int as_int(int member) noexcept nogil:
    """An enumeration member as a plain integer, for row(): the enumeration's Python object is slow to get."""
    return member
