"""The enumerations of instruction_kinds.pxd, which describes their values."""

from enum import IntFlag

class Kind(IntFlag):
    NOP = 1 << 0
    LOAD = 1 << 1
    STORE = 1 << 2
    ATOMIC = 1 << 3
    PREFETCH = 1 << 4
    FLOAT = 1 << 5
    FP_OPERATION = 1 << 6
    BRANCH = 1 << 7
    RELATIVE = 1 << 8
    RETURN = 1 << 9
    CALL = 1 << 10
    INDIRECT = 1 << 11
    SYSTEM = 1 << 12
    PRIVILEGED = 1 << 13
    SERIALIZE = 1 << 14
