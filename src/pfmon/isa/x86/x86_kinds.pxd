"""Bit flags of x86 instructions beyond isa/common/instruction_kinds.pxd: the word ``isa_kind`` of a description. No bit is
one of IA-64's (isa/ia64/ia64_kinds.pxd) that a signal of both has, so that its terms (signals/retired.csv) hold for both; the bits
are PowerPC's too, with which x86 shares no signal of such kinds."""

cpdef enum X86Kind:
    FP_ADDS = 1 << 0             # of FP_ARITH: adds, subtracts
    FP_MULTIPLIES = 1 << 1       # ... multiplies; with FP_ADDS: dot product
    DIVIDES = 1 << 2             # ... divides, takes a square root; without FP_ARITH: div, idiv
    APART = 1 << 7               # of one that loads and stores: at different addresses (push, pop, movs)
    FLUSHES_LINE = 1 << 8        # clflush
    READS_CLOCK = 1 << 9         # rdtsc, rdtscp
    VECTOR = 1 << 10             # has a vector register (xmm, ymm, zmm), or is about their state
    MMX = 1 << 11                # has an MMX register and no vector register, or is emms
    CONDITIONAL = 1 << 13        # a branch that may fall through: jcc, jcxz, loop
    PAUSE = 1 << 14              # pause
    PREFETCH_FAR = 1 << 15       # prefetchnta; with PREFETCH_OTHER: prefetchw, prefetchwt1
    PREFETCH_OTHER = 1 << 24     # prefetcht1, prefetcht2; neither flag: prefetcht0
    FP_ARITH = 1 << 25           # computes as FP_ARITH_INST_RETIRED counts it (names.csv, fp_arith_inst_retired)
    FP_TWICE = 1 << 26           # ... and counts twice: fused multiply-add, dot product
    FP_DOUBLE = 1 << 27          # ... in double precision
    FP_PACKED = 1 << 28          # ... on vectors, of 128 bits without the next two
    WIDE_256 = 1 << 29
    WIDE_512 = 1 << 30
    BYPASSES_CACHES = 1 << 30    # of one that writes and does not compute: it leaves its lines in no cache (movnt*, clflush)
