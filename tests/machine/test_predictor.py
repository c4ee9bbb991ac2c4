"""Branch predictors: published behaviours, a plain model of each, and that every branch is in exactly one class."""

import csv
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pfmon.machine.config import load
from pfmon.machine.occurrences import Occurrence
from pfmon.machine.predictor import BranchPredictor
from pfmon.machine.predictors import PREDICTORS, branch_predictor
from pfmon.signals.machine import meanings, select

COND, CALL, RETURN, INDIRECT, INDIRECT_CALL, CLOOP, WTOP, LONG, LONG_CALL, CTOP = range(10)
SPTK, SPNT, DPTK, DPNT = range(4)
TAKEN, WRONG_PATH, WRONG_TARGET, UNKNOWN = 1, 2, 4, 8
MACHINES = ("itanium", "itanium2", "montecito")


@pytest.fixture(params=MACHINES)
def predictor(request: pytest.FixtureRequest) -> BranchPredictor:
    return branch_predictor(load(request.param))


def mispredictions(predictor: BranchPredictor, outcomes: list[bool], address: int = 0x4002, **branch: int) -> list[int]:
    """Which runs of one branch are mispredicted."""
    wrong = []
    for index, taken in enumerate(outcomes):
        flags, _, _ = predictor.predict(address, taken, 0x4000, **branch)
        if flags & (WRONG_PATH | WRONG_TARGET):
            wrong.append(index)
    return wrong


# Published behaviours.


@pytest.mark.parametrize("kind", [CLOOP, CTOP])
@pytest.mark.parametrize("iterations", [1, 2, 3, 5, 17, 1000])
def test_counted_loop_is_never_mispredicted(predictor: BranchPredictor, kind: int, iterations: int) -> None:
    loop = [True] * (iterations - 1) + [False]
    assert mispredictions(predictor, loop * 3, kind=kind, whether=DPTK) == []


def test_loops_that_are_not_counted_miss_their_end(predictor: BranchPredictor) -> None:
    loop = [True] * 99 + [False]
    wrong = mispredictions(predictor, loop * 5, whether=DPTK)
    assert {99, 199, 299, 399, 499} <= set(wrong)


def test_short_loops_are_learnt_from_four_outcomes(predictor: BranchPredictor) -> None:
    """A history of four bits tells where a loop of four iterations ends."""
    loop = [True, True, True, False]
    assert [run for run in mispredictions(predictor, loop * 50, whether=DPTK) if run >= 40] == []


@pytest.mark.parametrize("pattern", ["1", "0", "10", "110", "1100", "11010"])
def test_periods_of_up_to_five_are_learnt(predictor: BranchPredictor, pattern: str) -> None:
    outcomes = [bit == "1" for bit in pattern] * 60
    assert [run for run in mispredictions(predictor, outcomes) if run >= 50] == []


def test_random_outcomes_are_mispredicted_half_of_the_time(predictor: BranchPredictor) -> None:
    draw = random.Random(5)
    wrong = len(mispredictions(predictor, [draw.random() < 0.5 for _ in range(20000)]))
    assert 0.45 < wrong / 20000 < 0.55


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_constant_outcomes_are_predicted(predictor: BranchPredictor, share: float) -> None:
    assert len(mispredictions(predictor, [share == 1.0] * 1000)) <= 5


def test_biased_outcomes_are_mispredicted_less_than_the_rare_direction_and_half_again(
    predictor: BranchPredictor,
) -> None:
    draw = random.Random(7)
    wrong = len(mispredictions(predictor, [draw.random() < 0.9 for _ in range(20000)]))
    assert 0.08 < wrong / 20000 < 0.15


@pytest.mark.parametrize(
    ("whether", "outcomes", "wrong"),
    [(SPTK, [True, False] * 4, [1, 3, 5, 7]), (SPNT, [True, False] * 4, [0, 2, 4, 6])],
)
def test_static_hints_are_obeyed(
    predictor: BranchPredictor, whether: int, outcomes: list[bool], wrong: list[int]
) -> None:
    assert mispredictions(predictor, outcomes, whether=whether) == wrong


@pytest.mark.parametrize(("whether", "first"), [(DPTK, True), (DPNT, False)])
def test_dynamic_hints_predict_the_first_time(predictor: BranchPredictor, whether: int, first: bool) -> None:
    flags, _, _ = predictor.predict(0x4002, first, 0x4000, whether=whether)
    assert bool(flags & TAKEN) == first
    assert not flags & WRONG_PATH


@pytest.mark.parametrize("depth", [1, 7, 8, 9, 12])
def test_returns_are_predicted_to_the_depth_of_the_stack(predictor: BranchPredictor, depth: int) -> None:
    """Calls from different places: as many returns as the stack has entries (8) go right, the outer ones wrong."""
    for level in range(depth):
        predictor.predict(0x10002 + level * 0x100, True, 0x10000 + (level + 1) * 0x100, kind=CALL, whether=SPTK)
    wrong = 0
    for level in reversed(range(depth)):
        flags, _, _ = predictor.predict(
            0x20002 + level * 0x100, True, 0x10010 + level * 0x100, kind=RETURN, whether=SPTK
        )
        wrong += bool(flags & WRONG_TARGET)
    assert wrong == max(0, depth - 8)


def test_a_return_that_is_not_taken_leaves_the_stack(predictor: BranchPredictor) -> None:
    predictor.predict(0x1002, True, 0x8000, kind=CALL, whether=SPTK)
    predictor.predict(0x8002, False, kind=RETURN, whether=SPTK)
    flags, _, _ = predictor.predict(0x8012, True, 0x1010, kind=RETURN, whether=SPTK)
    assert flags == TAKEN


def test_indirect_branches_go_where_they_went_last(predictor: BranchPredictor) -> None:
    targets = [0x5000, 0x5000, 0x6000, 0x6000, 0x5000]
    flags = [predictor.predict(0x4002, True, target, kind=INDIRECT, whether=SPTK)[0] for target in targets]
    assert [bool(flag & WRONG_TARGET) for flag in flags] == [True, False, True, False, True]


def test_later_branches_of_a_bundle_are_unknown_after_a_wrong_prediction_as_taken(predictor: BranchPredictor) -> None:
    predictor.predict(0x4000, False, relative=0x9000, whether=SPTK, multiway=True)
    first, _, _ = predictor.predict(0x4001, False, relative=0x9000, whether=SPTK, multiway=True)
    second, _, _ = predictor.predict(0x4002, True, 0x9000, whether=SPTK, multiway=True)
    assert first == UNKNOWN
    assert second == UNKNOWN | WRONG_PATH
    other, _, _ = predictor.predict(0x4012, True, 0x9000, whether=SPTK)
    assert other == TAKEN


def test_clear_hint_keeps_nothing(predictor: BranchPredictor) -> None:
    wrong = mispredictions(predictor, [True] * 10, whether=DPNT, clear=True)
    assert wrong == list(range(10))


# Bubbles.


def bubbles(predictor: BranchPredictor, times: int, address: int, target: int, **branch: int) -> list[int]:
    return [predictor.predict(address, True, target, **branch)[1] for _ in range(times)]


def test_itanium2_taken_branch_costs_nothing_once_its_target_is_kept_with_the_line() -> None:
    predictor = branch_predictor(load("itanium2"))
    assert bubbles(predictor, 4, 0x4002, 0x4000, whether=DPTK) == [2, 0, 0, 0]


def test_itanium2_second_taken_branch_of_a_window_comes_late() -> None:
    predictor = branch_predictor(load("itanium2"))
    for _ in range(3):
        first = predictor.predict(0x4002, True, 0x9000, whether=SPTK)[1]
        second = predictor.predict(0x4012, True, 0x9000, whether=SPTK)[1]
    assert (first, second) == (1, 1)


def test_itanium2_line_that_left_l1i_keeps_histories_but_no_target() -> None:
    predictor = branch_predictor(load("itanium2"))
    mispredictions(predictor, [True, False] * 40, whether=DPNT)
    predictor.line_leaves(0x4000, 64)
    flags = [predictor.predict(0x4002, taken, 0x4000, whether=DPNT) for taken in (True, False, True)]
    assert flags == [(TAKEN, 1, 0), (0, 0, 0), (TAKEN, 0, 0)]


def test_itanium2_returns_cost_one_and_indirect_branches_two() -> None:
    predictor = branch_predictor(load("itanium2"))
    predictor.predict(0x1002, True, 0x8000, kind=CALL, whether=SPTK)
    assert predictor.predict(0x8002, True, 0x1010, kind=RETURN, whether=SPTK) == (TAKEN, 1, 0)
    assert bubbles(predictor, 2, 0x4002, 0x5000, kind=INDIRECT, whether=SPTK) == [0, 2]


def test_itanium_bubbles_by_stage() -> None:
    """Stage 3 in slot 2 two cycles, elsewhere three; then the target address cache, one; a target register, none."""
    predictor = branch_predictor(load("itanium"))
    assert bubbles(predictor, 3, 0x4002, 0x3000, whether=DPTK) == [2, 1, 1]
    assert bubbles(predictor, 3, 0x4100, 0x3000, whether=DPTK) == [3, 1, 1]
    predictor.give_hint(0x4200, 0x3000)
    assert bubbles(predictor, 2, 0x4202, 0x3000, whether=DPTK) == [0, 0]


def test_itanium_target_registers_are_four_and_want_importance() -> None:
    predictor = branch_predictor(load("itanium"))
    for index in range(5):
        predictor.give_hint(0x4000 + index * 0x100, 0x3000)
    predictor.give_hint(0x5000, 0x3000, important=False)
    first = [predictor.predict(0x4002 + index * 0x100, True, 0x3000, whether=SPTK)[1] for index in range(5)]
    assert first == [2, 0, 0, 0, 0]
    assert predictor.predict(0x5002, True, 0x3000, whether=SPTK)[1] == 2


def test_itanium_loop_end_costs_two_cycles_if_the_loop_was_running() -> None:
    predictor = branch_predictor(load("itanium"))
    runs = [predictor.predict(0x4002, taken, 0x4000, kind=CLOOP, whether=DPTK) for taken in (True, True, False)]
    assert runs == [(TAKEN, 2, 32), (TAKEN, 1, 0), (0, 2, 32)]


# The same from plain models.


@dataclass
class PlainTwoLevel:
    """Itanium 2, with lists and dictionaries; windows of 32 bytes, as many as L1I has, behind them more of them."""

    history: int = 4
    first: dict[int, list[dict]] = field(default_factory=dict)
    second: dict[int, list[dict]] = field(default_factory=dict)
    counters: dict[int, int] = field(default_factory=dict)
    stack: list[int] = field(default_factory=lambda: [0] * 8)
    forced: int | None = None

    def counter(self, address: int, history: int) -> tuple[int, int]:
        place = (((address // 16) * 3 + address % 16) * 16 + history) % 16384
        known = 3 if history == 15 else 0 if history == 0 else 1 + history % 2
        return place, self.counters.get(place, known)

    def window(self, number: int, make: bool) -> dict | None:
        rows = self.first.setdefault(number % 128, [])
        for row in rows:
            if row["number"] == number:
                rows.remove(row)
                rows.append(row)
                return row
        behind = self.second.setdefault(number % 2048, [])
        found = next((row for row in behind if row["number"] == number), None)
        if found is None and not make:
            return None
        if found:
            behind.remove(found)
            behind.append(found)
        new = {"number": number, "trigger": None, "branches": {}}
        if found:
            new["branches"] = {slot: dict(branch) for slot, branch in found["branches"].items()}
        if len(rows) == 4:
            old = rows.pop(0)
            if old["branches"]:
                place = self.second.setdefault(old["number"] % 2048, [])
                place[:] = [*[row for row in place if row["number"] != old["number"]][-3:], old]
        rows.append(new)
        return new

    def run(self, address: int, taken: bool, target: int, kind: int, whether: int) -> tuple[int, int]:
        number, slot = address // 32, address % 32
        window = self.window(number, make=False)
        branch = window["branches"].get(slot) if window else None
        unknown = self.forced is not None and address // 16 == self.forced // 16 and address > self.forced
        if unknown:
            predicted = False
        elif kind in (CLOOP, CTOP):
            predicted = taken
        elif whether in (SPTK, SPNT):
            predicted = whether == SPTK
        elif branch is None:
            predicted = whether == DPTK
        else:
            predicted = self.counter(address, branch["history"])[1] >= 2
        flags = (TAKEN if predicted else 0) | (UNKNOWN if unknown else 0)
        cost = 0
        if predicted != taken:
            flags |= WRONG_PATH
        elif taken:
            cost = self.target_cost(kind, window, branch, slot)
            known = self.stack[-1] if kind == RETURN else target
            if kind in (INDIRECT, INDIRECT_CALL):
                known = branch and branch["target"]
            if known != target:
                flags |= WRONG_TARGET
                cost = 0
        if taken and kind == RETURN:
            self.stack.insert(0, self.stack.pop())
        elif taken and kind in (CALL, INDIRECT_CALL, LONG_CALL):
            self.stack = [*self.stack[1:], address // 16 * 16 + 16]
        self.learn(number, slot, address, taken, target, kind, whether)
        self.forced = address if (predicted or unknown) and not taken else None
        return flags, cost

    @staticmethod
    def target_cost(kind: int, window: dict | None, branch: dict | None, slot: int) -> int:
        if kind == RETURN:
            return 1
        if kind in (INDIRECT, INDIRECT_CALL):
            return 2
        if branch is None or window is None:
            return 2
        return 0 if window["trigger"] == slot else 1

    def learn(self, number: int, slot: int, address: int, taken: bool, target: int, kind: int, whether: int) -> None:
        window = self.window(number, make=False)
        branch = window["branches"].get(slot) if window else None
        if branch is None:
            if whether == SPNT or (whether == SPTK and (not taken or kind == RETURN)):
                return
            window = window or self.window(number, make=True)
            assert window is not None
            if len(window["branches"]) == 3:
                return
            branch = window["branches"][slot] = {"history": 15 if whether == DPTK else 0, "target": 0}
        assert window is not None
        if taken and kind in (INDIRECT, INDIRECT_CALL):
            branch["target"] = target
        elif taken and kind != RETURN:
            window["trigger"] = slot
        if whether >= DPTK:
            place, value = self.counter(address, branch["history"])
            self.counters[place] = min(3, value + 1) if taken else max(0, value - 1)
            branch["history"] = (branch["history"] * 2 + taken) % 16


STEPS = st.tuples(
    st.integers(0, 5),  # site in a window
    st.integers(0, 11),  # window: 11 of them share a set
    st.booleans(),
    st.integers(0, 2),  # target
)


def site(where: int, window: int) -> tuple[int, int, int, int]:
    """Address, fixed kind, fixed hint and slot of a branch of the test's program."""
    address = 0x10000 + window * 128 * 32 + where // 3 * 16 + where % 3
    draw = random.Random(address)
    return address, draw.choice(range(10)), draw.choice(range(4)), where


@settings(max_examples=200, deadline=None)
@given(st.lists(STEPS, max_size=300))
def test_itanium2_is_as_its_plain_model(steps: list[tuple[int, int, bool, int]]) -> None:
    predictor, plain = branch_predictor(load("itanium2")), PlainTwoLevel()
    for where, window, taken, chosen in steps:
        address, kind, whether, _ = site(where, window)
        target = 0x10000 + 16 * chosen if kind in (RETURN, INDIRECT, INDIRECT_CALL) else 0x9000
        flags, cost, _ = predictor.predict(address, taken, target, kind=kind, whether=whether, relative=0x9000)
        assert (flags, cost) == plain.run(address, taken, target, kind, whether)


def test_itanium2_is_as_its_plain_model_for_long() -> None:
    """Enough branches for both stores to replace windows."""
    draw = random.Random(1)
    predictor, plain = branch_predictor(load("itanium2")), PlainTwoLevel()
    for _ in range(30000):
        address, kind, whether, _ = site(draw.randrange(6), draw.randrange(100))
        taken, target = draw.random() < 0.6, 0x9000
        flags, cost, _ = predictor.predict(address, taken, target, kind=kind, whether=whether, relative=0x9000)
        assert (flags, cost) == plain.run(address, taken, target, kind, whether)


def test_encoded_targets_are_never_wrong(predictor: BranchPredictor) -> None:
    """Whatever a target register or the target cache says of another branch."""
    draw = random.Random(2)
    for _ in range(20000):
        address = 0x10000 + draw.randrange(300) * 16 + draw.randrange(3)
        if draw.random() < 0.1:
            predictor.give_hint(address, draw.randrange(4) * 16)
        kind = draw.choice([COND, CALL, CLOOP, WTOP, LONG, LONG_CALL, CTOP])
        target = address // 64 * 16 + address % 4 * 256
        flags, _, code = predictor.predict(
            address, draw.random() < 0.5, target, kind=kind, whether=draw.randrange(4), relative=target
        )
        assert not flags & WRONG_TARGET and not code & 2


# Classes of events.


def outcomes() -> Iterator[tuple[int, bool, int]]:
    """Every kind, direction and code that a predictor gives."""
    for kind in range(10):
        for taken in (False, True):
            for code in range(48):
                wrong_path, wrong_target, unknown = bool(code & 1), bool(code & 2), bool(code & 4)
                if wrong_target and (
                    wrong_path or unknown or not taken or kind not in (RETURN, INDIRECT, INDIRECT_CALL)
                ):
                    continue
                if (unknown and wrong_path != taken) or code & 48 == 48:
                    continue
                yield kind, taken, code


@cache
def members(signal: str) -> frozenset[int]:
    if meanings()[signal].kind == "never":
        return frozenset()
    return select(signal, {name: int(number) for name, number in Occurrence.__members__.items()})


def value(name: str, seen: dict[Occurrence, int]) -> int:
    return sum(seen.get(Occurrence(number), 0) for number in members(name))


KINDS = {
    "iprel": {COND, CALL, CLOOP, WTOP, LONG, LONG_CALL, CTOP},
    "return": {RETURN},
    "nretind": {INDIRECT, INDIRECT_CALL},
}
FAMILIES = {
    "br_mispred_detail.{}_": ("correct_pred", "wrong_path", "wrong_target"),
    "br_path_pred.{}_": ("mispred_nottaken", "mispred_taken", "okpred_nottaken", "okpred_taken"),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_branch_is_in_exactly_one_class_of_its_kind_and_of_all(family: str) -> None:
    predictor = branch_predictor(load("itanium2"))
    for kind, taken, code in outcomes():
        seen = predictor.occurrences(taken, code, kind=kind)
        for name, kinds in [*KINDS.items(), ("all", set(range(10)))]:
            counts = [value(family.format(name) + part, seen) for part in FAMILIES[family]]
            assert sum(counts) == (kind in kinds)
        if code & 3:
            assert value("br_mispred_detail.all_correct_pred", seen) == 0
            assert value("be_br_mispred.any", seen) == 1


def test_unknown_classes_are_subsets_that_can_be_subtracted() -> None:
    """The manual (4.7) gets the true counts by subtracting the second event from the first."""
    predictor = branch_predictor(load("itanium2"))
    pairs = {
        "br_mispred_detail2.all_unknown_path_correct_pred": "br_mispred_detail.all_correct_pred",
        "br_mispred_detail2.all_unknown_path_wrong_path": "br_mispred_detail.all_wrong_path",
        "br_path_pred2.all_unknownpred_nottaken": "br_path_pred.all_okpred_nottaken",
        "br_path_pred2.all_unknownpred_taken": "br_path_pred.all_mispred_taken",
    }
    for kind, taken, code in outcomes():
        seen = predictor.occurrences(taken, code, kind=kind)
        for part, whole in pairs.items():
            assert value(part, seen) <= value(whole, seen)
        assert value("br_mispred_detail2.all_all_unknown_pred", seen) == bool(code & 4)


def test_itanium_branches_are_in_one_stage_and_multiway_ones_in_one_class() -> None:
    predictor = branch_predictor(load("itanium"))
    stages = ("1st_stage", "2nd_stage", "3rd_stage")
    for kind, taken, code in outcomes():
        seen = predictor.occurrences(taken, code, kind=kind, multiway=True)
        wanted = 0 if code & 16 else 2 if code & 32 else 1
        assert [value(f"branch_predictor.{name}_all_predictions", seen) for name in stages] == [
            int(stage == wanted) for stage in range(3)
        ]
        parts = ("correct_predictions", "wrong_path", "wrong_target")
        assert sum(value(f"branch_predictor.all_{part}", seen) for part in parts) == 1
        direction = "tk" if taken else "nt"
        right = value(f"branch_path.all.{direction}.correct", seen)
        assert right + value(f"branch_path.all.{direction}.wrong", seen) == 1
        assert right == (not code & 1)
        assert (
            sum(value(f"branches.multiway.all.{part}", seen) for part in ("correct", "wrong_path", "wrong_target")) == 1
        )
        assert (
            sum(
                value(f"branches.multiway.{'taken' if taken else 'nottaken'}.{part}", seen)
                for part in ("correct", "wrong_path", "wrong_target")
            )
            == 1
        )


def test_fourth_branch_of_a_window_is_oversubscribed() -> None:
    predictor = branch_predictor(load("itanium2"))
    codes = {}
    for _ in range(3):
        for where in range(5):
            address = 0x4000 + where // 3 * 16 + where % 3
            codes[where] = predictor.predict(address, False, relative=0x9000, whether=DPNT)[2]
    assert [codes[where] for where in range(5)] == [0, 0, 0, 8, 8]
    seen = predictor.occurrences(False, 8)
    assert value("encbr_mispred_detail.oversub_all_pred", seen) == 1
    assert value("encbr_mispred_detail.all_all_pred", seen) == 1


def test_back_end_details_by_kind() -> None:
    predictor = branch_predictor(load("itanium2"))
    details = {"pfs": (RETURN, True, 2), "rot": (CTOP, False, 1), "stg": (WTOP, False, 1)}
    for name, (kind, taken, code) in details.items():
        seen = predictor.occurrences(taken, code, kind=kind)
        assert {other: value(f"be_br_mispred.{other}", seen) for other in details} == {
            other: int(other == name) for other in details
        }


def test_every_kind_of_predictor_is_a_policy_of_the_machine_files() -> None:
    legal = resources.files("pfmon.machine").joinpath("configs/figures.csv").read_text()
    row = next(
        row for row in csv.DictReader(legal.splitlines()) if row["tables"] == "predictor" and row["key"] == "kind"
    )
    assert set(row["legal"].split()) == set(PREDICTORS)
