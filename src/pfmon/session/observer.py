"""A run for a report on the whole machine, without a PMU."""

from __future__ import annotations

from pfmon.counting.tally import Tally
from pfmon.session.counting import Seen
from pfmon.session.cpi import breakdown
from pfmon.session.machine_run import MachineRun
from pfmon.session.monitoring import nothing_is_lost

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.engine.api import Engine
    from pfmon.machine.machine_figures import MachineFigures
    from pfmon.program.objects import Objects
    from pfmon.session.core import Seat
    from pfmon.session.cpi import Cpi
    from pfmon.session.plan import Plan


class Observer:
    """A run on a machine without a PMU, for a report on the whole machine."""

    def __init__(
        self, figures: MachineFigures, engine: Engine, threaded: bool = True, seat: Seat | None = None
    ) -> None:
        self._figures, self._engine = figures, engine
        self._tally = Tally(engine.table, traced=True)
        self.running = MachineRun(figures, engine.table, threaded=threaded and not engine.capabilities.apart, seat=seat)
        self.running.forget_levels()
        self.consumer = self.running.feed(beside=self._tally)

    def breakdown(self, plan: Plan, objects: Objects) -> Cpi:
        """Return the cycle breakdown; ``objects``: the object files of the code."""
        nothing_is_lost([self._engine.table.failure, self._tally.failure, *self.running.failures])
        seen = Seen(self._engine.table, self._tally, self.running.records())
        return breakdown(self._figures, seen, objects, plan.demangle)
