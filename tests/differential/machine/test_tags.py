"""Tag stores and replacement policies against models that are lists and sets."""

import random
from itertools import pairwise

import pytest
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st

from pfmon.machine._machine import PageTable, TagStore

LINE_SHIFT = 6


class LeastRecent:
    """A set of a cache as a list, least recently used first."""

    def __init__(self, ways: int) -> None:
        self.ways = ways
        self.held: list[int] = []

    def use(self, number: int) -> bool:
        hit = number in self.held
        if hit:
            self.held.remove(number)
        elif len(self.held) == self.ways:
            self.held.pop(0)
        self.held.append(number)
        return hit

    def all(self) -> set[int]:
        return set(self.held)


class NotRecent:
    """A set with a bit for each way: the first way whose bit is clear makes room."""

    def __init__(self, ways: int) -> None:
        self.places: list[int | None] = [None] * ways
        self.recent: set[int] = set()

    def use(self, number: int) -> bool:
        hit = number in self.places
        if hit:
            way = self.places.index(number)
        elif None in self.places:
            way = self.places.index(None)
        else:
            way = min(set(range(len(self.places))) - self.recent, default=len(self.places) - 1)
            self.recent.discard(way)
        self.places[way] = number
        if way not in self.recent:
            self.recent.add(way)
            if len(self.recent) == len(self.places):
                self.recent = {way}
        return hit

    def all(self) -> set[int]:
        return {number for number in self.places if number is not None}


class Tree:
    """A set as a binary tree: each node remembers which half was not used last."""

    def __init__(self, ways: int) -> None:
        self.places: list[int | None] = [None] * ways
        self.colder: dict[tuple[int, int], int] = {}  # (first, size) -> half, 0 or 1

    def use(self, number: int) -> bool:
        hit = number in self.places
        if hit:
            way = self.places.index(number)
        elif None in self.places:
            way = self.places.index(None)
        else:
            way = self._coldest()
        self.places[way] = number
        first, size = 0, len(self.places)
        while size > 1:
            half = (way - first) // (size // 2)
            self.colder[first, size] = 1 - half
            first, size = first + half * (size // 2), size // 2
        return hit

    def _coldest(self) -> int:
        first, size = 0, len(self.places)
        while size > 1:
            half = self.colder.get((first, size), 0)
            first, size = first + half * (size // 2), size // 2
        return first

    def all(self) -> set[int]:
        return {number for number in self.places if number is not None}


MODELS = {"lru": LeastRecent, "nru": NotRecent, "plru": Tree}
LINES = st.lists(st.integers(0, 40), max_size=300)


@examples(60)
@given(LINES, st.sampled_from(["lru", "nru", "plru"]), st.sampled_from([1, 2, 3, 4, 8]), st.sampled_from([1, 3, 4]))
def test_each_use_hits_and_replaces_as_the_policy_says(trace: list[int], policy: str, ways: int, sets: int) -> None:
    if policy == "plru" and ways == 3:
        ways = 4
    store = TagStore(sets, ways, LINE_SHIFT, policy)
    model = [MODELS[policy](ways) for _ in range(sets)]
    for number in trace:
        assert store.use((number << LINE_SHIFT) + number % 64) == model[number % sets].use(number)
    held = [{number for number in row if number is not None} for row in store.contents()]
    assert held == [part.all() for part in model]


@pytest.mark.slow
@examples(30)
@given(st.integers(0, 2**32), st.sampled_from(["lru", "nru"]), st.sampled_from([32, 96, 128]))
def test_fully_associative_stores_of_many_ways_keep_their_policy(seed: int, policy: str, ways: int) -> None:
    store, model = TagStore(1, ways, 14, policy), MODELS[policy](ways)
    choice = random.Random(seed)
    trace = [choice.randrange(choice.choice([8, ways, 2 * ways])) for _ in range(2000)]
    for page in trace:
        assert store.use(page << 14) == model.use(page)


@examples(30)
@given(LINES)
def test_random_replacement_keeps_what_was_used_last_and_never_more_than_its_ways(trace: list[int]) -> None:
    store = TagStore(4, 2, LINE_SHIFT, "random")
    for number in trace:
        store.use(number << LINE_SHIFT)
        assert store.probe(number << LINE_SHIFT) is not None
    assert all(len(row) == 2 for row in store.contents())


def test_random_replacement_is_the_same_each_time_and_reaches_every_way() -> None:
    def run() -> list[list[int | None]]:
        store = TagStore(1, 4, LINE_SHIFT, "random")
        seen = []
        for number in range(200):
            store.use(number << LINE_SHIFT)
            seen.append(store.contents()[0])
        return seen

    first, second = run(), run()
    assert first == second
    changed = {way for old, new in pairwise(first[4:]) for way in range(4) if old[way] != new[way]}
    assert changed == {0, 1, 2, 3}


@pytest.mark.parametrize("policy", ["lru", "nru", "plru"])
def test_a_loop_that_fits_hits_always(policy: str) -> None:
    store = TagStore(64, 4, LINE_SHIFT, policy)
    loop = range(0, 64 * 4 * 64, 64)
    first = [store.use(address) for address in loop]
    again = [store.use(address) for address in loop]
    assert not any(first)
    assert all(again)


@pytest.mark.slow
@given(st.sets(st.integers(0, 2**50), max_size=200), st.sets(st.integers(0, 2**50), max_size=20))
def test_a_page_table_knows_the_pages_it_was_given(pages: set[int], others: set[int]) -> None:
    table = PageTable()
    for page in pages:
        table.learn(page)
    assert len(table) == len(pages)
    assert all(page in table for page in pages)
    assert not any(page in table for page in others - pages)


def test_a_page_table_grows() -> None:
    table = PageTable()
    for page in range(0, 50_000, 7):
        table.learn(page)
    assert all(page in table for page in range(0, 50_000, 7))
    assert 1 not in table
