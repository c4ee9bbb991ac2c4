"""Kinds of branches, hints and flags of predictions by number (machine/inorder/branch/predictor.pxd)."""

COND, CALL, RETURN, INDIRECT, INDIRECT_CALL, CLOOP, WTOP, LONG, LONG_CALL, CTOP = range(10)
SPTK, SPNT, DPTK, DPNT = range(4)
TAKEN, WRONG_PATH, WRONG_TARGET, UNKNOWN = 1, 2, 4, 8
