"""Itanium's predictor against a plain model, with lists and dictionaries, on random branches and hints."""

import random

import pytest
from branches import DPTK, INDIRECT, INDIRECT_CALL, RETURN, SPNT, SPTK, TAKEN, UNKNOWN, WRONG_PATH, WRONG_TARGET

from pfmon.machine._machine import branch_predictor
from pfmon.machine.config.machine_config import load

CALLS, COUNTED, INDIRECT_KINDS = (1, 4, 8), (5, 9), (INDIRECT, INDIRECT_CALL)
FIRST_STAGE, THIRD_STAGE = 16, 32


class Sets:
    """A table of sets, the least recently used entry of which makes room."""

    def __init__(self, entries: int, ways: int) -> None:
        self.sets = [dict[int, list[int]]() for _ in range(entries // ways)]
        self.ways = ways

    def get(self, bundle: int, key: int) -> list[int] | None:
        entries = self.sets[bundle % len(self.sets)]
        if key in entries:
            entries[key] = entries.pop(key)
        return entries.get(key)

    def put(self, bundle: int, key: int, value: list[int]) -> list[int]:
        entries = self.sets[bundle % len(self.sets)]
        if len(entries) == self.ways:
            entries.pop(next(iter(entries)))
        entries[key] = value
        return value


class Plain:
    """512 histories in 128 sets, 64 of bundles with several branches, 64 targets, 4 registers, 8 returns."""

    def __init__(self) -> None:
        self.single, self.several, self.targets = Sets(512, 4), Sets(64, 4), Sets(64, 4)
        self.counters: dict[tuple[bool, int, int, int], int] = {}
        self.registers: list[tuple[int, int]] = []
        self.stack = [0] * 8
        self.forced = -1

    def hint(self, address: int, target: int) -> None:
        bundle = address // 16
        for index, (known, _) in enumerate(self.registers):
            if known == bundle:
                self.registers[index] = (bundle, target)
                return
        self.registers = [*self.registers, (bundle, target)][-4:]

    def counter(self, several: bool, bundle: int, slot: int, history: int) -> tuple[tuple[bool, int, int, int], int]:
        sets = len((self.several if several else self.single).sets)
        place = (several, bundle % sets, slot if several else 0, history)
        fresh = 3 if history == 15 else 0 if history == 0 else 1 + history % 2
        return place, self.counters.get(place, fresh)

    def run(
        self, address: int, taken: bool, target: int, encoded: int, kind: int, whether: int, several: bool
    ) -> tuple[int, int, int]:
        bundle, slot = address // 16, address % 16
        table = self.several if several else self.single
        dynamic = whether >= DPTK and kind not in COUNTED
        entry = table.get(bundle, bundle) if dynamic else None
        cached = self.targets.get(bundle, address)
        register = next((known for place, known in self.registers if place == bundle), None)
        if register is not None and kind != RETURN and kind not in INDIRECT_KINDS and register != encoded:
            register = None
        unknown = self.forced // 16 == bundle and address > self.forced
        code = cost = 0
        if unknown:
            predicted = False
        elif kind in COUNTED:
            predicted = taken
            if not taken:
                code, cost = THIRD_STAGE, 2 if register is not None or cached else 0
        elif register is not None:
            predicted = True
        elif entry is not None:
            predicted = self.counter(several, bundle, slot, entry[slot])[1] >= 2
        else:
            predicted = whether in (SPTK, DPTK)
            code = 0 if predicted else THIRD_STAGE
        known: int | None = None
        if predicted:
            known, cost, stage = self.place(kind, register, cached, encoded, slot)
            code |= stage
        if taken and kind == RETURN:
            top = self.stack[-1]
            self.stack.insert(0, self.stack.pop())
            if not (predicted and register is not None):
                known = top
        elif taken and kind in CALLS:
            self.stack = [*self.stack[1:], bundle * 16 + 16]
        flags = (TAKEN if predicted else 0) | (UNKNOWN if unknown else 0)
        code |= 4 if unknown else 0
        if predicted != taken:
            flags, code, cost = flags | WRONG_PATH, code | 1, 0
        elif taken and known != target:
            flags, code, cost = flags | WRONG_TARGET, code | 2, 0
        self.learn(table, bundle, address, taken, target, kind, whether, several)
        self.forced = address if (predicted or unknown) and not taken else -1
        return flags, cost, code

    @staticmethod
    def place(
        kind: int, register: int | None, cached: list[int] | None, encoded: int, slot: int
    ) -> tuple[int | None, int, int]:
        """Where a branch that is predicted as taken is thought to go, the bubbles, the stage's code."""
        if register is not None:
            return register, 0, FIRST_STAGE
        if kind == RETURN:
            return None, 1, 0
        if cached is not None:
            return cached[0], 1, 0
        return (None if kind in INDIRECT_KINDS else encoded), 2 if slot == 2 else 3, THIRD_STAGE

    def learn(
        self, table: Sets, bundle: int, address: int, taken: bool, target: int, kind: int, whether: int, several: bool
    ) -> None:
        if whether == SPNT:
            return
        if taken and kind != RETURN:
            cached = self.targets.get(bundle, address)
            if cached is None:
                self.targets.put(bundle, address, [target])
            else:
                cached[0] = target
        if whether == SPTK or kind in COUNTED:
            return
        slot = address % 16
        entry = table.get(bundle, bundle) or table.put(bundle, bundle, [15 if whether == DPTK else 0] * 3)
        place, value = self.counter(several, bundle, slot, entry[slot])
        self.counters[place] = min(3, value + 1) if taken else max(0, value - 1)
        entry[slot] = (entry[slot] * 2 + taken) % 16


@pytest.mark.slow
@pytest.mark.parametrize(("bundles", "stride"), [(3, 16), (40, 16), (60, 2048), (400, 48)])
def test_itanium_is_as_its_plain_model(bundles: int, stride: int) -> None:
    """Few branches and many, in few sets and many; a third of the bundles has several branches."""
    draw = random.Random(bundles)
    predictor, plain = branch_predictor(load("itanium")), Plain()
    seen = set()
    for _ in range(12000):
        bundle = draw.randrange(bundles)
        fixed = random.Random(bundle)
        several = fixed.random() < 0.33
        slot = draw.randrange(3) if several else fixed.randrange(3)
        address = 0x10000 + bundle * stride + slot
        fixed.seed(address)
        kind, whether, encoded = fixed.randrange(10), fixed.randrange(4), 0x8000 + fixed.randrange(4) * 16
        if draw.random() < 0.03:
            target = draw.choice([encoded, 0x9000])
            predictor.predict_target(address, target)
            plain.hint(address, target)
        taken = draw.random() < 0.6
        free = kind == RETURN or kind in INDIRECT_KINDS
        target = draw.choice([0x10010, 0x9000, encoded]) if free else encoded
        found = predictor.predict(
            address, taken, target, kind=kind, whether=whether, relative=encoded, multiway=several
        )
        assert found == plain.run(address, taken, target, encoded, kind, whether, several)
        seen.add(found[2])
    assert {0, 1, 2, FIRST_STAGE, THIRD_STAGE} <= seen
