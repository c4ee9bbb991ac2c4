from collections.abc import Mapping, Sequence
from enum import IntEnum

from pfmon.machine.figures import Value
from pfmon.machine.machine import Machine
from pfmon.stream.consumer import Consumer
from pfmon.stream.ring import Ring

POLICIES: dict[str, int]

class SwitchCause(IntEnum):
    BY_L3 = 0
    BY_TIMER = 1
    BY_HINT = 2
    BY_LOW_POWER = 3
    SWITCH_CAUSES = 4

class ThreadSwitch:
    """Two hardware threads of a core take turns."""

    lost: bool
    def __init__(self, config: Mapping[str, Value]) -> None: ...
    def run(self, threads: Sequence[Machine], readers: Sequence[Consumer], rings: Sequence[Ring]) -> None: ...
    @property
    def active_cycles(self) -> list[int]: ...
    @property
    def switching_cycles(self) -> list[int]: ...
    def switch_counts(self) -> list[list[int]]: ...
    def evictions(self, thread: int) -> dict[str, int]: ...
