from enum import IntEnum

class Cause(IntEnum):
    XPN = 0  # and more: causes.pxd

class FrontCause(IntEnum):
    FRONT_FEFLUSH = 0  # and more: causes.pxd
