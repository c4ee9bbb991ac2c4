"""A run for a report on the whole machine, without a PMU."""

from __future__ import annotations

from pfmon.counting._counting import Tally
from pfmon.engine.api import Engine
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.session.coupled.coupled_run import HardwareThread
from pfmon.session.profile.cpi_stack import CpiStack, breakdown
from pfmon.session.run.machine_run import MachineRun
from pfmon.session.run.monitoring import nothing_is_lost
from pfmon.session.run.programmed_pmu import RunData
from pfmon.session.run.run_plan import RunPlan


class ObservedRun:
    """A run on a machine without a PMU, for a report on the whole machine."""

    def __init__(
        self,
        figures: MachineFigures,
        engine: Engine,
        threaded: bool = True,
        hardware_thread: HardwareThread | None = None,
    ) -> None:
        self._figures, self._engine = figures, engine
        self._tally = Tally(engine.table, traced=True)
        self.running = MachineRun(
            figures, engine.table, threaded=threaded and not engine.capabilities.apart, hardware_thread=hardware_thread
        )
        self.running.forget_levels()
        self.consumer = self.running.feed(beside=self._tally)

    def breakdown(self, plan: RunPlan, objects: LoadedObjects) -> CpiStack:
        """Return the cycle breakdown; ``objects``: the object files of the code."""
        nothing_is_lost([self._engine.table.failure, self._tally.failure, *self.running.failures])
        seen = RunData(self._engine.table, self._tally, self.running.records())
        return breakdown(self._figures, seen, objects, plan.demangle)
