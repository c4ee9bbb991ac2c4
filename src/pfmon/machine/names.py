"""The machines by name, known without reading any."""

from __future__ import annotations

ITANIUMS = ("itanium", "itanium2", "montecito")
"""The in-order machines, which run IA-64 programs."""

FILES = (*ITANIUMS, "core2", "nehalem", "ppc604e")
"""The machines that come with the program: configs/NAME.toml."""

HOST = "host"
"""The machine whose caches are those of the processor that pfmon runs on."""

OF_PMU = {
    "itanium": "itanium",
    "itanium2": "itanium2",
    "montecito": "montecito",
    "intel_v1": "core2",
    "intel_v2": "core2",
    "ibm1994": "ppc604e",
    "ppc604e": "ppc604e",
}
"""PMU -> the machine that a program runs on if nobody says which."""
