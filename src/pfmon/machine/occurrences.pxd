"""What can happen to an instruction in the machine besides retiring: the raw material of the PMU's events.

Signals are sums of these (signals/machine.csv). Each section belongs to the mechanism that notes it.
"""

cpdef enum Occurrence:
    NOTHING_HAPPENED = 0
    # L1D and data TLBs (data.pyx)
    DATA_OCCURRENCES
    # L2, L3, bus (lower.pyx)
    LOWER_OCCURRENCES
    # instruction fetch (fetch.pyx)
    FETCH_OCCURRENCES
    # branch prediction (predictor.pyx)
    BRANCH_OCCURRENCES
    # dispersal and pipeline (pipeline.pyx)
    PIPELINE_OCCURRENCES
    OCCURRENCES
