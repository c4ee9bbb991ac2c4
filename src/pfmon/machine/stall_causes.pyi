from enum import IntEnum

class Cause(IntEnum):
    XPN = 0  # and more: stall_causes.pxd

class FrontCause(IntEnum):
    FRONT_FEFLUSH = 0  # and more: stall_causes.pxd

class Dispersal(IntEnum):
    DISPERSAL_EXPLICIT = 0
    DISPERSAL_IMPLICIT = 3
    DISPERSAL_FRONT_END = 6
    DISPERSAL_LONG = 9
    DISPERSAL_OVER_EXPLICIT = 12
    DISPERSAL_OVER_IMPLICIT = 14
    DISPERSAL_DISPERSED = 16
    DISPERSAL_END = 19
