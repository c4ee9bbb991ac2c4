from enum import IntEnum

from pfmon.machine.machine import Machine

class Stage(IntEnum):
    STREAM = 0
    PREDICTOR = 1
    FETCH = 2
    TLBS = 3
    CACHES = 4
    WHOLE = 5

class StagedMachine(Machine):
    """A machine that stops after a stage; for benchmarks."""

    stage: int
