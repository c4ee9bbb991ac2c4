from enum import IntFlag

class Mark(IntFlag):
    SYSTEM_CALL = 1
    FAULT = 2
    MODE = 3
    SPILL = 4
    FILL = 5
    ALAT_MISS = 6
    ALAT_REPLACE = 7
    MISALIGNED_LOAD = 8
    MISALIGNED_STORE = 9
    DEFERRED = 10
    FLUSH_TO_ZERO = 11
    EXIT = 12
    RSE_ADDRESS = 13
    THREAD = 16
