"""The branch predictors, by the name in a machine's ``predictor.kind``."""

PREDICTORS = {"itanium": MercedPredictor, "itanium2": TwoLevelPredictor}


cpdef BranchPredictor branch_predictor(config):
    """The predictor of a machine; the loader has checked the name."""
    return PREDICTORS[str(config["predictor.kind"])](config)
