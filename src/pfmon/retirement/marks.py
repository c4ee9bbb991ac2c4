"""Kinds of marks by name, for readers in Python. The numbers are those of stream.pxd (a test compares them)."""

from enum import IntEnum


class Mark(IntEnum):
    """What a mark in the stream says; its value is described in docs/stream.md."""

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
    SIGNAL = 12
    EXIT = 13
