"""Times that a seed draws: other orders of a system's events, each of which repeats (``--schedule-seed``)."""

from __future__ import annotations

MOST_DELAY = 1 << 20
"""Steps of ITC that a call of firmware takes, less one at most: about a millisecond, a good part of a timer's tick."""


class DrawnTimes:
    """``seed``: 0: nothing is drawn; ``quantum``: instructions of a turn."""

    def __init__(self, seed: int, quantum: int) -> None:
        self._quantum = quantum
        self.delays = bool(seed)
        """Whether calls of firmware take time."""
        if seed:
            from random import Random

            self._random = Random(seed)

    def turn(self) -> int:
        """Instructions of the next turn: the quantum, or up to twice as many."""
        return self._random.randint(1, 2 * self._quantum) if self.delays else self._quantum

    def delay(self) -> int:
        """Steps of ITC that the next call of firmware takes."""
        return self._random.randrange(MOST_DELAY)
