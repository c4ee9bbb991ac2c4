"""Branch prediction of out-of-order cores against plain models: loop counters, path histories, indirect targets."""

from collections.abc import Iterator, Sequence
from random import Random

import pytest

from pfmon.machine._machine import BranchVerdict, IntervalPredictor
from pfmon.machine.config.machine_config import load
from pfmon.stream._stream import BranchKind

TAGE = {
    "predictor.kind": "tage",
    "predictor.counters": 1024,
    "predictor.tagged": 256,
    "predictor.shortest_path": 8,
    "predictor.path": 93,
    "predictor.targets": 64,
    "predictor.target_ways": 4,
    "predictor.indirect": 64,
    "predictor.return_stack": 16,
}
WORD = (1 << 64) - 1


def branch_hash(address: int) -> int:
    return address ^ address >> 13


class Counters:
    """Two-bit counters, weakly not taken at first."""

    def __init__(self, entries: int) -> None:
        self.values = [1] * entries

    def predicts(self, place: int) -> bool:
        return self.values[place % len(self.values)] >= 2

    def train(self, place: int, taken: bool) -> None:
        place %= len(self.values)
        self.values[place] = max(0, min(3, self.values[place] + (1 if taken else -1)))


class Loop:
    """The counter of one branch."""

    def __init__(self, way: bool) -> None:
        self.way, self.count, self.length, self.runs = way, 0, 0, 0


class Hybrid:
    """Counters by address, by address and history, a chooser, and loop counters in sets of two."""

    def __init__(self, counters: int, shared: int, history: int, loops: int, longest: int) -> None:
        self.alone, self.shared, self.chooser = Counters(counters), Counters(shared), Counters(shared)
        self.bits, self.history, self.longest = history, 0, longest
        self.sets: list[list[tuple[int, Loop] | None]] = [[None, None] for _ in range(loops // 2)]

    def direction(self, address: int, taken: bool) -> bool:
        place = branch_hash(address)
        alone, together = self.alone.predicts(place), self.shared.predicts(place ^ self.history)
        predicted = together if self.chooser.predicts(place) else alone
        if alone != together:
            self.chooser.train(place, together == taken)
        self.alone.train(place, taken)
        self.shared.train(place ^ self.history, taken)
        self.history = (self.history << 1 | taken) % (1 << self.bits)
        return self.by_loop(place, predicted, taken) == taken

    def by_loop(self, place: int, predicted: bool, taken: bool) -> bool:
        ways = self.sets[(place ^ place >> 6) % len(self.sets)]
        for at, held in enumerate(ways):
            if held and held[0] == place:
                loop = held[1]
                if loop.runs >= 2:
                    predicted = (not loop.way) if loop.count == loop.length else loop.way
                if taken == loop.way:
                    loop.count += 1
                    if loop.count >= self.longest:
                        ways[at] = None
                elif loop.count == 0:
                    loop.way, loop.count, loop.length, loop.runs = taken, 2, 0, 0
                else:
                    loop.runs = min(3, loop.runs + 1) if loop.count == loop.length else 0
                    loop.length, loop.count = loop.count, 0
                return predicted
        if predicted != taken:
            sure = [held[1].runs if held else 0 for held in ways]
            weakest = 1 if sure[1] <= sure[0] else 0
            held = ways[weakest]
            if held and held[1].runs:
                held[1].runs -= 1
            else:
                ways[weakest] = (place, Loop(not taken))
        return predicted


def spread(bits: int) -> int:
    return bits * 0x9E3779B97F4A7C15 & WORD


class Path:
    """The latest taken branches, the youngest first."""

    def __init__(self) -> None:
        self.branches: list[int] = []

    def take(self, address: int, target: int) -> None:
        self.branches.insert(0, spread((address & 0xFFFF) << 6 | target & 0x3F))
        del self.branches[100:]

    def hashed(self, length: int, address: int) -> int:
        folded = spread(address)
        for age, one in enumerate(self.branches[:length]):
            turned = 5 * age % 64
            folded ^= (one << turned | one >> (64 - turned)) & WORD
        return folded


class Entry:
    def __init__(self, tag: int, taken: bool) -> None:
        self.tag, self.counter, self.useful = tag, 4 if taken else 3, 0

    @property
    def way(self) -> bool:
        return self.counter >= 4

    @property
    def unproved(self) -> bool:
        return self.useful == 0 and self.counter in (3, 4)


class Tage:
    """Tables of entries with tags by address and path, over counters by address."""

    def __init__(self, figures: dict[str, int | str]) -> None:
        self.base, self.entries = Counters(int(figures["predictor.counters"])), int(figures["predictor.tagged"])
        self.tables: list[dict[int, Entry]] = [{}, {}, {}]
        self.lengths, self.path, self.alternate = [8, 27, 93], Path(), 8

    def direction(self, address: int, taken: bool) -> bool:
        place = branch_hash(address)
        hashes = [self.path.hashed(length, place) for length in self.lengths]
        slots = [one * self.entries >> 64 for one in hashes]
        tags = [one >> 16 & 0x7FFF for one in hashes]
        found = [
            entry
            for table, slot, tag in zip(self.tables, slots, tags, strict=True)
            if (entry := table.get(slot)) and entry.tag == tag
        ]
        provider = found[-1] if found else None
        way = provider.way if provider else self.base.predicts(place)
        other = found[-2].way if len(found) > 1 else self.base.predicts(place)
        unproved = provider is not None and provider.unproved
        chosen = other if unproved and self.alternate >= 8 else way
        if provider:
            if way != other:
                if unproved:
                    self.alternate = max(0, min(15, self.alternate + (1 if other == taken else -1)))
                provider.useful = max(0, min(3, provider.useful + (1 if way == taken else -1)))
            provider.counter = max(0, min(7, provider.counter + (1 if taken else -1)))
        else:
            self.base.train(place, taken)
        if chosen != taken and not (unproved and way == taken):
            longer = 0
            for k, table in enumerate(self.tables):
                if provider and table.get(slots[k]) is provider:
                    longer = k + 1
            self.enter(longer, slots, tags, taken)
        return chosen == taken

    def enter(self, longer: int, slots: Sequence[int], tags: Sequence[int], taken: bool) -> None:
        for k in range(longer, 3):
            held = self.tables[k].get(slots[k])
            if held is None or held.useful == 0:
                self.tables[k][slots[k]] = Entry(tags[k], taken)
                return
        for k in range(longer, 3):
            self.tables[k][slots[k]].useful -= 1


class Targets:
    """Targets of indirect branches: the last one, and tables of two lengths of the path."""

    def __init__(self, path: Path, entries: int) -> None:
        self.path, self.entries, self.last = path, entries, dict[int, int]()
        self.tables: list[dict[int, tuple[int, int, bool]]] = [{}, {}]

    def target(self, address: int, target: int) -> bool:
        hashes = [self.path.hashed(length, address) for length in (8, 27)]
        slots = [one * self.entries >> 64 for one in hashes]
        tags = [(one >> 16 & 0xFFFFFFFF) | 0x8000 for one in hashes]
        right = self.last.get(branch_hash(address) % self.entries) == target
        self.last[branch_hash(address) % self.entries] = target
        provider = -1
        for k in (0, 1):
            if self.tables[k].get(slots[k], (0, 0, False))[0] == tags[k]:
                provider = k
        if provider >= 0:
            tag, had, sure = self.tables[provider][slots[provider]]
            right = had == target
            self.tables[provider][slots[provider]] = (tag, had if right or sure else target, right)
        if not right and provider < 1:
            tag, had, sure = self.tables[provider + 1].get(slots[provider + 1], (0, 0, False))
            new = (tag, had, False) if sure else (tags[provider + 1], target, False)
            self.tables[provider + 1][slots[provider + 1]] = new
        return right


def hybrid_figures(**changes: int) -> dict[str, int | str]:
    figures = {name: value for name, value in load("nehalem").items() if name.startswith("predictor.")}
    return {**figures, "predictor.counters": 256, "predictor.shared": 256, "predictor.history": 8, **changes}


def branches(count: int, seed: int) -> Iterator[tuple[int, bool]]:
    """Branches of loops within loops, coins, biased ones, patterns: their addresses, and whether they are taken."""
    random = Random(seed)
    sites = [random.randrange(1 << 47) for _ in range(40)]
    lengths = [random.choice([2, 3, 9, 30, 60, 90]) for _ in sites]
    made = 0
    while made < count:
        site = random.randrange(len(sites))
        for i in range(lengths[site]):
            inner = (site + i % 3) % len(sites)
            yield sites[inner] + 64, {0: random.random() < 0.5, 1: random.random() < 0.1, 2: bool(i & 2)}[inner % 3]
            yield sites[site], i < lengths[site] - 1
            made += 2


@pytest.mark.parametrize("seed", range(3))
def test_hybrid_and_loop_counters_predict_as_a_plain_model(seed: int) -> None:
    predictor, model = IntervalPredictor(hybrid_figures()), Hybrid(256, 256, 8, 128, 64)
    for address, taken in branches(20000, seed):
        assert predictor.direction(address, taken) == model.direction(address, taken)


@pytest.mark.parametrize("seed", range(3))
def test_tage_predicts_directions_as_a_plain_model(seed: int) -> None:
    predictor, model, wrong = IntervalPredictor(TAGE), Tage(TAGE), 0
    for address, taken in branches(20000, seed):
        right = predictor.direction(address, taken)
        assert right == model.direction(address, taken)
        wrong += not right
        if taken:
            predictor.target(BranchKind.DIRECT, address, address + 2, address - 64)
            model.path.take(address, address - 64)
    assert 1000 < wrong < 8000


def test_tage_predicts_indirect_targets_as_a_plain_model() -> None:
    predictor, path, random, wrong = IntervalPredictor(TAGE), Path(), Random(5), 0
    model = Targets(path, int(TAGE["predictor.indirect"]))
    for i in range(6000):
        address = 0x1000 * random.randrange(1, 4)
        target = 0x9000 + 16 * (i // 2 % 5 if random.random() < 0.9 else random.randrange(8))
        verdict = predictor.target(BranchKind.INDIRECT_JUMP, address, address + 2, target)
        right = model.target(address, target)
        assert verdict == (BranchVerdict.FORESEEN if right else BranchVerdict.MISPREDICTED), i
        path.take(address, target)
        wrong += not right
    assert 500 < wrong < 5500


def missed(predictor: IntervalPredictor, pattern: Sequence[bool], times: int, *, in_loop: bool = False) -> int:
    """How many branches of a repeated pattern are mispredicted, after as many repetitions; ``in_loop``: another branch
    is taken behind each."""
    wrong = 0
    for repetition in range(2 * times):
        for taken in pattern:
            right = predictor.direction(0x401000, taken)
            wrong += repetition >= times and not right
            if taken:
                predictor.target(BranchKind.DIRECT, 0x401000, 0x401002, 0x400FF0)
            if in_loop:
                predictor.target(BranchKind.DIRECT, 0x401010, 0x401012, 0x400FE0)
        predictor.direction(0x402000, True)
        predictor.target(BranchKind.DIRECT, 0x402000, 0x402002, 0x400F00)
    return wrong


@pytest.mark.parametrize("kind", ["loop counters", "tage"])
@pytest.mark.parametrize("iterations", [2, 5, 14, 30, 60])
def test_a_loop_that_always_ends_alike_is_predicted(kind: str, iterations: int) -> None:
    """A. Fog: loop counters of six bits; Half&Half: 93 taken branches."""
    predictor = IntervalPredictor(TAGE if kind == "tage" else hybrid_figures())
    assert missed(predictor, [True] * (iterations - 1) + [False], 100) == 0


@pytest.mark.parametrize("kind", ["loop counters", "tage"])
def test_a_loop_longer_than_the_history_is_wrong_once(kind: str) -> None:
    predictor = IntervalPredictor(TAGE if kind == "tage" else hybrid_figures())
    assert missed(predictor, [True] * 199 + [False], 50) in range(45, 56)


@pytest.mark.parametrize("kind", ["hybrid", "tage"])
@pytest.mark.parametrize("pattern", ["01", "0011", "10110010", "1011001011100001"])
def test_patterns_of_up_to_sixteen_are_predicted(kind: str, pattern: str) -> None:
    figures = TAGE if kind == "tage" else hybrid_figures(**{"predictor.shared": 16384, "predictor.history": 14})
    assert missed(IntervalPredictor(figures), [one == "1" for one in pattern], 200, in_loop=True) <= 4


def test_returns_of_sixteen_calls_are_predicted_and_deeper_ones_not() -> None:
    predictor = IntervalPredictor(TAGE)
    wrong = {}
    for depth in (16, 20):
        for _ in range(3):
            for level in range(depth):
                predictor.target(BranchKind.DIRECT_CALL, 0x1000 * level, 0x1000 * level + 5, 0x1000 * level + 0x1000)
            verdicts = [
                predictor.target(BranchKind.RETURN_BRANCH, 0x1000 * level + 0x1080, 0, 0x1000 * level + 5)
                for level in reversed(range(depth))
            ]
            wrong[depth] = sum(one == BranchVerdict.MISPREDICTED for one in verdicts)
    assert wrong == {16: 0, 20: 4}
