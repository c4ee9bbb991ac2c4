"""Branch predictors: published behaviours, and Itanium 2's against a plain model."""

import random

import pytest
from branches import (
    CALL,
    CLOOP,
    COND,
    CTOP,
    DPNT,
    DPTK,
    INDIRECT,
    INDIRECT_CALL,
    LONG,
    LONG_CALL,
    RETURN,
    SPNT,
    SPTK,
    TAKEN,
    UNKNOWN,
    WRONG_PATH,
    WRONG_TARGET,
    WTOP,
)
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from plain_two_level import PlainTwoLevel

from pfmon.machine._machine import BranchPredictor, branch_predictor
from pfmon.machine.config.machine_config import load

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


def test_itanium_indirect_branches_go_where_they_went_last() -> None:
    predictor = branch_predictor(load("itanium"))
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
    predictor.evict_line(0x4000, 64)
    flags = [predictor.predict(0x4002, taken, 0x4000, whether=DPNT) for taken in (True, False, True)]
    assert flags == [(TAKEN, 1, 0), (0, 0, 0), (TAKEN, 0, 0)]


def test_itanium2_returns_cost_one_and_indirect_branches_two() -> None:
    predictor = branch_predictor(load("itanium2"))
    predictor.predict(0x1002, True, 0x8000, kind=CALL, whether=SPTK)
    assert predictor.predict(0x8002, True, 0x1010, kind=RETURN, whether=SPTK) == (TAKEN, 1, 0)
    assert bubbles(predictor, 2, 0x4002, 0x5000, kind=INDIRECT, whether=SPTK) == [2, 2]


def test_itanium_bubbles_by_stage() -> None:
    """Stage 3 in slot 2 two cycles, elsewhere three; then the target address cache, one; a target register, none."""
    predictor = branch_predictor(load("itanium"))
    assert bubbles(predictor, 3, 0x4002, 0x3000, whether=DPTK) == [2, 1, 1]
    assert bubbles(predictor, 3, 0x4100, 0x3000, whether=DPTK) == [3, 1, 1]
    predictor.predict_target(0x4200, 0x3000)
    assert bubbles(predictor, 2, 0x4202, 0x3000, whether=DPTK) == [0, 0]


def test_itanium_target_registers_are_four_and_want_importance() -> None:
    predictor = branch_predictor(load("itanium"))
    for index in range(5):
        predictor.predict_target(0x4000 + index * 0x100, 0x3000)
    predictor.predict_target(0x5000, 0x3000, important=False)
    first = [predictor.predict(0x4002 + index * 0x100, True, 0x3000, whether=SPTK)[1] for index in range(5)]
    assert first == [2, 0, 0, 0, 0]
    assert predictor.predict(0x5002, True, 0x3000, whether=SPTK)[1] == 2


def test_itanium_loop_end_costs_two_cycles_if_the_loop_was_running() -> None:
    predictor = branch_predictor(load("itanium"))
    runs = [predictor.predict(0x4002, taken, 0x4000, kind=CLOOP, whether=DPTK) for taken in (True, True, False)]
    assert runs == [(TAKEN, 2, 32), (TAKEN, 1, 0), (0, 2, 32)]


# The same from plain models.


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


@pytest.mark.slow
@examples(200)
@given(st.lists(STEPS, max_size=300))
def test_itanium2_is_as_its_plain_model(steps: list[tuple[int, int, bool, int]]) -> None:
    predictor, plain = branch_predictor(load("itanium2")), PlainTwoLevel()
    for where, window, taken, chosen in steps:
        address, kind, whether, _ = site(where, window)
        target = 0x10000 + 16 * chosen if kind in (RETURN, INDIRECT, INDIRECT_CALL) else 0x9000
        flags, cost, _ = predictor.predict(address, taken, target, kind=kind, whether=whether, relative=0x9000)
        assert (flags, cost) == plain.run(address, taken, target, kind, whether)


@pytest.mark.slow
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
            predictor.predict_target(address, draw.randrange(4) * 16)
        kind = draw.choice([COND, CALL, CLOOP, WTOP, LONG, LONG_CALL, CTOP])
        target = address // 64 * 16 + address % 4 * 256
        flags, _, code = predictor.predict(
            address, draw.random() < 0.5, target, kind=kind, whether=draw.randrange(4), relative=target
        )
        assert not flags & WRONG_TARGET and not code & 2
