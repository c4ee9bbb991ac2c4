"""Register-accurate models of performance-monitoring units.

`pfmon.pmu("montecito")` and `pfmon.pmu.get("montecito")` return the model of a processor's PMU: its `events`,
`registers`, `register_file()` and `program(...)`.

>>> import pfmon.pmu
>>> pfmon.pmu("montecito").events["loads_retired"].set
'L1D:3'
"""

from __future__ import annotations

import sys
from types import ModuleType

from pfmon.pmu.model.pmu_model import IA64, PmuModel, get, names
from pfmon.pmu.model.programming import Monitor, Programming
from pfmon.pmu.model.request import EventRequest

__all__ = ["IA64", "EventRequest", "Monitor", "PmuModel", "Programming", "get", "names"]


class _CallableModule(ModuleType):
    """Makes the package callable: `pfmon.pmu(name)`."""

    def __call__(self, name: str) -> PmuModel:
        return get(name)


sys.modules[__name__].__class__ = _CallableModule
