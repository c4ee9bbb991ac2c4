"""Catalog of the machines by name, without reading their files."""

from __future__ import annotations

ITANIUMS = ("itanium", "itanium2", "montecito")
"""The in-order machines, which run IA-64 programs."""

FILES = (*ITANIUMS, "core2", "nehalem", "ppc604e", "itanium_ia32", "itanium2_ia32")
"""The prebuilt machines: NAME.toml."""

IN_ORDER, OUT_OF_ORDER = "in_order", "out_of_order"
"""The kinds of cores (``machine.core``): the Itaniums', and others' (docs/dev/machines.md)."""

HOST = "host"
"""The machine with the caches of the host's processor."""

OF_PMU = {
    "itanium": "itanium",
    "itanium2": "itanium2",
    "montecito": "montecito",
    "intel_v1": "core2",
    "intel_v2": "core2",
    "ibm1994": "ppc604e",
    "ppc604e": "ppc604e",
}
"""PMU -> its default machine."""

OF_IA32 = {"itanium": "itanium_ia32", "itanium2": "itanium2_ia32"}
"""PMU of an Itanium -> the default machine of IA-32 programs."""


def default_machine(pmu: str, ia32: bool = False) -> str:
    """The machine of a PMU; ``ia32``: for IA-32 code on an Itanium."""
    return OF_IA32[pmu] if ia32 else OF_PMU[pmu]
