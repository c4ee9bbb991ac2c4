"""Every branch is in exactly one class of each prediction event."""

import csv
from collections.abc import Iterator
from functools import cache
from importlib import resources

import pytest
from branches import CALL, CLOOP, COND, CTOP, DPNT, INDIRECT, INDIRECT_CALL, LONG, LONG_CALL, RETURN, WTOP

from pfmon.machine._machine import PREDICTORS, Occurrence, branch_predictor
from pfmon.machine.config.machine_config import load
from pfmon.signals.machine_signals import meanings, select


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
    legal = resources.files("pfmon.machine.config").joinpath("figures.csv").read_text()
    row = next(
        row for row in csv.DictReader(legal.splitlines()) if row["tables"] == "predictor" and row["key"] == "kind"
    )
    assert set(row["legal"].split()) == set(PREDICTORS)
