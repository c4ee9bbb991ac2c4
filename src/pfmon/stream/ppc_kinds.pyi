"""The enumeration of ppc_kinds.pxd, which describes its values."""

from enum import IntFlag

class PpcKind(IntFlag):
    RESERVES = 1 << 13
    FLUSHES = 1 << 14
    CACHE = 1 << 15
    INTEGER = 1 << 24
    SYNC = 1 << 25
    EIEIO = 1 << 26
    ICBI = 1 << 27
    MULTIPLE_CYCLE = 1 << 28
    MFSPR = 1 << 29
    MTSPR = 1 << 30
