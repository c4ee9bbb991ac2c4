"""Why accesses come round again in L2, wait for order, or cannot be sent on; each cause made to happen alone."""

from collections import Counter

import pytest
from enumerated import members
from example_counts import examples
from grids import each
from hypothesis import given
from hypothesis import strategies as st

from pfmon.counting.totals.record_query import names
from pfmon.isa.ia64._encodings import AccessFlag, AccessType
from pfmon.machine._machine import L2, DataMemory, Occurrence, RequestFlag, RequestKind
from pfmon.machine.config.machine_config import load
from pfmon.signals.machine_signals import select

READ, FLOAT_READ, WRITE, SEMAPHORE, PREFETCH, FETCH, FETCH_AHEAD, WALK = members(
    RequestKind, "REQUEST", "READ FLOAT_READ WRITE SEMAPHORE PREFETCH FETCH FETCH_PREFETCH WALK"
)
ACQUIRE, RELEASE = members(RequestFlag, "REQUEST", "ACQUIRE RELEASE")
STORE_ACCESS, SEMAPHORE_ACCESS = members(AccessType, "ACCESS", "STORE SEMAPHORE")
RELEASE_ACCESS = int(AccessFlag.ACCESS_RELEASE)
LINE = 1 << 20
NOW = 1 << 20
SAME_SET = 1 << 15  # bytes: 256 KB in eight ways

CAUSES = (
    *("L2_RECIRC_", "L2_SMC_HIT", "L2_SECONDARY", "L2_BEHIND", "L2_LOOK", "L2_STORE_HIT", "OZQ_"),
    *("L2_FETCH_CONFLICT", "L2_FETCH_QUEUED", "L2_FETCH_LOOK", "L2_FILLS", "L3_REJECT"),
)


def l2_of(name: str, *figures: str) -> L2:
    return L2(load(name, figures))


def ask(below: L2, address: int, kind: int, now: int, flags: int = 0) -> tuple[int, Counter[str]]:
    """A request: cycle in which it is done, and the causes that it met."""
    ready, _, noted = below.request_at(address, kind, now, flags)
    counts: Counter[str] = Counter()
    for occurrence, times in noted:
        counts[Occurrence(occurrence).name] += times
    return ready, Counter({cause: times for cause, times in counts.items() if cause.startswith(CAUSES)})


def signal(name: str, counts: Counter[str]) -> int:
    """What occurrences add to a signal."""
    chosen = select(name, names("occurrence"))
    return sum(times for cause, times in counts.items() if Occurrence[cause] in chosen)


# --- second accesses of a line


@pytest.mark.parametrize("name", ["itanium2", "montecito"])
def test_nothing_comes_round_again_where_nothing_is_in_the_way(name: str) -> None:
    below = l2_of(name)
    ready, first = ask(below, LINE, READ, NOW)
    assert not first
    assert not ask(below, LINE, READ, ready)[1]
    assert not ask(below, LINE + 128, READ, ready)[1]


@pytest.mark.parametrize(
    ("cycles", "cause"),
    [(0, "L2_RECIRC_SAME_INDEX"), (1, "L2_RECIRC_L1W"), (2, "L2_RECIRC_FILL_HIT"), (100, "L2_RECIRC_FILL_HIT")],
)
def test_a_second_access_of_a_line_under_way_is_told_by_how_long_it_comes_behind(cycles: int, cause: str) -> None:
    below = l2_of("montecito")
    ask(below, LINE, READ, NOW)
    _, counts = ask(below, LINE + 64, READ, NOW + cycles)
    secondary = {"L2_SECONDARY_READ": 1} if cycles else {}
    assert counts == {cause: 1, "L2_LOOK_AGAIN": 1, **secondary}


def test_a_second_access_while_the_first_waits_for_l3_meets_a_miss_in_the_queue() -> None:
    below = l2_of("montecito", "l3.queue=1")
    first, _ = ask(below, LINE, READ, NOW)
    _, counts = ask(below, LINE + 128, READ, NOW + 1)  # L3 takes it when the first line is there
    assert counts == {"L3_REJECT_DATA": 1}
    assert ask(below, LINE + 128, READ, first - 1)[1]["L2_RECIRC_OZQ_MISS"] == 1
    assert ask(below, LINE + 128, READ, first)[1]["L2_RECIRC_FILL_HIT"] == 1


def test_secondary_reads_and_writes_are_told_apart_and_semaphores_write() -> None:
    below = l2_of("montecito")
    ask(below, LINE, READ, NOW)
    found = [ask(below, LINE, kind, NOW + 8)[1] for kind in (READ, FLOAT_READ, PREFETCH, WRITE, SEMAPHORE)]
    assert [counts["L2_SECONDARY_READ"] for counts in found] == [1, 1, 1, 0, 0]
    assert [counts["L2_SECONDARY_WRITE"] for counts in found] == [0, 0, 0, 1, 1]


def test_who_is_not_the_first_to_wait_for_a_line_is_behind_another() -> None:
    below = l2_of("montecito")
    ask(below, LINE, READ, NOW)
    assert [ask(below, LINE, READ, NOW + wait)[1]["L2_BEHIND_RECIRC"] for wait in (4, 5, 6)] == [0, 1, 1]


def test_itanium_2_looks_for_a_line_time_and_again_and_montecito_once() -> None:
    """Montecito manual 2.3.3.2."""
    for name, figure in (("itanium2", 10), ("montecito", 0)):
        below = l2_of(name, f"{'l2' if figure else 'l2d'}.look={figure}")
        ready, _ = ask(below, LINE, READ, NOW)
        for left, looks in ((40, 4), (31, 4), (30, 3), (1, 1)):
            assert ask(below, LINE, READ, ready - left)[1]["L2_LOOK_AGAIN"] == (looks if figure else 1)


def test_an_access_before_a_release_that_still_waits_to_miss_the_same_line_meets_it_in_the_queue() -> None:
    below = l2_of("montecito")
    ask(below, LINE, READ, NOW)
    ask(below, LINE + 128, WRITE, NOW + 1, RELEASE)  # misses when the first line is there
    assert ask(below, LINE + 128, READ, NOW + 2)[1]["L2_RECIRC_OZQ_MISS"] == 1


# --- other lines of the set


def test_a_miss_of_the_same_set_counts_in_its_cycle_and_on_itanium_2_as_long_as_it_lasts() -> None:
    for name, later in (("itanium2", 1), ("montecito", 0)):
        for gap, wanted in ((0, 1), (10, later)):
            below = l2_of(name)
            ask(below, LINE, READ, NOW)
            assert ask(below, LINE + 128, READ, NOW)[1] == {}
            assert ask(below, LINE + SAME_SET, READ, NOW + gap)[1]["L2_RECIRC_SAME_INDEX"] == wanted


def test_a_store_that_hits_beside_a_miss_of_its_set_has_no_usable_tag() -> None:
    for kind, offset, gap, wanted in ((WRITE, 0, 0, 1), (READ, 0, 0, 0), (WRITE, 128, 0, 0), (WRITE, 0, 1, 0)):
        below = l2_of("montecito")
        ask(below, LINE + offset, READ, 0)
        ask(below, LINE + SAME_SET, READ, NOW)
        assert ask(below, LINE + offset, kind, NOW + gap)[1]["L2_RECIRC_TAG_NOTOK"] == wanted


def fill_a_set_with_modified_lines(below: L2) -> None:
    for way in range(8):
        ask(below, LINE + way * SAME_SET, WRITE, way * 1000)


def test_a_miss_of_a_line_that_is_on_its_way_out_waits_for_it() -> None:
    below = l2_of("montecito")
    fill_a_set_with_modified_lines(below)
    ready, counts = ask(below, LINE + 8 * SAME_SET, READ, NOW)
    assert not counts
    gone = [way for way in range(8) if below.stores()["data"].probe(LINE + way * SAME_SET) is None]
    assert len(gone) == 1
    assert ask(below, LINE + gone[0] * SAME_SET, READ, ready - 1)[1]["L2_RECIRC_VIC_PEND"] == 1


def test_a_miss_whose_victim_finds_no_buffer_comes_round_again() -> None:
    below = l2_of("montecito", "l2d.victims=1")
    for index in range(3):
        for way in range(8):
            dirty = WRITE if index < 2 else READ
            ask(below, LINE + index * 128 + way * SAME_SET, dirty, (index * 8 + way) * 1000)
    causes = [ask(below, LINE + index * 128 + 8 * SAME_SET, READ, NOW + 4 * index)[1] for index in range(3)]
    assert [counts["L2_RECIRC_VIC_BUF_FULL"] for counts in causes] == [0, 1, 0]  # the third victim is clean


# --- data and instructions in one L2


@pytest.mark.parametrize(("kind", "cause"), [(FETCH, "L2_SMC_HIT"), (FETCH_AHEAD, "L2_RECIRC_IPF_MISS")])
def test_data_in_a_line_that_is_being_fetched(kind: int, cause: str) -> None:
    below = l2_of("itanium2")
    ask(below, LINE, kind, NOW)
    _, counts = ask(below, LINE, READ, NOW + 4)
    assert counts[cause] == 1
    assert signal("l2_force_recirc.any", counts) == (kind == FETCH_AHEAD)
    assert signal("l2_got_recirc_ozq_acc", counts) == 1
    apart = l2_of("montecito")
    ask(apart, LINE, kind, NOW)
    assert not ask(apart, LINE, READ, NOW + 4)[1]


@pytest.mark.parametrize("name", ["itanium2", "montecito"])
def test_a_store_to_a_line_of_instructions_hits_it_shared(name: str) -> None:
    below = l2_of(name)
    ask(below, LINE, FETCH, 0)
    ask(below, LINE, READ, 1000)  # Montecito: L3 has it in state S
    assert ask(below, LINE, WRITE, NOW)[1]["L2_STORE_HIT_S"] == 1
    assert ask(below, LINE, WRITE, 2 * NOW)[1]["L2_STORE_HIT_S"] == 0
    ask(below, LINE + 128, READ, 3 * NOW)
    assert ask(below, LINE + 128, WRITE, 4 * NOW)[1]["L2_STORE_HIT_S"] == 0


# --- order


def test_a_release_waits_for_what_is_before_it() -> None:
    below = l2_of("montecito")
    ask(below, LINE, READ, NOW)
    assert ask(below, LINE + 128, WRITE, NOW + 1, RELEASE)[1] == {"OZQ_CANCEL_RELEASE": 1}
    assert not ask(below, LINE + 128, WRITE, 2 * NOW, RELEASE)[1]


def test_what_is_behind_an_acquire_waits_for_it() -> None:
    below = l2_of("montecito")
    ask(below, LINE, READ, NOW, ACQUIRE)
    assert ask(below, LINE + 128, FLOAT_READ, NOW + 1)[1] == {"OZQ_CANCEL_ACQUIRE": 1}
    assert not ask(below, LINE + 256, FLOAT_READ, 2 * NOW)[1]


def test_order_within_a_cycle_is_found_late() -> None:
    below = l2_of("itanium2")
    ask(below, LINE, READ, NOW, ACQUIRE)
    assert ask(below, LINE + 128, FLOAT_READ, NOW)[1] == {"OZQ_CANCEL_LATE_ACQUIRE": 1}
    below = l2_of("itanium2")
    ask(below, LINE, READ, NOW)
    assert ask(below, LINE + 128, WRITE, NOW, RELEASE)[1] == {"OZQ_CANCEL_LATE_RELEASE": 1}


def test_a_store_is_not_quick_as_long_as_a_release_would_wait() -> None:
    """Quick answers do not know which stores are releases."""
    config = load("montecito")
    memory = DataMemory(config, L2(config))
    for step in range(2):
        memory.access_at(LINE, STORE_ACCESS, step * 10_000)
    done, _, _ = memory.access_at(LINE + 64, SEMAPHORE_ACCESS, NOW)
    assert done > NOW + 5
    assert not memory.quick_at(LINE, STORE_ACCESS, done - 1)
    assert Occurrence.OZQ_CANCEL_RELEASE in dict(memory.access_at(LINE, STORE_ACCESS, done - 1, 8, RELEASE_ACCESS)[2])
    memory = DataMemory(config, L2(config))
    for step in range(2):
        memory.access_at(LINE, STORE_ACCESS, step * 10_000)
    done, _, _ = memory.access_at(LINE + 64, SEMAPHORE_ACCESS, NOW)
    assert memory.quick_at(LINE, STORE_ACCESS, done)
    assert not ask(memory.l2, LINE, WRITE, done, RELEASE)[1]


@pytest.mark.parametrize("name", ["itanium", "itanium2", "montecito"])
def test_releases_that_wait_fill_the_queue(name: str) -> None:
    """Table 2-9: 32 accesses. Stores that the data buffer holds wait in it for the miss before them."""
    buffer, level = ("l2d.data_buffer", "l2d") if name == "montecito" else ("l2.data_buffer", "l2")
    below = l2_of(name, f"{buffer}=64")
    ask(below, LINE + 128, WRITE, 0)
    ready, _ = ask(below, LINE, READ, NOW)
    entries = int(load(name)[f"{level}.queue"])
    taken = [below.request_at(LINE + 128, WRITE, NOW + 1 + number, RELEASE)[1] for number in range(entries + 2)]
    waiting = [cycle for number, cycle in enumerate(taken) if cycle == NOW + 1 + number]
    assert entries - 1 <= len(waiting) <= entries  # the miss leaves it when L3 was asked
    assert all(cycle >= ready for cycle in taken[len(waiting) :])


def test_an_invalidation_waits_for_room_before_the_bus() -> None:
    below = l2_of("montecito", "bus.request_queue=1")
    for number in range(2):
        ask(below, LINE + 128 * number, FETCH, 1000 * number)
        ask(below, LINE + 128 * number, READ, 10_000 + 1000 * number)
    _, counts = ask(below, LINE, WRITE, NOW)
    assert counts["L2_STORE_HIT_S"] == 1
    assert ask(below, LINE + 128, WRITE, NOW)[1]["L2_STORE_HIT_S"] == 1
    below.finish_at(2 * NOW)
    assert sum(below.levels()["BRQ"]) == 2 * NOW  # no cycle had more than one


@pytest.mark.parametrize(("before", "flags"), [(ACQUIRE, 0), (0, RELEASE)])
def test_a_semaphore_that_waits_is_counted_as_one(before: int, flags: int) -> None:
    below = l2_of("montecito")
    ask(below, LINE, READ, NOW, before)
    counts = ask(below, LINE + 128, SEMAPHORE, NOW + 1, flags)[1]
    assert counts == {"OZQ_CANCEL_SEMAPHORE": 1}
    assert signal("l2d_ozq_cancels1.any", counts) == signal("l2d_ozq_cancels0.sema", counts) == 1


# --- what cannot be sent on


def test_a_miss_that_finds_all_fill_buffers_taken() -> None:
    below = l2_of("itanium2", "l2.fills=2")
    found = [ask(below, LINE + 128 * number, READ, NOW + 4 * number)[1] for number in range(3)]
    assert [counts["L2_FILLS_FULL"] for counts in found] == [0, 0, 1]


@each(
    ("kind", "cause"),
    [(READ, "DATA"), (FETCH, "FETCH_DEMAND"), (FETCH_AHEAD, "FETCH_PREFETCH")],
)
@each("name", ["itanium2", "montecito"])
def test_a_request_that_l3_has_no_buffer_for(name: str, kind: int, cause: str) -> None:
    below = l2_of(name, "l3.queue=2")
    found = [ask(below, LINE + 128 * number, kind, NOW + 4 * number)[1] for number in range(3)]
    assert [counts[f"L3_REJECT_{cause}"] for counts in found] == [0, 0, 1]


@pytest.mark.parametrize(("name", "fills"), [("itanium2", "l2.fills"), ("montecito", "l2d.fills")])
def test_sixteen_misses_and_sixteen_requests_are_under_way_at_most(name: str, fills: str) -> None:
    """Table 2-9: 16 fills; section 2.3.3.4: all requests of L2 are allocated to one of 16 request buffers."""
    for wider, cause in (("l3.queue=32", "L2_FILLS_FULL"), (f"{fills}=32", "L3_REJECT_DATA")):
        below = l2_of(name, wider)
        found = [ask(below, LINE + 128 * number, READ, NOW + 4 * number)[1] for number in range(17)]
        assert [counts[cause] for counts in found] == [0] * 16 + [1]


def test_l2i_holds_eight_fetches() -> None:
    """Table 2-9: queuing of 8."""
    below = l2_of("montecito")
    found = [ask(below, LINE + 128 * number, FETCH, NOW + number)[1] for number in range(9)]
    assert [counts["L2_FETCH_QUEUED_MISS_DEMAND"] for counts in found] == [0] * 8 + [1]


@pytest.mark.parametrize(("name", "buffers"), [("itanium2", 6), ("montecito", 8)])
def test_victims_of_l2_find_the_published_number_of_buffers(name: str, buffers: int) -> None:
    """Section 2.3.3.4: a modified victim takes one of 8 write buffers, two more than on the Itanium 2."""
    below = l2_of(name)
    for index in range(buffers + 1):
        for way in range(8):
            ask(below, LINE + index * 128 + way * SAME_SET, WRITE, (index * 8 + way) * 1000)
    causes = [ask(below, LINE + index * 128 + 8 * SAME_SET, READ, NOW + 4 * index)[1] for index in range(buffers + 1)]
    assert [counts["L2_RECIRC_VIC_BUF_FULL"] for counts in causes] == [0] * buffers + [1]


@pytest.mark.parametrize(("kind", "which"), [(FETCH, "DEMAND"), (FETCH_AHEAD, "PREFETCH")])
def test_a_fetch_that_finds_its_line_under_way_comes_round_again(kind: int, which: str) -> None:
    below = l2_of("montecito")
    ask(below, LINE, FETCH_AHEAD, NOW)
    ready, counts = ask(below, LINE + 64, kind, NOW + 2)
    assert counts == {f"L2_FETCH_CONFLICT_{which}": 1, "L2_FETCH_LOOK_AGAIN": 1}
    assert not ask(below, LINE + 64, kind, ready)[1]


@pytest.mark.parametrize(("place", "found"), [(0, "HIT"), (512, "MISS")])
def test_a_fetch_that_finds_the_queue_full_comes_round_again(place: int, found: str) -> None:
    below = l2_of("montecito", "l2i.queue=1")
    ask(below, LINE, FETCH, 0)
    ask(below, LINE + 256, FETCH, NOW)
    assert ask(below, LINE + place, FETCH, NOW + 2)[1][f"L2_FETCH_QUEUED_{found}_DEMAND"] == 1


# --- sums


REQUESTS = st.lists(
    st.tuples(
        st.integers(0, 40).map(lambda number: LINE + number * 96 + (number % 3) * SAME_SET),
        st.sampled_from([READ, READ, FLOAT_READ, WRITE, SEMAPHORE, PREFETCH, FETCH, FETCH_AHEAD, WALK]),
        st.sampled_from([0, 0, 0, ACQUIRE, RELEASE]),
        st.sampled_from([0, 0, 1, 2, 9, 60]),
    ),
    max_size=150,
)


@pytest.mark.slow
@examples(60)
@given(REQUESTS, st.sampled_from(["itanium2", "montecito"]))
def test_every_access_has_one_cause_at_most_and_the_sums_are_sums(
    requests: list[tuple[int, int, int, int]], name: str
) -> None:
    below, now = l2_of(name), NOW
    for address, kind, flags, gap in requests:
        now += gap
        _, _, noted = below.request_at(address, kind, now, flags if kind < PREFETCH else 0)
        counts = Counter({Occurrence(occurrence).name: times for occurrence, times in noted})
        again = signal("l2_got_recirc_ozq_acc", counts)
        missed = counts["L2_DATA_MISS"] > 0 and not counts["L2_MISS_SENT"]
        assert again <= 1
        assert signal("l2_ozq_cancels0.any", counts) <= 1
        assert again >= missed  # whoever finds its line under way comes round again
        assert bool(counts["L2_LOOK_AGAIN"]) == bool(again)
        secondary = signal("l2d_force_recirc.secondary_all", counts)
        assert secondary == signal("l2d_force_recirc.limbo", counts) + signal("l2d_force_recirc.l1w", counts)
        assert secondary <= missed
        fetches = signal("l2i_recirculates.all_all", counts)
        assert fetches == signal("l2i_recirculates.hit_all", counts) + signal("l2i_recirculates.miss_all", counts)
        assert signal("l2i_hit_conflicts.all_all", counts) <= signal("l2i_reads.hit_all", counts)
        parts = signal("l2_l3access_cancel.dfetch", counts) + signal("l2_l3access_cancel.ifetch", counts)
        assert signal("l2_l3access_cancel.any", counts) == parts
