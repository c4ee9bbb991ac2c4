"""What a PowerPC instruction is besides (stream/kinds.pxd), as bit flags: the word ``isa_kind`` of its description. No
bit is one of IA-64's (stream/ia64.pxd), so that terms of signals (signals/retired.csv) hold for both."""

cpdef enum PpcKind:
    INTEGER = 1 << 24            # for an integer unit: arithmetic, logic, comparisons, traps, moves of special registers
    SYNC = 1 << 25               # sync, lwsync, ptesync
    EIEIO = 1 << 26              # eieio
    ICBI = 1 << 27               # icbi
