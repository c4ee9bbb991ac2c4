"""A plan with its PMUs programmed and its machine chosen, and what it needs of the engine that runs the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pfmon.engine.api import Engine
from pfmon.errors import PfmonError
from pfmon.needed_modules import import_needed
from pfmon.program.compilation_units import import_line_reader
from pfmon.session.run.controls import Controls
from pfmon.session.run.programmed_pmu import ProgrammedPmu
from pfmon.session.run.run_plan import MACHINE, RunPlan, event_groups, planned_machine
from pfmon.session.run.supported import (
    check_addresses,
    check_controls,
    check_cores,
    check_fits,
    check_follows,
    check_guest_pmu,
    check_regions,
    check_threads,
)
from pfmon.signals.signal_terms import depends_on_directions

if TYPE_CHECKING:
    from pfmon.session.triggers.event_trigger import MachineTrigger


class ProgrammedPlan:
    """The constructor raises PfmonError for what the PMU or the machine cannot do. ``groups``: the event sets;
    ``trigger``: the events that start and stop counting, if the machine decides when one happens; ``machine``: None:
    none is wanted; ``surveyed_machine``: that of an HTML report, or of all calls."""

    def __init__(self, plan: RunPlan) -> None:
        self.plan = plan
        check_controls(plan.model, plan.controls)
        self.groups = event_groups(plan)
        if plan.sampling:
            from pfmon.session.sampling.sampled_run import counters_without_a_period_are_reset

            counters_without_a_period_are_reset(plan.sampling, self.sets)
        self.trigger = _trigger(plan)
        if self._event_triggered or self.trigger:
            from pfmon.session.triggers.event_triggered import BY_CONTROLS, BY_EVENT, check_live

            check_live(plan, self.sets, BY_EVENT if self.trigger else BY_CONTROLS)
        self.machine = planned_machine(plan) if self._wants_machine else None
        self._check_processors()
        check_cores(plan.machine, [monitor for one in self.sets for monitor in one.programming.monitors])
        self.surveyed_machine = planned_machine(plan) if plan.surveyed else None

    def check_engine(self, engine: Engine) -> None:
        """Raise PfmonError for a PMU that the program's processors lack, and for addresses missing from the stream."""
        plan = self.plan
        check_fits(plan.model, engine.instruction_set)
        check_addresses(self.counts_addresses, engine)
        check_guest_pmu(bool(plan.guest_pmu), engine, plan.settings.confined)
        check_follows(plan.following is not None, engine)
        check_threads(plan.controls.per_thread, "--per-thread", engine)
        check_regions(plan.controls.of_regions, engine)
        check_threads(plan.shared_lines, "--report=c2c", engine)

    def import_needed(self) -> None:
        """Import the modules that read the counts when the program has ended."""
        plan = self.plan
        import_needed(
            {
                "pfmon.session.profile.cpi_stack": plan.report and plan.following,
                "pfmon.session.profile.annotated_code": plan.annotate is not None,
                "pfmon.session.profile": plan.profile,
                "pfmon.session.profile.python_profile": plan.python is not None,
                "pfmon.session.profile.finding": plan.finding,
                "pfmon.session.profile.shared_lines": plan.shared_lines,
                "pfmon.session.run.timeline_collector": plan.timeline,
            }
        )
        if (
            plan.lines
            or plan.annotate is not None
            or plan.surveyed
            or plan.deferred
            or plan.finding
            or plan.report
            or plan.shared_lines
            or plan.timeline
        ):
            import_line_reader()

    def _check_processors(self) -> None:
        """Raise PfmonError if one machine would read the streams of several processors of a system."""
        plan = self.plan
        if plan.system is None or plan.system.processors == 1 or plan.hardware_thread:
            return
        if self.machine or plan.surveyed:
            raise PfmonError(
                f"--processors={plan.system.processors}: only exact events are counted; for others give --smt-threads "
                "(two hardware threads of a core) or --smt-threads --cores=2"
            ).about("--processors")

    @property
    def _wants_machine(self) -> bool:
        plan = self.plan
        skids = plan.sampling is not None and plan.sampling.skid > 0
        whole = plan.report or plan.hardware_thread is not None or skids or plan.guest_pmu == MACHINE
        whole = whole or plan.counts_time_in_cycles
        return whole or self.trigger is not None or any(group.wants_machine for group in self.groups)

    @property
    def wants_addresses(self) -> bool:
        return bool(self.plan.record) or self.counts_addresses

    @property
    def lists_code(self) -> bool:
        """Whether code is listed after the run."""
        return self.plan.annotate is not None or self.plan.collect_report or self.plan.timeline is not None

    @property
    def adds_up(self) -> bool:
        """Whether only the execution counts of blocks are needed from the stream."""
        return self._counts_always(self.plan.controls) and not self._counts_directions

    @property
    def adds_up_regions(self) -> bool:
        """Whether nothing of what is outside of the program's regions is needed from the stream."""
        plan = self.plan
        always = self._counts_always(plan.controls._replace(regions=()))
        return bool(plan.controls.regions) and always and not self.wants_addresses

    def _counts_always(self, controls: Controls) -> bool:
        """Whether one event set counts during the whole run by these controls, and nothing looks at it."""
        plan = self.plan
        readers = (plan.following, plan.record, plan.slow, plan.surveyed, plan.watched, plan.python, plan.timeline)
        always = controls._replace(ear_seed=Controls().ear_seed) == Controls()
        return always and len(self.groups) == 1 and not (self.live or any(readers))

    @property
    def _counts_directions(self) -> bool:
        """Whether an event depends on where conditional branches went, which other engines than that for IA-64 know
        from the order of blocks alone."""
        signals = {monitor.signal for one in self.sets for monitor in one.programming.monitors}
        return self.plan.model.architecture != "ia64" and any(map(depends_on_directions, signals))

    @property
    def live(self) -> bool:
        """Whether counters must count live."""
        return self.plan.sampling is not None or self._event_triggered or self.trigger is not None

    @property
    def counts_addresses(self) -> bool:
        """Whether counting needs addresses in the stream."""
        data_triggers = any(trigger.data for trigger in self.plan.controls.triggers)
        wanted = self._wants_machine or self.plan.surveyed or data_triggers or bool(self.plan.guest_pmu)
        wanted |= self.plan.shared_lines or self.plan.timeline is not None
        return wanted or any(group.wants_addresses for group in self.groups)

    @property
    def _event_triggered(self) -> bool:
        """Whether counters start or stop others, which requires live counting."""
        return any(one.counters.registers.event_triggered for one in self.sets)

    @property
    def sets(self) -> list[ProgrammedPmu]:
        """All programmed PMUs."""
        return [one for group in self.groups for one in group.sets]


def _trigger(plan: RunPlan) -> MachineTrigger | None:
    if not plan.controls.of_events:
        return None
    from pfmon.session.triggers.event_trigger import machine_trigger

    return machine_trigger(plan.model, plan.controls)
