"""Bit flags of PowerPC instructions beyond isa/common/instruction_kinds.pxd: the word ``isa_kind`` of a description. No bit
is one of IA-64's (isa/ia64/ia64_kinds.pxd), so that terms of signals (signals/retired.csv) hold for both."""

cpdef enum PpcKind:
    RESERVES = 1 << 13           # lwarx and similar
    FLUSHES = 1 << 14            # flushes the pipeline: sc, isync, mtxer, mcrxr
    CACHE = 1 << 15              # dcb..., icbi, sync, eieio: in the load/store unit, but neither loads nor stores
    INTEGER = 1 << 24            # for an integer unit: arithmetic, logic, comparisons, traps, moves of SPRs
    SYNC = 1 << 25               # sync, lwsync, ptesync
    EIEIO = 1 << 26              # eieio
    ICBI = 1 << 27               # icbi
    MULTIPLE_CYCLE = 1 << 28     # for the integer unit that takes several cycles: mul..., div..., mfspr, mtspr
    MFSPR = 1 << 29              # mfspr, mflr, mfctr, mfxer
    MTSPR = 1 << 30              # mtspr, mtlr, mtctr, mtxer
