"""Last branches and precise loads as fields of perf's samples (Linux, include/uapi/linux/perf_event.h)."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from pfmon.pmu.capture.data_capture import DataCapture
from pfmon.pmu.capture.last_branches import LastBranchStack
from pfmon.pmu.capture.sampled_ops import load_record

BRANCH_STACK, ADDRESS, WEIGHT, DATA_SOURCE = 1 << 11, 1 << 3, 1 << 14, 1 << 15
"""PERF_SAMPLE_BRANCH_STACK, ADDR, WEIGHT, DATA_SRC."""
USER, ANY, CALL_STACK = 1 << 0, 1 << 3, 1 << 11
"""PERF_SAMPLE_BRANCH_USER, ANY, CALL_STACK."""
KINDS = {2: 1 << 10, 3: 1 << 13, 4: 1 << 6, 5: 1 << 5, 6: 1 << 12}
"""Bit of MSR_LBR_SELECT -> PERF_SAMPLE_BRANCH_COND, CALL, IND_CALL, ANY_RETURN, IND_JUMP."""
MISPREDICTED, PREDICTED = 1 << 0, 1 << 1
"""Bits of perf_branch_entry behind its addresses."""
CYCLES_AT = 4
"""Position of its cycles."""

LOAD, HIT = 2, 2 << 5
LOCKED = 2 << 24
SNOOPS = {"": 2 << 19, "hit": 4 << 19, "miss": 8 << 19, "hitm": 16 << 19}
"""mem_snoop of perf_mem_data_src."""
TLB_HIT, TLB_MISS = (2 | 8 | 16) << 26, (4 | 16) << 26
LEVELS = {
    "L1": 8 << 5 | 1 << 33,
    "LFB": 16 << 5 | 12 << 33,
    "L2": 32 << 5 | 2 << 33,
    "L3": 64 << 5 | 3 << 33,
    "RAM": 128 << 5 | 13 << 33,
}
"""mem_lvl and mem_lvl_num of perf_mem_data_src."""
NOT_KNOWN = 1 | 1 << 5 | 1 << 19 | 1 << 24 | 1 << 26
"""PERF_MEM_NA: of a sample that is of no load."""


def branch_type(branches: LastBranchStack) -> int:
    """Return branch_sample_type of perf_event_attr."""
    if branches.has_call_stack:
        return USER | CALL_STACK
    if branches.has_all:
        return USER | ANY
    return USER | sum(kind for bit, kind in KINDS.items() if branches.recorded >> bit & 1)


def branch_stack(branches: LastBranchStack, pmds: Mapping[int, int], predicted: bool) -> bytes:
    """Return the branches of a sample, the latest first; ``predicted``: it is known whether they were mispredicted."""
    entries = branches.entries(pmds)[::-1]
    found = struct.pack("<Q", len(entries))
    for one in entries:
        flags = (MISPREDICTED if one.mispredicted else PREDICTED) * predicted | (one.cycles or 0) << CYCLES_AT
        found += struct.pack("<3Q", one.source, one.target, flags)
    return found


def load_of(pmds: Mapping[int, int]) -> DataCapture:
    """Return the load of a sample, invalid for none."""
    return load_record(pmds).capture(pmds)


def load_source(load: DataCapture, pmds: Mapping[int, int]) -> int:
    """Return perf_mem_data_src of a load."""
    if not load.valid:
        return NOT_KNOWN
    record = load_record(pmds)
    translation = TLB_MISS if record.walked(pmds) else TLB_HIT
    lock = LOCKED if record.locked(pmds) else 0
    return LOAD | HIT | LEVELS[load.level] | SNOOPS[record.snoop(pmds)] | lock | translation
