"""Bit flags of IA-64 instructions beyond isa/common/instruction_kinds.pxd: the word ``isa_kind`` of a description."""

from libc.stdint cimport uint8_t, uint64_t

cpdef enum Ia64Kind:             # of its encoding
    LOOP = 1 << 0                # br.cloop, ctop, cexit, wtop, wexit
    SPECULATIVE = 1 << 1         # control-speculative load: ld.s, ld.sa
    ADVANCED = 1 << 2            # data-speculative load: ld.a, ld.sa
    LOAD_CHECK = 1 << 3          # ld.c.clr, ld.c.nc, ldf.c: reads memory only when the ALAT check fails
    CHECK_ALAT = 1 << 4          # chk.a.clr, chk.a.nc
    CHECK_NAT = 1 << 5           # chk.s
    CHECK_FLAGS = 1 << 6         # fchkf
    SPILL_FILL = 1 << 7          # st8.spill, ld8.fill, stf.spill, ldf.fill
    ALLOC = 1 << 8               # alloc
    EPC = 1 << 9                 # epc
    PREFETCH_HINT = 1 << 10      # brp: a hint to the front end
    RSE_EVENT = 1 << 11          # may start the register stack engine (names.csv, rse_event_retired)
    SLOT_B = 1 << 12             # goes into B slots only
    # Of the instruction in its bundle:
    STOP = 1 << 16               # followed by a stop
    MULTIWAY = 1 << 17           # a branch in a bundle with more than one
    PREDICATED = 1 << 18         # its qualifying predicate is not p0
    FP_OPS_1 = 1 << 19           # floating-point operations (names.csv, fp_ops_retired): one of these, or none
    FP_OPS_2 = 1 << 20
    FP_OPS_4 = 1 << 21
    SLOT_1 = 1 << 22             # its slot, if it is not the first
    SLOT_2 = 1 << 23

cdef struct Ia64Payload:         # of an instruction in the block table
    uint64_t encoding            # 41 bits
    uint64_t extension           # the L slot of a long instruction
    uint8_t unit                 # type of its slot: 0 M, 1 I, 2 F, 3 B, 4 X for the two of a long instruction, 255 none
    uint8_t qp                   # its qualifying predicate
