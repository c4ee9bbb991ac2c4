"""The enumerations of ia64_kinds.pxd, which describes their values."""

from enum import IntFlag

class Ia64Kind(IntFlag):
    LOOP = 1 << 0
    SPECULATIVE = 1 << 1
    ADVANCED = 1 << 2
    LOAD_CHECK = 1 << 3
    CHECK_ALAT = 1 << 4
    CHECK_NAT = 1 << 5
    CHECK_FLAGS = 1 << 6
    SPILL_FILL = 1 << 7
    ALLOC = 1 << 8
    EPC = 1 << 9
    PREFETCH_HINT = 1 << 10
    RSE_EVENT = 1 << 11
    SLOT_B = 1 << 12
    STOP = 1 << 16
    MULTIWAY = 1 << 17
    PREDICATED = 1 << 18
    FP_OPS_1 = 1 << 19
    FP_OPS_2 = 1 << 20
    FP_OPS_4 = 1 << 21
    SLOT_1 = 1 << 22
    SLOT_2 = 1 << 23
