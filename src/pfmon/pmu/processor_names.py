"""The names by which --pmu takes a processor: those of the PMUs, and of the machines that have one of Intel's
architectural PMUs, which several processors share."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.pmu.targets import names

MACHINES = {"core2": "intel_v2", "nehalem": "intel_v2"}
"""Machine -> its PMU (machine.pmu of its file)."""


def processor_names(pmus: Sequence[str] = ()) -> list[str]:
    """Return the names that --pmu takes, of all PMUs or of some: instead of a PMU that machines stand for, these."""
    found: list[str] = []
    for name in pmus or names():
        found += [machine for machine, pmu in MACHINES.items() if pmu == name] or [name]
    return found


def shown_name(pmu: str, machine: str = "") -> str:
    """Return what a PMU is called: by the machine if that stands for it, or by the first one that does."""
    of_pmu = [name for name, own in MACHINES.items() if own == pmu]
    return machine if machine in of_pmu else of_pmu[0] if of_pmu else pmu
