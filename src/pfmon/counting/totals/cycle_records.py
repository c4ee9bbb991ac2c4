"""Architectural signals cycle by cycle: what a cycle adds that the kinds of its instructions do not say.

Thresholds and limits of an event need it: loads of the register stack engine, checks that failed, marks.
"""

from __future__ import annotations

from pfmon.signals import machine_signals

READS, WRITES, FLOAT_READS = "L1D_READ", "L2_DATA_WRITE", "L2_DATA_READ"
MOVED = {
    "loads_retired": (READS,),
    "stores_retired": (WRITES,),
    "data_references": (READS, WRITES),
    "data_debug_register_matches": (READS, WRITES),
    "rse_references.all": (READS, WRITES),
    "rse_references.load": (READS,),
    "rse_references.store": (WRITES,),
}
"""Signals that count registers moved by the register stack engine, and the machine's record of each."""

FAILED_CHECKS = {"loads_retired": (READS, FLOAT_READS), "loads_retired.integer": (READS,)}
"""Signals that count check loads, and the occurrence of a failed one; a check that hits the ALAT causes none."""

FAILED_CHECK, FAILED_FLOAT_CHECK = "CHECK_FAILED", "FLOAT_CHECK_FAILED"
MARKED = {
    "inst_failed_chka_ldc.all": (FAILED_CHECK, FAILED_FLOAT_CHECK),
    "inst_failed_chka_ldc.int": (FAILED_CHECK,),
    "inst_failed_chka_ldc.fp": (FAILED_FLOAT_CHECK,),
    "fp_flush_to_zero.real": ("TINY_FLUSHED",),
    "fp_flush_to_zero.possible": ("TINY_FLUSHED", "TINY_KEPT"),
}
"""Signals that count marks of instructions, and the machine's record of each in the cycle in which it issues."""


def requires_timing_model(signal: str, threshold: int) -> bool:
    """Whether a signal is not decided by architecture alone."""
    if threshold:
        return True
    meaning = machine_signals.meanings().get(signal)
    return meaning is not None and meaning.kind != "never"
