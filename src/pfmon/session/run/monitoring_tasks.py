"""Processes that have a PMU each, which programs of the run use."""

from __future__ import annotations

from contextlib import AbstractContextManager

from pfmon.engine import api
from pfmon.engine.api import Engine, ExitReport, FollowRules
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.session.run.program_pmu import ProgramPmu
from pfmon.session.run.run_plan import RunPlan
from pfmon.stream._stream import Consumer

MOST_PROCESSES = 250
"""At a time."""


class _Monitored:
    """The reader of one task (api.TaskReader)."""

    def __init__(self, pmu: ProgramPmu) -> None:
        self.pmu = pmu
        self.consumer: Consumer = pmu.consumer

    @property
    def running(self) -> AbstractContextManager[object]:
        """Its machine."""
        return self.pmu.running

    def ended(self, ending: ExitReport | None, retired: int) -> None:
        """LostError: something was lost."""
        self.pmu.finish()


def monitoring_tasks(plan: RunPlan, figures: MachineFigures | None) -> FollowRules:
    """Return the rules by which all processes are followed; ``figures``: of their machines."""

    def watch(_: api.Task, engine: Engine) -> _Monitored:
        return _Monitored(ProgramPmu(plan.model, engine, figures, plan.controls.ear_seed))

    return FollowRules(True, True, MOST_PROCESSES, watch, lambda *_: None)
