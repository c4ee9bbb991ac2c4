"""How long an access takes at every level: the published figures (Montecito manual, table 2-8, notes 3 and 4)."""

import pytest

from pfmon.machine.config import load
from pfmon.machine.lower import LowerLevels
from pfmon.machine.memory import DataMemory

LOAD, FLOAT_LOAD, STORE, FLOAT_STORE, SEMAPHORE, LFETCH, FILL, SPILL = range(8)  # memory.pxd, AccessKind
FETCH = 5  # lower.pxd, RequestKind
KILO, MEGA = 1 << 10, 1 << 20
PAGE = 16 * KILO
START = 1 << 20  # an address and a cycle to begin with

# Machine -> level -> cycles from an integer load to its use by an integer operation.
LOADS = {
    "itanium": {"l1d": 2, "l2": 6, "l3": 21, "memory": 176},
    "itanium2": {"l1d": 1, "l2": 5, "l3": 12, "memory": 208},
    "madison-9m": {"l1d": 1, "l2": 5, "l3": 14, "memory": 208},
    "montecito": {"l1d": 1, "l2": 5, "l3": 14, "memory": 208},
}
# ... from a floating-point load to its use by a multiply-add, the conversion to register format included.
FLOATS = {
    "itanium": {"l2": 9, "l3": 24},
    "itanium2": {"l2": 6, "l3": 13},
    "madison-9m": {"l2": 6, "l3": 15},
    "montecito": {"l2": 6, "l3": 15},
}


class Side:
    """The data side of a machine, with a clock that leaves time between accesses for everything to end."""

    def __init__(self, machine: str, *figures: str) -> None:
        self.config = load(machine, figures)
        self.lower = LowerLevels(self.config)
        self.memory = DataMemory(self.config, self.lower)
        self.now = START

    def latency(self, address: int, kind: int = LOAD, flags: int = 0) -> int:
        """Cycles of one access, those that the pipeline stood still included."""
        self.now += 10_000
        return self.memory.access_at(address, kind, self.now, 8, flags)[0] - self.now

    def stalls(self, address: int, kind: int = LOAD) -> int:
        """Cycles that the pipeline stood still for one access."""
        self.now += 10_000
        return sum(cycles for _, cycles in self.memory.access_at(address, kind, self.now)[1])

    def touch_page(self, address: int) -> None:
        """The translation is in both TLBs, the page's first line nowhere near what a test looks at."""
        self.latency(address)
        self.latency(address)

    def sweep(self, first: int, size: int, step: int, kind: int = LOAD) -> list[int]:
        """The latencies of accesses one after the other."""
        return [self.latency(address, kind) for address in range(first, first + size, step)]


@pytest.mark.parametrize("machine", LOADS)
def test_a_load_takes_the_published_time_at_each_level(machine: str) -> None:
    side, wanted = Side(machine, "dtlb1.page=4G"), LOADS[machine]
    line = side.config["l3.line"]
    side.touch_page(START)
    assert side.latency(START + 8 * line) == wanted["memory"]
    assert side.latency(START + 8 * line) == wanted["l1d"]
    assert side.latency(START + 8 * line, FLOAT_LOAD) == FLOATS[machine]["l2"] - side.config["latency.load_float.fmac"]
    inner = side.config["l1d.line"]
    assert side.latency(START + 8 * line + inner) == wanted["l2"]
