"""Programming Itanium (Merced): four counters of 32 bits, no event groups."""

from collections.abc import Sequence

from pfmon.pmu.assignment import assign
from pfmon.pmu.ia64 import Programmer


class ItaniumProgrammer(Programmer):
    """Itanium manual chapter 6."""

    pmu = "itanium"
    counters = (4, 5, 6, 7)
    counter_source = "Itanium manual section 6.2"

    def assignment(self, allowed: Sequence[Sequence[int]]) -> list[int] | None:
        """Any matching; events that add more than three a cycle count on PMD4 and PMD5 only."""
        return assign(allowed, [{}])
