from collections.abc import Mapping

from pfmon.machine.coupled_machines import CoupledMachines
from pfmon.machine.machine_figures import Value

class FrontSideBus:
    """State of a bus shared by several cores."""

    def __init__(self, config: Mapping[str, Value]) -> None: ...

class Arbiter(CoupledMachines):
    """Arbitration of two cores on one bus."""

    def begin_with_one(self) -> None: ...
