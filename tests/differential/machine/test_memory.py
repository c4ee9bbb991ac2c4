"""What the data side does: quick answers against full ones, hits and misses against a model, order, queues."""

from collections import Counter, OrderedDict

import pytest
from enumerated import members
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st

from pfmon.isa.ia64._encodings import AccessFlag, AccessType
from pfmon.machine._machine import L2, Cause, DataMemory, Occurrence, RequestKind
from pfmon.machine.config.machine_config import load

LOAD, FLOAT_LOAD, STORE, FLOAT_STORE, SEMAPHORE, LFETCH, FILL, SPILL = members(
    AccessType, "ACCESS", "LOAD FLOAT_LOAD STORE FLOAT_STORE SEMAPHORE LFETCH FILL SPILL"
)
ACQUIRE, RELEASE, CHECK = members(AccessFlag, "ACCESS", "ACQUIRE RELEASE CHECK")
FETCH = int(RequestKind.REQUEST_FETCH)
MEGA = 1 << 20
START = 1 << 20
LONG = 10_000

# Small caches and one page: everything is replaced often, translations never.
SMALL = ["l1d.size=1K", "l3.size=24K", "vhpt.page=4G", "dtlb1.page=4G"]
SMALL_L2 = {"itanium2": "l2.size=8K", "montecito": "l2d.size=8K", "itanium": "l2.size=6K"}


def machine(name: str, *figures: str) -> DataMemory:
    config = load(name, figures)
    memory = DataMemory(config, L2(config))
    memory.access_at(START, LOAD, 0)
    memory.access_at(START, LOAD, LONG)
    return memory


def events_of(noted: list[tuple[int, int]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for occurrence, times in noted:
        counts[Occurrence(occurrence).name] += times
    return counts


def places(most: int, step: int) -> st.SearchStrategy[int]:
    return st.integers(0, most).map(lambda number: START + number * step)


KINDS = st.sampled_from([LOAD, LOAD, LOAD, FLOAT_LOAD, STORE, FLOAT_STORE, SEMAPHORE, LFETCH, FILL, SPILL])
BLOCKS = st.lists(st.lists(st.tuples(places(120, 40), KINDS), min_size=1, max_size=4), max_size=60)  # four M ports


# --- quick() and access()


@pytest.mark.slow
@examples(80)
@given(BLOCKS, st.sampled_from(sorted(SMALL_L2)), st.sampled_from(["lru", "nru", "plru"]))
def test_quick_answers_change_nothing_that_full_ones_would_not(
    blocks: list[list[tuple[int, int]]], name: str, policy: str
) -> None:
    tlbs = ["dtlb1.entries=4", "dtlb1.ways=4", f"dtlb1.replacement={policy}"] if name != "itanium" else []
    figures = [*SMALL[:2], "vhpt.page=4K", "dtlb1.page=4K", SMALL_L2[name], f"l1d.replacement={policy}", *tlbs]
    first, second = machine(name, *figures), machine(name, *figures)
    now = LONG
    for block in blocks:
        now += LONG
        early = True  # as long as accesses take the time that they take most often
        for address, kind in block:
            ready, stalls, noted = second.access_at(address, kind, now)
            if early and first.quick_at(address, kind, now):
                assert not stalls
                assert events_of(noted) == events_of(first.quick_events(kind))
                if kind in (LOAD, FILL, FLOAT_LOAD):
                    assert ready - now == first.quick_latency_of(kind)
            elif early and first.plain_at(address, kind, now):
                assert not stalls
                assert events_of(noted) == events_of(first.plain_events())
                assert ready - now == first.quick_latency_of(STORE)
            else:
                early = False
                assert first.access_at(address, kind, now) == (ready, stalls, noted)
    for mine, other in ((first.stores(), second.stores()), (first.l2.stores(), second.l2.stores())):
        assert {name: store.contents() for name, store in mine.items()} == {
            name: store.contents() for name, store in other.items()
        }


def test_what_is_there_is_quick_and_nothing_else_is() -> None:
    memory = machine("itanium2")
    memory.access_at(START + 64, FLOAT_LOAD, 2 * LONG)
    now = 3 * LONG
    assert memory.quick_at(START, LOAD, now)
    assert memory.quick_at(START + 128 - 8, FLOAT_LOAD, now)
    assert memory.quick_at(START + 128 - 8, STORE, now)
    assert not memory.quick_at(START + 64, LOAD, now)  # in L2 alone
    assert not memory.quick_at(START + 128, FLOAT_LOAD, now)
    assert not memory.quick_at(START + MEGA, LOAD, now)  # no translation
    assert not memory.quick_at(START, SEMAPHORE, now)
    assert not memory.quick_at(START, LFETCH, now)


def test_nothing_of_l2_is_quick_while_a_miss_is_under_way() -> None:
    memory = machine("itanium2")
    ready, _, _ = memory.access_at(START + 512, LOAD, 2 * LONG)
    assert not memory.quick_at(START, FLOAT_LOAD, ready - 1)
    assert memory.quick_at(START, LOAD, ready - 1)
    assert memory.quick_at(START, FLOAT_LOAD, ready)


def test_a_load_right_behind_a_quick_store_of_its_bytes_is_not_quick() -> None:
    memory = machine("itanium2")
    now = 2 * LONG
    assert memory.quick_at(START + 8, STORE, now)
    assert not memory.quick_at(START + 8, LOAD, now + 3)
    assert memory.quick_at(START + 8, LOAD, now + 4)
    assert memory.quick_at(START + 16, LOAD, now)
    assert not memory.quick_at(START + 4, LOAD, now + 1)  # its last bytes


def test_a_store_is_quick_while_a_line_comes_to_l1d_that_is_not_its_own() -> None:
    memory = machine("itanium2")
    for number in (2, 4):
        memory.access_at(START + 128 * number, FLOAT_STORE, 2 * LONG)  # L2 has it, L1D has not
    now = 3 * LONG
    assert memory.plain_at(START + 256, LOAD, now)
    assert not memory.quick_at(START + 256, STORE, now + 4)
    assert memory.quick_at(START + 512, STORE, now + 4)
    assert memory.quick_at(START + 256, STORE, now + 5)


def test_a_plain_load_is_one_of_a_line_that_l2_has_and_nothing_is_in_the_way_of() -> None:
    memory = machine("itanium2")
    memory.access_at(START + 64, FLOAT_LOAD, 2 * LONG)
    now = 3 * LONG
    assert not memory.plain_at(START, LOAD, now)  # quick
    assert not memory.plain_at(START + 512, LOAD, now)  # not in L2
    assert not memory.plain_at(START + MEGA, LOAD, now)  # no translation
    assert not memory.plain_at(START + 64, STORE, now)
    assert memory.quick_at(START + 64, STORE, now)
    assert not memory.plain_at(START + 64, LOAD, now + 3)  # right behind a store of its bytes
    assert memory.plain_at(START + 64, LOAD, now + 4)
    assert not memory.quick_at(START + 64, LOAD, now + 8)  # under way
    assert memory.quick_at(START + 64, LOAD, now + 9)


# --- a model of the caches alone: least recently used, no time


class Level:
    """A cache with dirty lines; replacement is least recently used."""

    def __init__(self, size: int, ways: int, line: int) -> None:
        self.sets = size // ways // line
        self.ways, self.line = ways, line
        self.held: list[OrderedDict[int, bool]] = [OrderedDict() for _ in range(self.sets)]

    def find(self, address: int) -> bool:
        """Whether it is there, most recent from now on."""
        number = address // self.line
        held = self.held[number % self.sets]
        if number in held:
            held.move_to_end(number)
            return True
        return False

    def put(self, address: int, dirty: bool) -> tuple[int, bool] | None:
        """A line comes; the address of the one that goes, and whether it was dirty."""
        number = address // self.line
        held = self.held[number % self.sets]
        gone = held.popitem(last=False) if len(held) == self.ways else None
        held[number] = dirty
        return (gone[0] * self.line, gone[1]) if gone else None

    def soil(self, address: int) -> None:
        self.held[address // self.line % self.sets][address // self.line] = True

    def drop(self, address: int) -> None:
        self.held[address // self.line % self.sets].pop(address // self.line, None)


class Caches:
    """L1D (reads alone), L2, L3; counts by the names of occurrences."""

    def __init__(self, name: str, memory_config: dict[str, int]) -> None:
        config = memory_config
        l2 = "l2d" if name == "montecito" else "l2"
        self.l1, self.l2, self.l3 = (
            Level(config[f"{level}.size"], config[f"{level}.ways"], config[f"{level}.line"])
            for level in ("l1d", l2, "l3")
        )
        self.counts: Counter[str] = Counter()

    def access(self, address: int, kind: int) -> None:
        if kind in (LOAD, FILL):
            self.counts["L1D_READ"] += 1
            if self.l1.find(address):
                return
            self.counts["L1D_READ_MISS"] += 1
        self.second(address, kind in (STORE, FLOAT_STORE, SPILL))
        if kind in (LOAD, FILL):
            self.l1.put(address, False)

    def second(self, address: int, write: bool) -> None:
        self.counts["L2_DATA_WRITE" if write else "L2_DATA_READ"] += 1
        if not self.l2.find(address):
            self.counts["L2_MISS_SENT"] += 1
            self.third(address, write)
            self.gone_from_l2(self.l2.put(address, False))
        if write:
            self.l2.soil(address)

    def gone_from_l2(self, gone: tuple[int, bool] | None) -> None:
        if gone is None:
            return
        address, dirty = gone
        for part in range(address, address + self.l2.line, self.l1.line):
            self.l1.drop(part)
        if not dirty:
            return
        self.counts["L2_WRITE_BACK"] += 1
        if not self.l3.find(address):
            self.counts["L3_WRITE_BACK_MISS_I"] += 1
            self.into_l3(address, True)
        self.l3.soil(address)

    def third(self, address: int, write: bool) -> None:
        found = self.l3.find(address)
        self.counts[f"L3 {'write' if write else 'read'} {'hit' if found else 'miss'}"] += 1
        if not found:
            self.counts["BUS_READ_OWN" if write else "BUS_READ_DATA"] += 1
            self.into_l3(address, False)

    def into_l3(self, address: int, dirty: bool) -> None:
        gone = self.l3.put(address, dirty)
        if gone is not None and gone[1]:
            self.counts["BUS_WRITE_BACK"] += 1


def summary(counts: Counter[str]) -> Counter[str]:
    """The machine's occurrences by what the model counts."""

    def group(prefix: str) -> int:
        return sum(times for name, times in counts.items() if name.startswith(prefix))

    names = ["L1D_READ", "L1D_READ_MISS", "L2_DATA_READ", "L2_DATA_WRITE", "L2_MISS_SENT", "L2_WRITE_BACK"]
    names += ["L3_WRITE_BACK_MISS_I", "BUS_READ_DATA", "BUS_READ_OWN", "BUS_WRITE_BACK"]
    found = Counter({name: counts[name] for name in names})
    found["L3 read hit"], found["L3 read miss"] = group("L3_DATA_READ_HIT"), group("L3_DATA_READ_MISS")
    found["L3 write hit"], found["L3 write miss"] = group("L3_DATA_WRITE_HIT"), group("L3_DATA_WRITE_MISS")
    return found


LRU = ["l1d.replacement=lru", "l3.replacement=lru"]
PLAIN = st.sampled_from([LOAD, LOAD, FLOAT_LOAD, STORE, FLOAT_STORE, FILL, SPILL])


@pytest.mark.slow
@examples(60)
@given(st.lists(st.tuples(places(700, 64), PLAIN), max_size=1500), st.sampled_from(sorted(SMALL_L2)))
def test_hits_misses_and_write_backs_are_those_of_a_model_without_time(trace: list[tuple[int, int]], name: str) -> None:
    l2 = "l2d" if name == "montecito" else "l2"
    figures = [*SMALL, SMALL_L2[name], *LRU, f"{l2}.replacement=lru"]
    config = {key: value for key, value in load(name, figures).items() if isinstance(value, int)}
    memory, model = machine(name, *figures), Caches(name, config)
    model.access(START, LOAD)
    model.access(START, LOAD)
    model.counts.clear()
    counts: Counter[str] = Counter()
    for step, (address, kind) in enumerate(trace):
        counts += events_of(memory.access_at(address, kind, (step + 3) * LONG)[2])
        model.access(address, kind)
    assert +summary(counts) == +model.counts


# --- what has to add up, whatever happens when


@pytest.mark.slow
@examples(60)
@given(st.lists(st.tuples(places(700, 64), KINDS, st.integers(0, 40)), max_size=600), st.sampled_from(sorted(SMALL_L2)))
def test_references_are_hits_and_misses_and_traffic_adds_up(trace: list[tuple[int, int, int]], name: str) -> None:
    memory = machine(name, *SMALL, SMALL_L2[name])
    counts: Counter[str] = Counter()
    now = 2 * LONG
    for address, kind, gap in trace:
        now += gap
        _, stalls, noted = memory.access_at(address, kind, now)
        now += sum(cycles for _, cycles in stalls)
        counts += events_of(noted)
        if kind % 3 == 0:
            counts += events_of(memory.l2.request_at(address, FETCH, now)[2])

    def group(*prefixes: str) -> int:
        return sum(times for found, times in counts.items() if found.startswith(prefixes))

    fetch_misses = group("L2_FETCH_MISS")
    assert group("L2_DATA_HIT", "L2_DATA_MISS") == group("L2_DATA_READ", "L2_DATA_WRITE")
    assert group("L3_DATA_READ", "L3_DATA_WRITE") == counts["L2_MISS_SENT"]
    assert group("L3_FETCH") == fetch_misses
    assert group("L3_WRITE_BACK") == counts["L2_WRITE_BACK"]
    assert group("L2_FILL_") == counts["L2_MISS_SENT"]
    misses = counts["L3_DATA_READ_MISS_I"] + counts["L3_DATA_WRITE_MISS_I"] + group("L3_FETCH_DEMAND_MISS")
    assert misses == group("BUS_READ_")
    assert group("L3_INSERT_") == misses + counts["L3_WRITE_BACK_MISS_I"]
    assert counts["BUS_WRITE_BACK"] == counts["L3_REPLACED_M"]
    assert group("L2_OP_") == counts["L2_DATA_READ"] + counts["L2_DATA_WRITE"] - counts["L2_OP_SEMAPHORE"]
    line_clocks = {"itanium": 4, "itanium2": 4, "montecito": 4}[name]  # 64 or 128 bytes, 8 or 16 a transfer, 2 a clock
    assert counts["BUS_DATA_CYCLE"] == line_clocks * (group("BUS_READ_") + counts["BUS_WRITE_BACK"])


# --- order


def test_loads_wait_for_an_acquire_before_them() -> None:
    memory = machine("itanium2")
    now = 2 * LONG
    ready, _, _ = memory.access_at(START + 512, LOAD, now, 8, ACQUIRE)
    _, stalls, _ = memory.access_at(START, LOAD, now + 1)
    assert stalls == [(Cause.L1D_LDCONF, ready - now - 1)]


def test_check_loads_that_wait_for_an_acquire_have_a_cause_of_their_own() -> None:
    memory = machine("itanium2")
    now = 2 * LONG
    ready, _, _ = memory.access_at(START + 512, LOAD, now, 8, ACQUIRE)
    assert memory.access_at(START, LOAD, now + 1, 8, CHECK)[1] == [(Cause.L1D_LDCHK, ready - now - 1)]


def test_a_release_waits_for_what_is_before_it_and_the_pipeline_does_not() -> None:
    memory = machine("itanium2")
    now = 2 * LONG
    ready, _, _ = memory.access_at(START + 512, FLOAT_LOAD, now)
    done, stalls, _ = memory.access_at(START, STORE, now + 1, 8, RELEASE)
    assert not stalls
    assert done == now + 1
    memory.l2.finish_at(3 * LONG)
    assert memory.l2.levels()["OZQ_RELEASE"][1] == ready - now - 1


def test_a_semaphore_is_a_read_and_a_write_of_l2_and_leaves_its_line_modified() -> None:
    memory = machine("montecito")
    _, _, noted = memory.access_at(START, SEMAPHORE, 2 * LONG, 8, ACQUIRE)
    counts = events_of(noted)
    assert (counts["L2_DATA_READ"], counts["L2_DATA_WRITE"], counts["L2_OP_SEMAPHORE"]) == (1, 1, 1)
    assert memory.l2.stores()["data"].probe(START)[0] == "M"


def test_a_store_to_a_line_of_instructions_has_to_announce_itself() -> None:
    memory = machine("itanium2")
    memory.l2.request_at(START + 512, FETCH, 2 * LONG)
    assert memory.l2.stores()["data"].probe(START + 512)[0] == "S"
    memory.access_at(START + 512, FLOAT_LOAD, 3 * LONG)
    counts = events_of(memory.access_at(START + 512, STORE, 4 * LONG)[2])
    assert counts["BUS_INVALIDATE"] == 1
    assert memory.l2.stores()["data"].probe(START + 512)[0] == "M"
    assert not events_of(memory.access_at(START + 512, STORE, 5 * LONG)[2])["BUS_INVALIDATE"]


# --- queues


def test_two_accesses_of_a_cycle_wait_together() -> None:
    """Both need a translation that the first one's page walk brings."""
    memory = machine("itanium2", "dtlb1.entries=1", "dtlb1.ways=1")
    memory.access_at(START + 16384, LOAD, 2 * LONG)
    now = 3 * LONG
    assert memory.access_at(START, LOAD, now)[1] == [(Cause.L1D_TLB, 4)]
    ready, stalls, _ = memory.access_at(START + 8, LOAD, now)
    # The line of L1D went with the entry of its TLB; in L2 the second meets the first in a bank: the queue serves it.
    assert (ready, stalls) == (now + 4 + 7, [])


def test_fill_buffers_are_full_while_all_have_a_line_under_way() -> None:
    memory = machine("itanium2")
    below = memory.l2
    now = 2 * LONG
    ready = [below.request_at(START + 4096 + 128 * number, 1, now + number // 4)[0] for number in range(16)]
    below.finish_at(10 * LONG)
    assert below.levels()["FILLB_FULL"][1] == ready[0] - (now + 3)
    assert sum(below.levels()["FILLB_FULL"]) == 10 * LONG


@pytest.mark.parametrize("name", ["itanium2", "montecito"])
def test_eight_lines_are_on_their_way_to_l1d_at_most(name: str) -> None:
    """Montecito manual, table 2-9: 8 fills. The ninth load has its value, and its line stays out of L1D."""
    memory = machine(name)
    lines = [START + 1024 + 128 * number for number in range(9)]
    for line in lines:
        memory.access_at(line, LOAD, 2 * LONG)
    assert [memory.stores()["l1d"].probe(line) is not None for line in lines] == [True] * 8 + [False]


def test_requests_under_way_are_a_histogram_over_all_cycles() -> None:
    """Little's law: what the entries stayed in sum is what the histogram holds in sum."""
    memory = machine("montecito")
    below = memory.l2
    below.finish_at(2 * LONG)
    before = sum(level * cycles for level, cycles in enumerate(below.levels()["MEM_READ"]))
    now = 3 * LONG
    ready = [below.request_at(START + 4096 + 128 * number, 1, now)[0] for number in range(4)]
    below.finish_at(5 * LONG)
    cycles = below.levels()["MEM_READ"]
    line = 8 * 1600 // 400
    request = 16  # each goes to the bus when the one before has
    stays = [done + line - (now + request * number) for number, done in enumerate(ready)]
    assert sum(level * count for level, count in enumerate(cycles)) - before == sum(stays)
    assert sum(cycles) == 5 * LONG


def test_castouts_of_clean_lines_are_announced_only_where_the_machine_says_so() -> None:
    def castouts(flag: str) -> int:
        memory = machine("montecito", *SMALL, "l2d.size=8K", f"bus.castouts={flag}")
        counts: Counter[str] = Counter()
        for number in range(1000):
            counts += events_of(memory.access_at(START + 128 * number, FLOAT_LOAD, (number + 3) * LONG)[2])
        assert counts["L3_REPLACED_E"] >= 1000 - 24 * 8
        return counts["BUS_CASTOUT"] - (counts["L3_REPLACED_E"] if flag == "true" else 0)

    assert castouts("true") == castouts("false") == 0


@pytest.mark.parametrize("size", [8, 16])
def test_a_load_of_two_words_conflicts_with_a_store_to_either(size: int) -> None:
    memory = machine("itanium2")
    memory.access_at(START + 8, STORE, 2 * LONG)
    ready, _, _ = memory.access_at(START + 16 - size, LOAD, 2 * LONG + 1, size)
    assert ready - (2 * LONG + 1) == 17
