"""L3 hands over a line in four cycles, to L2D or L2I, and takes write-backs by the same way.

Montecito manual, 2.3.3.3: the array delivers a line "in four cycles to either the L2D or L2I in critical-byte order".
"""

from itertools import pairwise

import pytest
from enumerated import members

from pfmon.machine._machine import L2, RequestKind
from pfmon.machine.config.machine_config import load

READ, WRITE, FETCH = members(RequestKind, "REQUEST", "READ WRITE FETCH")
MACHINES = ["itanium2", "madison-9m", "montecito"]
LATENCY = {"itanium2": 12, "madison-9m": 14, "montecito": 14}  # table 2-8, note 3; 2.3.3.3
LINE, LINES, START, LONG = 128, 12, 1 << 20, 100_000
CODE = 1 << 24
TRANSFER = 4


class Below:
    """L2 and what is behind it; all lines of data and code that a test uses are in L3 and not in L2."""

    def __init__(self, machine: str, *figures: str) -> None:
        config = load(machine, figures)
        self.l2 = L2(config)
        self.now = LONG
        self.lines = range(START, START + LINES * LINE, LINE)
        self.code = range(CODE, CODE + LINES * LINE, LINE)
        for place in [*self.lines]:
            self.request(place, READ, LONG)
        for place in [*self.code]:
            self.request(place, FETCH, LONG)
        for place in range(2 * START, 2 * START + (512 << 10), LINE):
            self.request(place, READ, LONG)  # more than L2D holds
        for place in range(2 * CODE, 2 * CODE + 2 * int(config.get("l2i.size", 0)), LINE):
            self.request(place, FETCH, LONG)  # ... than L2I
        self.now += LONG

    def request(self, address: int, kind: int, after: int = 0) -> int:
        """The cycle in which what was asked for is there."""
        self.now += after
        return self.l2.request_at(address, kind, self.now)[0]


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_single_line_takes_the_latency(machine: str) -> None:
    below = Below(machine)
    for line in below.lines:
        assert below.request(line, READ, LONG) == below.now + LATENCY[machine]


def test_lines_of_data_come_every_four_cycles(machine: str) -> None:
    """However many are asked for at once: the first after the latency, critical bytes first."""
    below = Below(machine)
    ready = [below.request(line, READ) for line in below.lines]
    assert ready[0] == below.now + LATENCY[machine]
    assert [later - earlier for earlier, later in pairwise(ready)] == [TRANSFER] * (LINES - 1)


def test_what_comes_slower_does_not_wait(machine: str) -> None:
    below = Below(machine)
    waits = [below.request(line, READ, TRANSFER) - below.now for line in below.lines]
    assert waits == [LATENCY[machine]] * LINES


def test_fetches_and_data_share_the_way(machine: str) -> None:
    below = Below(machine)
    config = load(machine)
    fetch, data = int(config["l3.fetch_latency"]), LATENCY[machine]
    starts = []
    for line, code in zip(below.lines[:4], below.code[:4], strict=True):
        starts += [below.request(line, READ) - data, below.request(code, FETCH) - fetch]
    assert sorted(starts) == [below.now + TRANSFER * number for number in range(8)]


def test_write_backs_take_the_way_too(machine: str) -> None:
    """As many lines again are read with and without modified ones that have to make room for them."""
    spans = []
    for kind in (READ, WRITE):
        below = Below(machine)
        l2 = 256 << 10
        for place in range(4 * START, 4 * START + l2, LINE):
            below.request(place, kind, LONG)
        below.now += LONG
        taken = [below.request(line, READ, TRANSFER) - below.now for line in below.lines[:8]]
        spans.append(sum(taken))
    clean, modified = spans
    assert clean == 8 * LATENCY[machine]
    assert modified > clean


def test_the_time_of_a_line_is_a_figure() -> None:
    below = Below("montecito", "l3.transfer=1")
    ready = [below.request(line, READ) for line in below.lines]
    assert [later - earlier for earlier, later in pairwise(ready)] == [1] * (LINES - 1)
