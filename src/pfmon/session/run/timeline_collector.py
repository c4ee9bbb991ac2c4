"""Collection of the timeline of a block during a run, on a machine beside what counts (profile/timeline.py)."""

from __future__ import annotations

from pfmon.counting._counting import Tally
from pfmon.engine.api import Engine
from pfmon.errors import PfmonError
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.session.profile.code_profile import FunctionNames
from pfmon.session.profile.kept_timelines import WantedTimelines, hottest, keep_timelines
from pfmon.session.profile.timeline import BlockTimeline
from pfmon.session.run.machine_run import MachineRun, beside
from pfmon.session.run.monitoring import nothing_is_lost
from pfmon.session.run.run_plan import RunPlan, TimelineRequest
from pfmon.session.run.symbolic_ranges import resolver
from pfmon.stream._stream import Consumer


class TimelineCollector:
    """Collects the timeline that a plan wants; the program runs within `running`. PfmonError: the machine has none."""

    def __init__(self, figures: MachineFigures, engine: Engine, plan: RunPlan) -> None:
        assert plan.timeline
        self._plan, self._wanted = plan, plan.timeline
        self._tally = Tally(engine.table, traced=True)
        self.running = MachineRun(figures, engine.table, threaded=plan.threaded and not engine.capabilities.apart)
        place = self._wanted.place
        ranges = [place] if isinstance(place, tuple) else []
        wanted = WantedTimelines(ranges, self._wanted.iterations)
        kept = keep_timelines(self.running.machine, figures, engine.table, wanted)
        if kept is None:
            said = f"--timeline: {figures['machine.name']} has no times of single instructions"
            raise PfmonError(said).about("--timeline")
        self._kept = kept
        self._consumer = self.running.feed(beside=self._tally)

    def beside(self, reader: Consumer) -> Consumer:
        """Return a consumer that passes the stream to a reader and to this object."""
        return beside(reader, self._consumer)

    def finish(self, engine: Engine, objects: LoadedObjects) -> BlockTimeline | None:
        """End the run and return the timeline; None: nothing of the place ran. LostError: data was lost. PfmonError:
        there is no such name."""
        nothing_is_lost([engine.table.failure, self._tally.failure, *self.running.failures])
        names = FunctionNames(objects, self._plan.demangle, engine.table.instruction_set, lambda: engine.functions)
        place = self._wanted.place
        start, end = resolver(objects.everything())(place) if isinstance(place, str) else place or (0, 1 << 64)
        found = hottest(self._kept, names, engine, among=lambda first, last: start <= last and first < end)
        return found[0] if found else None


def nothing_ran(wanted: TimelineRequest) -> str:
    """Return the note of a place without a timeline."""
    return f"--timeline={wanted.text}: none of its code ran" if wanted.text else "--timeline: nothing ran"
