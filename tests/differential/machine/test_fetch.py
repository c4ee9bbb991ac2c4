"""Instruction fetch: costs at every level, prefetch, and a plain model on random programs."""

import random
from collections import Counter

import pytest
from example_counts import examples
from grids import diagonal, each, first_quick
from hypothesis import example, given
from hypothesis import strategies as st
from plain_fetch import Plain

from pfmon.machine._machine import L2, InstructionFetch, branch_predictor
from pfmon.machine.config.machine_config import load

MACHINES = ("itanium", "itanium2", "montecito")
OWN = {
    "L1I_READ", "L1I_DEMAND_MISS", "L1I_ISB_HIT", "L1I_RAB_HIT", "L1I_FILL", "L1I_PURGED", "L1I_SNOOPED",
    "L1I_PREFETCH", "L1I_STREAM_PREFETCH", "L2_PREFETCH_SENT", "PREFETCH_STALL_STREAM", "PREFETCH_STALL_HINT",
    "PVAB_OVERFLOW", "ISB_LINE_IN", "ISB_PAIR_IN", "ITLB1_MISS", "ITLB2_MISS", "ITLB_WALKED", "ITLB_FILLED",
}  # fmt: skip
LATER = 10000


def machine(name: str = "itanium2", *figures: str) -> InstructionFetch:
    config = load(name, figures)
    return InstructionFetch(config, L2(config))


def alone(*figures: str) -> InstructionFetch:
    """An Itanium 2 whose requests bring one line of L1I each, so that it shows what is asked for."""
    return machine("itanium2", "l1i.brought=64", *figures)


def own(occurrences: dict[str, int]) -> dict[str, int]:
    return {name: times for name, times in occurrences.items() if name in OWN}


def touched(fetch: InstructionFetch, start: int, size: int, now: int = 0) -> int:
    """Every window of a range is fetched; a cycle in which all is over."""
    for address in range(start, start + size, 32):
        now = fetch.fetch_at(address, now)[0] + 1
    return now + LATER


# Costs.


@pytest.mark.parametrize("name", MACHINES)
def test_a_window_in_l1i_is_there_when_it_is_asked_for(name: str) -> None:
    fetch = machine(name)
    now = touched(fetch, 0x4000, 32)
    assert fetch.fetch_at(0x4000, now) == (now, {}, {"L1I_READ": 1})


@pytest.mark.parametrize(("name", "cycles"), [("itanium", 6), ("itanium2", 7), ("montecito", 7)])
def test_a_line_in_l2_takes_its_latency(name: str, cycles: int) -> None:
    """Montecito manual 2.3.3.2: seven cycles, as the Itanium 2; Itanium: the latency of its L2."""
    config = load(name)
    fetch = machine(name, f"l1i.brought={config['l1i.line']}")
    now = touched(fetch, 0x4000, 32)
    ready, waits, seen = fetch.fetch_at(0x4000 + int(config["l1i.line"]), now)
    assert (ready, waits) == (now + cycles, {"FRONT_IMISS": cycles})
    assert seen["L1I_DEMAND_MISS"] == 1


@pytest.mark.parametrize("name", MACHINES)
def test_a_line_in_memory_takes_the_memorys_latency(name: str) -> None:
    fetch, config = machine(name), load(name)
    now = touched(fetch, 0x4000, 32)
    cycles = int(config["memory.latency"])
    assert fetch.fetch_at(0x4400, now)[:2] == (now + cycles, {"FRONT_IMISS": cycles})


def test_a_page_in_the_second_tlb_costs_its_penalty() -> None:
    """Pages of 16 KB are four entries of the first level: the second one costs a transfer, the first a walk."""
    fetch = machine()
    now = touched(fetch, 0x4000, 32)
    now = touched(fetch, 0x5000, 32, now)
    for page in range(64):
        now = touched(fetch, 0x100000 + page * 4096, 32, now)
    ready, waits, seen = fetch.fetch_at(0x4000, now)
    assert waits["FRONT_TLBMISS"] == load("itanium2")["itlb2.penalty"]
    assert own(seen)["ITLB1_MISS"] == 1
    assert "ITLB2_MISS" not in seen
    assert ready == now + sum(waits.values())


def test_a_walk_costs_what_the_machine_says_once_the_entry_is_known() -> None:
    """The second walk for a page finds the VHPT's entry in L2."""
    config = load("itanium2")
    fetch = machine()
    now = touched(fetch, 0x4000, 32)
    for page in range(1, 130):
        now = touched(fetch, 0x4000 + page * 16384 + page * 128 % 16384, 32, now)
    _, waits, seen = fetch.fetch_at(0x4000, now)
    assert waits["FRONT_TLBMISS"] == config["vhpt.walk"]
    assert seen["ITLB2_MISS"] == seen["ITLB_WALKED"] == seen["HPW_READ"] == 1


def test_the_first_use_of_a_page_is_the_operating_systems() -> None:
    config = load("itanium2")
    fetch = machine()
    now = touched(fetch, 0x4000, 32)
    _, waits, seen = fetch.fetch_at(0x8000, now)
    assert seen["ITLB_FILLED"] == 1
    assert waits["FRONT_TLBMISS"] == int(config["vhpt.walk"]) + int(config["vhpt.software"])


def test_itanium_has_one_level_of_instruction_tlb() -> None:
    fetch = machine("itanium")
    now = touched(fetch, 0x4000, 32)
    for page in range(1, 65):
        now = touched(fetch, 0x4000 + page * 16384, 32, now)
    seen = fetch.fetch_at(0x4000, now)[2]
    assert seen["ITLB1_MISS"] == seen["ITLB_WALKED"] == 1
    assert "ITLB2_MISS" not in seen


def test_lines_leave_with_the_tlb_entry_of_their_page() -> None:
    """Montecito manual 2.4.3.1.1: prevalidated lines are invalid once their entry is gone."""
    fetch = machine()
    now = touched(fetch, 0x4000, 4096)
    purged = 0
    for page in range(32):
        seen = fetch.fetch_at(0x100000 + page * 4096 + page % 16 * 256, now)[2]
        purged += seen.get("L1I_PURGED", 0)
        now += LATER
    assert purged == 1
    assert "L1I_DEMAND_MISS" in fetch.fetch_at(0x4FF0 // 32 * 32, now)[2]


@pytest.mark.slow
@each("apart", [1, 3, 256, 257])
@each(("entries", "least"), [(32, 50), (4, 3)])
def test_no_line_stays_without_the_entry_of_its_page(apart: int, entries: int, least: int) -> None:
    """... whatever pages these are; lines that were asked for ahead neither, which few entries show."""
    chance, fetch, now = (
        random.Random(apart),
        machine("itanium2", f"itlb1.entries={entries}", f"itlb1.ways={entries}"),
        0,
    )
    stores = fetch.stores()
    for _ in range(1500):
        page = chance.randrange(48) * apart
        now = fetch.fetch_at(0x100000 + page * 4096 + chance.randrange(128) * 32, now)[0] + chance.choice([1, LATER])
        if chance.random() < 0.2:
            fetch.redirect_at(0x100000 + page * 4096 + chance.randrange(128) * 32, True, now)
        pages = {one for row in stores["itlb1"].contents() for one in row}
        assert {line // 4096 for line in fetch.buffer_lines()} <= pages
    lines = [one * 64 for row in stores["l1i"].contents() for one in row if one is not None]
    assert len(lines) > least
    assert {line // 4096 for line in lines} <= pages


def test_l1i_holds_its_size_and_not_a_line_more() -> None:
    fetch = machine()
    now = touched(fetch, 0x4000, 16384)
    again = Counter[str]()
    for address in range(0x4000, 0x8000, 32):
        again.update(own(fetch.fetch_at(address, now)[2]))
        now += 1
    assert again == {"L1I_READ": 512}
    now = touched(fetch, 0x8000, 64, now)
    assert "L1I_DEMAND_MISS" in fetch.fetch_at(0x4000, now)[2]


# Prefetch.


def with_little_of_a_function() -> tuple[InstructionFetch, int]:
    """L1I holds the first line alone of a function of 40 lines, whose translation is there; the cycle then."""
    fetch = alone()
    now = touched(fetch, 0x4000, 64 * 40)
    for page in range(32):
        now = touched(fetch, 0x100000 + page * 4096, 32, now)
    return fetch, touched(fetch, 0x4000, 32, now)


def test_a_stream_has_lines_there_before_they_are_fetched() -> None:
    """It goes on as long as what it brings is fetched, and no further than so many lines ahead."""
    fetch, now = with_little_of_a_function()
    fetch.redirect_at(0x4000, True, now)
    waits = [fetch.fetch_at(0x4000 + line * 64, now + 100 + 10 * line)[1] for line in range(30)]
    assert waits == [{}] * 30
    assert max(fetch.buffer_lines()) <= 0x4000 + (29 + 7) * 64


def test_without_many_every_line_is_waited_for() -> None:
    fetch, now = with_little_of_a_function()
    fetch.redirect_at(0x4000, False, now)
    waits = [fetch.fetch_at(0x4000 + line * 64, now + 100 + 10 * line)[1] for line in range(1, 30)]
    assert waits == [{"FRONT_IMISS": 7}] * 29


@pytest.mark.parametrize("name", ["itanium2", "montecito"])
def test_a_request_brings_whole_lines_of_l2(name: str) -> None:
    """Table 4-9: ISB_LINES_IN is ISB_BUNPAIRS_IN / 4, lines of 128 bytes. The other half waits in the buffer."""
    fetch = machine(name)
    now = touched(fetch, 0x4000, 32)
    assert sorted(fetch.buffer_lines()) == [0x4040]
    _, waits, seen = fetch.fetch_at(0x4040, now)
    assert (waits, seen) == ({}, {"L1I_READ": 1, "L1I_ISB_HIT": 1, "L1I_FILL": 1})
    total = Counter[str]()
    for line in range(0x4100, 0x4100 + 14 * 64, 64):
        total.update(fetch.fetch_at(line, now := now + LATER)[2])
    assert total["L1I_FILL"] == 14
    assert total["ISB_LINE_IN"] == total["L1I_DEMAND_MISS"] == 7
    assert total["ISB_PAIR_IN"] == 4 * total["ISB_LINE_IN"]


def test_the_next_taken_branch_ends_a_stream() -> None:
    fetch = alone()
    now = touched(fetch, 0x4000, 32)
    fetch.redirect_at(0x4000, True, now)
    seen = fetch.redirect_at(0x4000, False, now + 3)
    assert own(seen) == {
        "L1I_PREFETCH": 3, "L1I_STREAM_PREFETCH": 3, "L2_PREFETCH_SENT": 3, "ISB_LINE_IN": 3, "ISB_PAIR_IN": 6,
    }  # fmt: skip
    assert sorted(fetch.buffer_lines()) == [0x4040, 0x4080, 0x40C0]
    assert own(fetch.redirect_at(0x4000, False, now + 50)) == {}


def test_few_prefetches_nothing() -> None:
    fetch = alone()
    now = touched(fetch, 0x4000, 32)
    fetch.redirect_at(0x4000, False, now)
    assert own(fetch.redirect_at(0x4000, False, now + 50)) == {}
    assert fetch.buffer_lines() == {}


def test_a_stream_over_lines_that_are_there_only_looks_them_up() -> None:
    fetch = machine()
    now = touched(fetch, 0x4000, 1024)
    assert fetch.redirect_at(0x4000, True, now) == {"L1I_PREFETCH": 7, "L1I_STREAM_PREFETCH": 7}


def test_streams_wait_for_requests_and_leave_one_for_fetches() -> None:
    """Table 2-9: seven prefetches at a time. The first line is in L2, beside the target's, and makes room soon; with
    seven that come from memory, a ninth waits.
    """
    fetch = alone("l1i.stream=12", "l1i.streaming_buffer=16")
    now = touched(fetch, 0x4000, 32)
    fetch.redirect_at(0x4000, True, now)
    seen = own(fetch.fetch_at(0x4000, now + 50)[2])
    assert seen["L2_PREFETCH_SENT"] == 8
    first = min(ready for ready in fetch.buffer_lines().values() if ready > now + 50)
    _, waits, seen = fetch.fetch_at(0x4800, now + 51)
    assert waits["FRONT_IMISS"] >= 208
    assert "L1I_RAB_HIT" not in seen
    later = own(fetch.redirect_at(0x4000, False, now + 5000))
    assert later["L2_PREFETCH_SENT"] == 4
    assert later["PREFETCH_STALL_STREAM"] >= first - (now + 10)
    fetch.finish_at(now + 5000)
    levels = fetch.levels()
    assert levels["RAB_FULL"][1] > 0
    assert levels["RAB_ALMOST_FULL"][1] > levels["RAB_FULL"][1]
    assert sum(levels["RAB_FULL"]) == now + 5000


def test_prefetches_do_not_walk() -> None:
    """Montecito manual 4.10: cancelled when they miss in the ITLB."""
    fetch = alone()
    now = touched(fetch, 0x4000, 32)
    assert own(fetch.hint_at(0x8000, now)) == {"L1I_PREFETCH": 1}
    assert own(fetch.redirect_at(0x4FC0, True, now)) == {}
    assert own(fetch.redirect_at(0x4FC0, False, now + 50)) == {}
    assert fetch.buffer_lines() == {}


def test_a_hint_brings_its_line_to_the_streaming_buffer() -> None:
    fetch = alone()
    now = touched(fetch, 0x4000, 32)
    seen = own(fetch.hint_at(0x4210, now))
    assert seen == {"L1I_PREFETCH": 1, "L2_PREFETCH_SENT": 1, "ISB_LINE_IN": 1, "ISB_PAIR_IN": 2}
    under_way = fetch.fetch_at(0x4220, now + 100)
    assert under_way == (now + 208, {"FRONT_FILL_RECIRC": 108}, {"L1I_READ": 1, "L1I_RAB_HIT": 1, "L1I_FILL": 1})
    fetch.hint_at(0x4240, now + 300)
    assert fetch.fetch_at(0x4240, now + 600) == (now + 600, {}, {"L1I_READ": 1, "L1I_ISB_HIT": 1, "L1I_FILL": 1})
    assert fetch.fetch_at(0x4260, now + 601) == (now + 601, {}, {"L1I_READ": 1})


def test_too_many_hints_overflow() -> None:
    fetch = alone("l1i.hints=2")
    now = touched(fetch, 0x4000, 32)
    seen = Counter[str]()
    for line in range(1, 12):
        seen.update(own(fetch.hint_at(0x4000 + line * 64, now)))
    assert seen["PVAB_OVERFLOW"] == 11 - 3
    assert seen["L2_PREFETCH_SENT"] == 3
    assert seen["PREFETCH_STALL_HINT"] == 1 + 2


def test_the_predictor_forgets_the_targets_of_lines_that_left() -> None:
    config = load("itanium2")
    predictor = branch_predictor(config)
    fetch = InstructionFetch(config, L2(config), predictor)
    now = touched(fetch, 0x4000, 32)
    for _ in range(3):
        bubbles = predictor.predict(0x4002, True, 0x4000, whether=2)[1]
    assert bubbles == 0
    touched(fetch, 0x8000, 16384, now)
    assert predictor.predict(0x4002, True, 0x4000, whether=2)[1] == 1


# A plain model.


STEP = st.tuples(
    st.sampled_from("ffffffrmh"),  # fetch, redirect few and many, hint
    st.integers(0, 39),  # page of 4 KB
    st.sampled_from([0, 1, 2, 3, 4, 60, 62, 63]),  # line of 64 bytes
    st.integers(0, 1),  # window
    st.integers(0, 20),  # cycles that pass
)


def step(fetch: InstructionFetch, plain: Plain | None, what: str, address: int, now: int) -> tuple[int, Counter[str]]:
    """One step of both; the cycle in which it is over, and what the first one counted."""
    if what == "f":
        ready, _, seen = fetch.fetch_at(address, now)
        if plain:
            assert plain.fetch(address, now) == ready
        return ready, Counter(own(seen))
    if what in "rm":
        seen = fetch.redirect_at(address, what == "m", now)
        if plain:
            plain.redirect(address, what == "m", now)
    else:
        seen = fetch.hint_at(address, now)
        if plain:
            plain.hint(address, now)
    return now, Counter(own(seen))


def place(page: int, line: int, window: int) -> int:
    return 0x4000000 + page * 4096 + line * 64 + window * 32


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
@examples(60)
@given(steps=st.lists(STEP, max_size=120))
def test_it_is_as_its_plain_model(name: str, steps: list[tuple[str, int, int, int, int]]) -> None:
    fetch, plain, now = machine(name), Plain(name), 0
    total = Counter[str]()
    for what, page, line, window, pause in steps:
        now, seen = step(fetch, plain, what, place(page, line, window), now + pause)
        total.update(seen)
        assert +total == +plain.seen


@diagonal
@pytest.mark.parametrize(
    "apart", first_quick([1, 256]), ids=["pages in a row", "pages that share a place of present_lines.pxd"]
)
@pytest.mark.parametrize("name", first_quick(MACHINES))
def test_it_is_as_its_plain_model_for_long(name: str, apart: int) -> None:
    draw = random.Random(3)
    fetch, plain, now = machine(name), Plain(name), 0
    total = Counter[str]()
    address = place(0, 0, 0)
    for _ in range(8000):
        what = draw.choices("frmh", (80, 5, 5, 3))[0]
        address = address + 32 if draw.random() < 0.8 else place(draw.randrange(48) * apart, draw.randrange(64), 0)
        now, seen = step(fetch, plain, what, address, now + draw.randrange(4))
        total.update(seen)
    assert +total == +plain.seen
    assert {"L1I_ISB_HIT", "L1I_RAB_HIT", "L1I_FILL", "PREFETCH_STALL_STREAM"} <= set(total)


@pytest.mark.slow
@pytest.mark.parametrize("replacement", ["lru", "nru", "plru", "random"])
@examples(60)
@example(steps=[("f", 0, 0, 0, 0)] * 3 + [("m", 0, 0, 0, 0), ("f", 0, 0, 0, 1)])
@given(steps=st.lists(STEP, max_size=150))
def test_quick_first_leaves_the_same_state(replacement: str, steps: list[tuple[str, int, int, int, int]]) -> None:
    """One machine does everything, the other asks first and does only what is not quick, or does it all the same."""
    figures = (f"l1i.replacement={replacement}", f"itlb1.replacement={replacement}", "itlb1.entries=8", "itlb1.ways=8")
    plain, asked, now = machine("itanium2", *figures), machine("itanium2", *figures), 0
    for index, (what, page, line, window, pause) in enumerate(steps):
        address = place(page % 12, line, window)
        now += pause
        before = now
        now, seen = step(plain, None, what, address, before)
        again = index % 3 == 0
        if what == "f" and asked.quick_at(address, before) and not again:
            assert (now, seen) == (before, {"L1I_READ": 1}) or plain_pumped(seen)
            continue
        assert step(asked, None, what, address, before)[0] == now
    for fetch in (plain, asked):  # a stream goes on when it is next looked at, with its own times
        fetch.redirect_at(place(0, 0, 0), False, now)
    for name, store in plain.stores().items():
        assert store.contents() == asked.stores()[name].contents()
    assert plain.buffer_lines() == asked.buffer_lines()


def plain_pumped(seen: Counter[str]) -> bool:
    """Besides the fetch, a stream went on."""
    return seen["L1I_READ"] == 1 and seen["L1I_STREAM_PREFETCH"] > 0


@pytest.mark.parametrize("name", MACHINES)
def test_reads_are_hits_and_misses(name: str) -> None:
    draw = random.Random(9)
    fetch, now, total = machine(name), 0, Counter[str]()
    hits = 0
    for _ in range(4000):
        address = place(draw.randrange(4), draw.randrange(64), 0)
        if draw.random() < 0.2:
            total.update(fetch.redirect_at(address, True, now))
        at = now + draw.randrange(5)
        quick = fetch.quick_at(address, at)
        now, _, seen = fetch.fetch_at(address, at)
        hits += not set(seen) & {"L1I_DEMAND_MISS", "L1I_ISB_HIT", "L1I_RAB_HIT"}
        assert not quick or now == at
        total.update(seen)
    assert total["L1I_READ"] == hits + total["L1I_DEMAND_MISS"] + total["L1I_ISB_HIT"] + total["L1I_RAB_HIT"]
    assert total["L1I_DEMAND_MISS"] == total["L2_FETCH_HIT_DEMAND"] + total["L2_FETCH_MISS_DEMAND"]
    assert total["L2_PREFETCH_SENT"] == total["L2_FETCH_HIT_PREFETCH"] + total["L2_FETCH_MISS_PREFETCH"]
    assert total["ISB_LINE_IN"] == total["L1I_DEMAND_MISS"] + total["L2_PREFETCH_SENT"]
    config = load(name)
    lines = max(1, int(config["l1i.brought"]) // int(config["l1i.line"]))
    assert total["L1I_FILL"] <= lines * total["ISB_LINE_IN"]
