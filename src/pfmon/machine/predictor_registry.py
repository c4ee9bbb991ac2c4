"""The branch predictors, by the name in a machine's ``predictor.kind``."""

from __future__ import annotations

from collections.abc import Mapping

from pfmon.machine.predictor import BranchPredictor
from pfmon.machine.predictor_merced import MercedPredictor
from pfmon.machine.predictor_two_level import TwoLevelPredictor

PREDICTORS: dict[str, type[BranchPredictor]] = {"itanium": MercedPredictor, "itanium2": TwoLevelPredictor}


def branch_predictor(config: Mapping[str, int | bool | str]) -> BranchPredictor:
    """The predictor of a machine; the loader has checked the name."""
    return PREDICTORS[str(config["predictor.kind"])](config)
