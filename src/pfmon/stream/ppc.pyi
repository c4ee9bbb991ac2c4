"""The enumeration of ppc.pxd, which says what each means."""

from enum import IntFlag

class PpcKind(IntFlag):
    INTEGER = 1 << 24
    SYNC = 1 << 25
    EIEIO = 1 << 26
    ICBI = 1 << 27
