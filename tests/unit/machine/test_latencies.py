"""How long accesses take: the published figures of every level, of TLBs, of conflicts, and where caches end."""

from collections.abc import Iterable
from itertools import pairwise

import pytest
from enumerated import members
from grids import each, first_quick

from pfmon.isa.ia64._encodings import AccessFlag, AccessType
from pfmon.machine._machine import L2, Cause, DataMemory, RequestKind
from pfmon.machine.config.machine_config import load

LOAD, FLOAT_LOAD, STORE, FLOAT_STORE, SEMAPHORE, LFETCH, FILL, SPILL = members(
    AccessType, "ACCESS", "LOAD FLOAT_LOAD STORE FLOAT_STORE SEMAPHORE LFETCH FILL SPILL"
)
FETCH, FETCH_AHEAD = members(RequestKind, "REQUEST", "FETCH FETCH_PREFETCH")
NT1, NT2, NTA = members(AccessFlag, "ACCESS", "NT1 NT2 NTA")
KILO, MEGA = 1 << 10, 1 << 20
PAGE = 16 * KILO
START = 1 << 20
LONG = 10_000  # cycles in which everything comes to its end

MACHINES = ["itanium", "itanium2", "madison-9m", "montecito"]
# Level -> cycles from an integer load to its use by an integer operation: Montecito manual, table 2-8, note 3, and
# 2.3.3.3 for the 9 MB Itanium 2; for the others the published figures of their column.
LOADS = {
    "itanium": {"l1d": 2, "l2": 6, "l3": 21, "memory": 176},
    "itanium2": {"l1d": 1, "l2": 5, "l3": 12, "memory": 208},
    "madison-9m": {"l1d": 1, "l2": 5, "l3": 14, "memory": 208},
    "montecito": {"l1d": 1, "l2": 5, "l3": 14, "memory": 208},
}
# ... from a floating-point load to its use, the conversion to register format included (table 2-8, note 4).
FLOATS = {
    "itanium": {"l2": 9, "l3": 24},
    "itanium2": {"l2": 6, "l3": 13},
    "madison-9m": {"l2": 6, "l3": 15},
    "montecito": {"l2": 6, "l3": 15},
}
# ... from a fetch to its instructions (Montecito manual, table 2-9).
FETCHES = {"montecito": 7, "itanium2": 7}


class Side:
    """The data side of a machine; accesses are so far apart that each finds the ones before ended."""

    def __init__(self, machine: str, *figures: str) -> None:
        self.config = load(machine, figures)
        self.l2 = L2(self.config)
        self.memory = DataMemory(self.config, self.l2)
        self.now = START

    def access(self, address: int, kind: int = LOAD, flags: int = 0, after: int = LONG) -> tuple[int, dict[Cause, int]]:
        """Cycles until the value can be used, and those for which the pipeline stood still, by cause."""
        self.now += after
        ready, stalls, _ = self.memory.access_at(address, kind, self.now, 8, flags)
        return ready - self.now, {Cause(cause): cycles for cause, cycles in stalls}

    def latency(self, address: int, kind: int = LOAD, flags: int = 0) -> int:
        return self.access(address, kind, flags)[0]

    def float_latency(self, address: int) -> int:
        """Cycles to the use by a multiply-add."""
        return self.latency(address, FLOAT_LOAD) + self.config["latency.load_float.fmac"]

    def touch(self, addresses: Iterable[int]) -> None:
        for address in addresses:
            self.latency(address)


def spread(pages: int, size: int) -> list[int]:
    """An address in each of so many pages, no two of them in the same lines of the caches."""
    return [START + page * size + page % 64 * 64 for page in range(pages)]


def sweep(side: Side, size: int, step: int) -> set[int]:
    """The latencies of loads from ``size`` bytes, in steps, once they were all loaded."""
    places = range(START, START + size, step)
    side.touch(places)
    side.touch(places)
    return {side.latency(address) for address in places}


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def test_a_load_takes_the_published_time_at_each_level(machine: str) -> None:
    side, wanted = Side(machine), LOADS[machine]
    line, inner = side.config["l3.line"], side.config["l1d.line"]
    place = START + 8 * line
    side.touch([START, START])
    assert side.latency(place) == wanted["memory"]
    assert side.latency(place) == wanted["l1d"]
    assert side.latency(place + inner) == wanted["l2"]
    assert side.float_latency(place) == FLOATS[machine]["l2"]


def test_a_load_of_what_left_l2_takes_the_time_of_l3(machine: str) -> None:
    side = Side(machine, "vhpt.page=4G", "dtlb1.page=4G")
    l2 = "l2d" if machine == "montecito" else "l2"
    size, ways = side.config[f"{l2}.size"], side.config[f"{l2}.ways"]
    same_set = range(START, START + 2 * size, size // ways)
    side.touch(same_set)
    assert side.latency(START) == LOADS[machine]["l3"]
    side.touch(same_set[1:])
    assert side.float_latency(START) == FLOATS[machine]["l3"]


@pytest.mark.parametrize("machine", FETCHES)
def test_a_fetch_that_misses_l1i_takes_the_published_time_from_l2(machine: str) -> None:
    l2 = L2(load(machine))
    l2.request_at(START, FETCH, 0)
    assert l2.request_at(START, FETCH, LONG)[0] - LONG == FETCHES[machine]


@pytest.mark.parametrize("machine", first_quick(["itanium2", "montecito"]))
def test_loads_over_growing_areas_step_at_the_sizes_of_the_caches(machine: str) -> None:
    def slowest(size: int) -> int:
        return max(sweep(Side(machine, "vhpt.page=4G", "dtlb1.page=4G", "l3.size=3M"), size, 128))

    levels = {**LOADS[machine], "l3": side_latency(machine)}
    assert slowest(8 * KILO) == slowest(16 * KILO) == levels["l1d"]
    assert slowest(32 * KILO) == slowest(256 * KILO) == levels["l2"]
    assert slowest(320 * KILO) == slowest(2 * MEGA) == levels["l3"]


def side_latency(machine: str) -> int:
    """Of L3, as configured."""
    latency = load(machine)["l3.latency"]
    assert isinstance(latency, int)
    return latency


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["itanium2", "itanium"])
def test_loads_over_more_than_l3_take_the_time_of_memory(machine: str) -> None:
    side = Side(machine, "vhpt.page=4G", "dtlb1.page=4G")
    assert LOADS[machine]["memory"] in sweep(side, 2 * int(side.config["l3.size"]), 128)


# --- TLBs: 7-cpu.com's figures for the Itanium 2


def test_a_translation_that_only_the_second_level_has_costs_the_transfer() -> None:
    side = Side("itanium2")
    pages = spread(33, 4 * KILO)  # one more than L1 DTLB holds
    side.touch([*pages, *pages])
    latency, stalls = side.access(START)
    assert stalls == {Cause.L1D_TLB: 4}
    assert latency == 4 + 5  # L1D is prevalidated (Montecito manual 2.4.3.1): the line went with the entry
    assert side.access(START) == (1, {})


def test_a_translation_that_neither_has_costs_a_walk() -> None:
    side = Side("itanium2")
    pages = spread(129, PAGE)
    side.touch([*pages, *pages])
    latency, stalls = side.access(START)
    assert stalls == {Cause.L1D_HPW: 15}
    assert latency == 15 + 5  # the line went with the entry


def test_a_page_is_put_in_by_the_operating_system_the_first_time() -> None:
    side = Side("montecito")
    side.touch([START])
    _, stalls = side.access(START + PAGE)
    assert stalls[Cause.XPN] == side.config["pipeline.exception_flush"]
    assert stalls[Cause.KERNEL] == side.config["vhpt.software"]
    side.touch(range(START + 2 * PAGE, START + 200 * PAGE, PAGE))
    assert Cause.XPN not in side.access(START + PAGE)[1]


def test_floating_point_loads_need_the_second_level_alone() -> None:
    side = Side("itanium2")
    pages = spread(33, 4 * KILO)
    side.touch([*pages, *pages])
    assert side.access(START, FLOAT_LOAD) == (5, {})


def test_a_line_prefetch_without_a_translation_comes_to_nothing() -> None:
    side = Side("itanium2")
    assert side.access(START, LFETCH) == (0, {})
    assert side.l2.stores()["data"].probe(START) is None
    side.touch([START])
    assert side.access(START + 512, LFETCH)[1] == {}
    assert side.latency(START + 512) == LOADS["itanium2"]["l1d"]


# --- stores


def test_a_load_right_behind_a_store_of_its_bytes_goes_round(machine: str) -> None:
    side = Side(machine)
    side.touch([START, START])
    cost, window = side.config["l1d.conflict"], side.config["l1d.store_window"]
    side.access(START, STORE)
    latency, stalls = side.access(START, after=window)
    cause = Cause.L1D_PIPE_RECIRC if machine == "montecito" else Cause.L1D_DCURECIR
    assert latency == cost
    assert stalls == {cause: cost - LOADS[machine]["l2"]}
    side.access(START, STORE)
    assert side.access(START, after=window + 1)[0] == LOADS[machine]["l1d"]
    side.access(START, STORE)
    assert side.access(START + 8, after=1)[0] == LOADS[machine]["l1d"]


def test_a_store_is_done_at_once_and_brings_no_line_into_l1d(machine: str) -> None:
    side = Side(machine)
    side.touch([START])
    place = START + KILO
    assert side.access(place, STORE) == (0, {})
    assert side.memory.stores()["l1d"].probe(place) is None
    assert side.latency(place) == LOADS[machine]["l2"]


def test_a_store_waits_for_the_line_that_comes_to_l1d_at_that_moment() -> None:
    side = Side("itanium2")
    side.touch([START, START])
    side.latency(START + KILO, FLOAT_LOAD)
    place, window = START + KILO, side.config["l1d.store_window"]
    ready, _ = side.access(place)
    assert ready == 5
    assert side.access(place, STORE, after=ready - window - 1)[1] == {}
    assert side.access(place, STORE, after=1)[1] == {Cause.L1D_FILLCONF: window}
    assert side.access(place, STORE, after=window)[1] == {}


def test_more_stores_that_miss_than_the_queues_hold_stop_the_pipeline() -> None:
    side = Side("itanium2", "vhpt.page=4G", "dtlb1.page=4G")
    side.touch([START])
    side.now += LONG
    stalls = [side.access(START + MEGA + 128 * number, STORE, after=1)[1] for number in range(100)]
    room = side.config["l2.data_buffer"] + side.config["l1d.store_buffer"]
    assert not any(stalls[:room])
    assert Cause.L1D_FULLSTBUF in stalls[room]


# --- what is under way


def test_a_second_load_of_a_line_under_way_is_ready_when_the_line_is(machine: str) -> None:
    side = Side(machine)
    side.touch([START])
    place = START + 2 * KILO
    first, _ = side.access(place)
    assert first == LOADS[machine]["memory"]
    assert side.access(place + 8, after=100)[0] == first - 100


def test_independent_misses_overlap_and_take_turns_on_the_bus() -> None:
    side = Side("itanium2", "vhpt.page=4G", "dtlb1.page=4G")
    side.touch([START])
    side.now += LONG
    began = side.now
    ready = [began + side.access(START + MEGA + 128 * number, FLOAT_LOAD, after=0)[0] for number in range(8)]
    line = 8 * 1300 // 400  # 128 bytes, 16 a transfer, 400 million transfers a second, core of 1300 MHz
    assert ready[0] - began == LOADS["itanium2"]["memory"]
    assert [later - earlier for earlier, later in pairwise(ready)] == [line] * 7


@pytest.mark.parametrize(("machine", "bandwidth"), [("itanium2", 6.4e9), ("montecito", 6.4e9), ("itanium", 2.128e9)])
def test_streaming_is_bound_by_the_bus(machine: str, bandwidth: float) -> None:
    """bus.width x bus.frequency: 16 x 400 MHz; 8 x 266 MHz."""
    side = Side(machine, "vhpt.page=4G", "dtlb1.page=4G")
    side.touch([START])
    began, line, lines = side.now, int(side.config["l3.line"]), 2000
    for number in range(lines):
        _, stalls = side.access(START + MEGA + number * line, FLOAT_LOAD, after=1)
        side.now += sum(stalls.values())
    seconds = (side.now - began) / (int(side.config["machine.frequency"]) * 1e6)
    assert lines * line / seconds == pytest.approx(bandwidth, rel=0.05)


@each("kind", [LOAD, LFETCH])
@each(
    ("flags", "l1d", "data", "l3"),
    [
        (0, True, True, True),
        (NT1, False, True, True),
        (NT2, False, True, True),
        (NTA, False, True, False),
    ],
)
def test_locality_hints_choose_the_levels_that_keep_a_line(
    kind: int, flags: int, l1d: bool, data: bool, l3: bool
) -> None:
    side = Side("itanium2")
    side.touch([START])
    place = START + KILO
    side.latency(place, kind, flags)
    l2 = side.l2.stores()
    assert (side.memory.stores()["l1d"].probe(place) is not None) == l1d
    assert (l2["data"].probe(place) is not None) == data
    assert (l2["l3"].probe(place) is not None) == l3


def test_lines_hinted_not_to_be_used_again_leave_l2_first() -> None:
    side = Side("itanium2", "vhpt.page=4G", "dtlb1.page=4G", "l2.replacement=lru")
    same_set = [START + number * 32 * KILO for number in range(9)]
    side.touch(same_set[:7])
    side.latency(same_set[7], LOAD, NT2)
    side.touch(same_set[8:])
    data = side.l2.stores()["data"]
    assert data.probe(same_set[7]) is None
    assert all(data.probe(address) is not None for address in same_set[:7])
