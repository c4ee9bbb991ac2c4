"""Precise loads of Intel's processors: a load's address, latency and source in the record of a precise sample (PEBS
load latency; Intel SDM volume 3, sections 18.8.1.1 and 18.8.1.2)."""

from __future__ import annotations

from collections.abc import Mapping

from pfmon.pmu.capture.data_capture import DataCapture, DataCaptured
from pfmon.pmu.target import PEBS_DATA_ADDRESS, PEBS_DATA_SOURCE, PEBS_EVENTING_IP, PEBS_LATENCY, PEBS_RECORD

LEVELS = {1: "L1", 2: "LFB", 3: "L2", 4: "L3", 5: "L3", 6: "L3", 7: "L3", 12: "RAM"}
"""Data source encoding -> what served the load, by perf's words (perf mem): LFB is a line fill buffer, which another
miss of the line had. capture_listener.pxd has these numbers as LoadSource."""
SNOOPS = {5: "miss", 6: "hit", 7: "hitm"}
"""Data source encoding -> what another core answered that was asked for the line, by perf's words."""
SOURCE = 0b1111
"""Bits of the encoding; above it are:"""
STLB_MISS, LOCKED = 1 << 4, 1 << 5


class PreciseLoads:
    """The fields of a record that are about a load."""

    mode = "precise"
    registers: tuple[int, ...] = PEBS_RECORD
    levels = tuple(dict.fromkeys(LEVELS.values()))

    @staticmethod
    def capture(pmds: Mapping[int, int]) -> DataCapture:
        """Decode the fields."""
        source = pmds.get(PEBS_DATA_SOURCE, 0) & SOURCE
        if not source:
            return DataCapture(False, None, None, None, False, "")
        level = LEVELS[source]
        instruction, address = pmds[PEBS_EVENTING_IP], pmds[PEBS_DATA_ADDRESS]
        return DataCapture(True, address, instruction, pmds[PEBS_LATENCY], False, level)

    @staticmethod
    def walked(pmds: Mapping[int, int]) -> bool:
        """Return whether the load's translation missed every TLB."""
        return bool(pmds.get(PEBS_DATA_SOURCE, 0) & STLB_MISS)

    @staticmethod
    def snoop(pmds: Mapping[int, int]) -> str:
        """Return what another core answered that was asked for the line: miss, hit (it has it unmodified), hitm (it had
        modified it); "": none was asked."""
        return SNOOPS.get(pmds.get(PEBS_DATA_SOURCE, 0) & SOURCE, "")

    @staticmethod
    def locked(pmds: Mapping[int, int]) -> bool:
        """Return whether the access was locked."""
        return bool(pmds.get(PEBS_DATA_SOURCE, 0) & LOCKED)


def precise_load_values(captured: DataCaptured | None) -> dict[int, int]:
    """Encode a captured load; None: zeros."""
    if captured is None:
        return dict.fromkeys(PEBS_RECORD, 0)
    instruction, _, address, latency, source = captured
    return {
        PEBS_DATA_ADDRESS: address,
        PEBS_DATA_SOURCE: source,
        PEBS_LATENCY: latency,
        PEBS_EVENTING_IP: instruction or 0,
    }
