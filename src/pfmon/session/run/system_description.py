"""The modelled processor as its firmware describes it to a system, by the machine's figures and the PMU's registers."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pfmon.engine.system_settings import (
    NO_PMU,
    CacheDescription,
    PmuDescription,
    ProcessorDescription,
    TlbDescription,
)
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.registers.pal import PerfMonInfo, perf_mon_info

CACHES = (
    ("l1i", 0, "instruction"),
    ("l1d", 0, "data"),
    ("l2i", 1, "instruction"),
    ("l2d", 1, "data"),
    ("l2", 1, "unified"),
    ("l3", 2, "unified"),
)
TLBS = (("itlb1", 0, "instruction"), ("dtlb1", 0, "data"), ("itlb2", 1, "instruction"), ("dtlb2", 1, "data"))
"""Tables of figures, with the place in the hierarchy; a machine has some of them."""
WRITTEN_THROUGH = ("l1i", "l1d")
"""On all Itaniums (Montecito manual, 2.3.3.1); the others write back."""
REGISTER = re.compile(r"(pmc|pmd)(\d+)")


def described(figures: MachineFigures, model: PmuModel, has_pmu: bool) -> ProcessorDescription:
    """Return the description; ``has_pmu``: the system may program the PMU."""

    def number(name: str) -> int:
        return int(figures[name])

    return ProcessorDescription(
        brand=str(figures["machine.name"]),
        frequency=number("machine.frequency"),
        bus_frequency=number("bus.frequency"),
        caches=tuple(
            CacheDescription(
                *(level, kind, number(f"{name}.size"), number(f"{name}.line"), number(f"{name}.ways")),
                latency=number(f"{name}.latency"),
                write_back=name not in WRITTEN_THROUGH,
            )
            for name, level, kind in CACHES
            if f"{name}.size" in figures
        ),
        tlbs=tuple(
            TlbDescription(level, kind, number(f"{name}.entries"), number(f"{name}.ways"))
            for name, level, kind in TLBS
            if f"{name}.entries" in figures
        ),
        shares_core=model.target.threads > 1,
        pmu=pmu_described(model) if has_pmu else NO_PMU,
    )


def pmu_described(model: PmuModel) -> PmuDescription:
    """Return what PAL_PERF_MON_INFO says of the modelled registers, all of them: Montecito's manual has a table
    (3-34) of fewer. The events of cycles and of instructions are counted by the counters that their rows name."""
    documented = perf_mon_info(model.name)
    cycles, instructions = (model.events[name].counters for name in model.target.default_events)
    numbers = [(kind, int(number)) for kind, number in map(_numbered, model.registers) if kind]
    info = PerfMonInfo(
        documented.retired,
        documented.cycles,
        model.target.width,
        len(model.target.counters),
        _mask(number for kind, number in numbers if kind == "pmc"),
        _mask(number for kind, number in numbers if kind == "pmd"),
        _mask(cycles),
        _mask(instructions),
    )
    return PmuDescription(info.pm_info, info.buffer)


def _numbered(name: str) -> tuple[str, str]:
    found = REGISTER.fullmatch(name)
    return (found[1], found[2]) if found else ("", "")


def _mask(numbers: Iterable[int]) -> int:
    return sum(1 << number for number in numbers)
