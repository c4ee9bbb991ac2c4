from enum import IntEnum

class Occurrence(IntEnum):
    NOTHING_HAPPENED = 0  # and more: occurrences.pxd
