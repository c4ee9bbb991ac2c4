"""pfmon: a performance-monitoring unit in software.

>>> import pfmon
>>> pfmon.pmu("montecito").events["LOADS_RETIRED"].set
'L1D:3'
"""

from importlib import import_module
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """`pfmon.pmu` without an import of its own, loaded when it is first used."""
    if name == "pmu":
        return import_module("pfmon.pmu")
    raise AttributeError(f"module 'pfmon' has no attribute {name!r}")
