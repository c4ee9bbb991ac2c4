from collections.abc import Sequence

from pfmon.machine.machine import Machine
from pfmon.stream.consumer import Consumer
from pfmon.stream.ring import Ring

class CoupledMachines:
    """Two coupled machines."""

    def run(self, threads: Sequence[Machine], readers: Sequence[Consumer], rings: Sequence[Ring]) -> None: ...
