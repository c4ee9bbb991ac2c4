"""A sampled run: counters count live, those of several event sets in turn."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pfmon.counting._counting import (
    BranchEdges,
    CallStack,
    Gate,
    LastBranches,
    LiveSets,
    SampleBuffer,
    SampleListener,
    Sampler,
)
from pfmon.counting.live.live_unit import LiveUnit
from pfmon.engine.api import Engine
from pfmon.errors import BadValueError, PfmonError
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.pmu.capture.last_branches import LastBranchSetting, last_branch_setting
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.program.mapped_files import in_one_place
from pfmon.session.coupled.coupled_run import HardwareThread
from pfmon.session.run.controls import Controls
from pfmon.session.run.monitoring import nothing_is_lost, scaled, set_ranges
from pfmon.session.run.programmed_pmu import Count, Estimate, ProgrammedPmu, RunData
from pfmon.session.run.run_plan import ResolvedAddresses
from pfmon.session.sampling.sampling_period import Period, Sample, Sampling, SetSampling
from pfmon.session.sampling.timers import PeriodicTimer, Timers
from pfmon.session.triggers.event_trigger import MachineTrigger
from pfmon.session.triggers.event_triggered import InterruptListener, SamplingListener, listener
from pfmon.session.triggers.trigger_gate import event_start, gate, move, unreached
from pfmon.stream._stream import Consumer, Failure, Tee

if TYPE_CHECKING:
    from pfmon.session.run.machine_run import MachineRun


NOBODY = (0, 0)
"""The turn of an unknown thread."""
OTHER_FILE = "another file was mapped in its place later, which names its samples"


class _SampledSet(NamedTuple):
    """An active event set."""

    counting: ProgrammedPmu
    periods: Sequence[Period | None]
    unit: LiveUnit
    told: Sampler | SamplingListener | InterruptListener

    @property
    def data_ranges(self) -> Sequence[tuple[int, int]]:
        """(address, mask) of the data ranges in force."""
        return self.counting.unit.data_ranges or ()

    def values(self) -> list[int]:
        """Return the totals of its counters."""
        totals = self.unit.totals()
        return [totals.get(monitor.pmd, 0) for monitor in self.counting.programming.monitors]


def listener_of(
    sampling: Sampling, on_samples: Callable[[Sequence[Sample]], None] | SampleListener, engine: Engine
) -> SampleListener:
    """Return the listener of samples: a buffer whose contents are passed to a function, or the given listener
    itself."""
    if isinstance(on_samples, SampleListener):
        return on_samples
    return SampleBuffer(partial(_made, engine), on_samples, sampling.entries, sampling.saturate)


def _check_can_be_sampled(counting: ProgrammedPmu, periods: Sequence[Period | None]) -> None:
    """PfmonError: an event with a period counts a level or a clock, whose increments belong to no instruction."""
    for monitor, period in zip(counting.programming.monitors, periods, strict=True):
        if period and counting.unit.is_level_or_clock(monitor):
            raise PfmonError(
                f"{monitor.event.name} cannot be sampled: it counts a level or a clock, which belongs to no "
                "instruction; count it without a period"
            )


def _check_skid(counting: ProgrammedPmu, periods: Sequence[Period | None], model: PmuModel, skid: int) -> None:
    """PfmonError: sampled ops (AMD) have no skid: their registers say which op it was."""
    register = model.target.op_sampling
    for monitor, period in zip(counting.programming.monitors, periods, strict=True):
        if skid and period and register and monitor.event.extra.startswith(register):
            raise PfmonError(f"{monitor.event.name}: samples of ops have no skid: leave --smpl-skid={skid} out").about(
                "--smpl-skid"
            )


def _made(engine: Engine, fields: tuple[Any, ...], retired: int) -> Sample:
    """A sample, with the thread whose turn it was: who has begun with the most instructions retired before it."""
    threads = engine.threads
    if len(threads) > 1:
        turn = threads[max(0, bisect_left(threads, (retired, 0)) - 1)]
    else:
        turn = threads[0] if threads else NOBODY
    made: Sample = tuple.__new__(Sample, (*fields, turn[1], retired))
    return made


class SampledRun:
    """Samples event sets. ``consumer`` is for the engine, which runs within ``running``; `read_data` serves the
    program's reads of counters."""

    pmu = None
    """None: pfmon, not the program, uses the PMU."""

    def __init__(
        self,
        model: PmuModel,
        sets: Sequence[ProgrammedPmu],
        engine: Engine,
        sampling: Sampling,
        on_samples: Callable[[Sequence[Sample]], None] | SampleListener,
        figures: MachineFigures | None,
        traced: bool,
        controls: Controls,
        nanoseconds: int = 1,
        trigger: MachineTrigger | None = None,
        hardware_thread: HardwareThread | None = None,
    ) -> None:
        """``figures``: of the machine, if an event needs one; ``traced``: whether the stream has addresses;
        ``nanoseconds``: per instruction; ``trigger``: of a single event set; ``hardware_thread``: the hardware thread
        of a shared core."""
        self._model = model
        self._hardware_thread = hardware_thread
        self._engine = engine
        self._sampling = sampling
        self._controls = controls = controls._replace(event_trigger=None, stop_event=None) if trigger else controls
        self._trigger = trigger
        self._traced = traced
        self._tally = sets[0].unit.tally(engine.table, traced) if sampling.truth else None
        self._gated = len(sets) > 1 or controls.gates
        self._listener = listener_of(sampling, on_samples, engine)
        recording = last_branch_setting(model, sets[0].counters.registers.contents())
        self._calls = self._followed_calls(recording)
        self._edges = BranchEdges(engine.table, traced, recording.recorded) if recording and sampling.truth else None
        self._truth = Tee(self._tally, self._edges) if self._tally and self._edges else self._tally
        self._machine = self._make_machine(figures, sets) if figures else None
        self._sets = [
            self._make_set(number, counting, own)
            for number, (counting, own) in enumerate(zip(sets, sampling.sets, strict=True))
        ]
        self._live = self._make_live() if self._gated else None
        self._turn = 0
        period = max(1, (controls.switch or 0) // nanoseconds)
        self._timers = Timers([PeriodicTimer(period, self._switch)] if len(sets) > 1 else [])
        self._gate = self._make_gate(self._live) if self._live else None
        self._start = event_start(controls, model, engine.table, traced, self._gate, self._timers)
        engine.set_monitoring(on=not controls.dont_start, locked=not controls.insecure)
        for counting in sets:
            counting.counters.registers.set_secure(not controls.insecure)
        self.consumer: Consumer = self._feed()

    def _followed_calls(self, recording: LastBranchSetting | None) -> CallStack | None:
        """Return what follows calls, and last branches if the processor records them."""
        if recording:
            made = LastBranches(self._engine.table, self._traced)
            made.program(recording)
            return made
        return CallStack(self._engine.table, self._traced) if self._sampling.stacks else None

    def _make_machine(self, figures: MachineFigures, sets: Sequence[ProgrammedPmu]) -> MachineRun:
        from pfmon.session.run.machine_run import MachineRun

        ranges = sets[0].unit.data_ranges or ()
        run = MachineRun(
            figures,
            self._engine.table,
            ranges,
            event_sets=len(sets) + self._gated,
            hardware_thread=self._hardware_thread,
        )
        run.record_for([one.unit for one in sets])
        return run

    def _make_set(self, number: int, counting: ProgrammedPmu, own: SetSampling) -> _SampledSet:
        """One event set: its sampler and its counters."""
        sampling, registers = self._sampling, counting.counters.registers
        periods = counting.by_monitor(own.periods)
        _check_can_be_sampled(counting, periods)
        _check_skid(counting, periods, self._model, sampling.skid)
        pmds = [monitor.pmd for monitor in counting.programming.monitors]
        held = sorted({*own.extra, *(set(counting.programming.pmds) - set(pmds))})
        loads = dict(zip(pmds, periods, strict=True))
        counters = [(monitor.pmd, loads[monitor.pmd]) for monitor in counting.unit.monitors]
        unsampled = {pmd for pmd, period in loads.items() if period is None}
        reset = unsampled if own.reset is None else own.reset
        sampler = Sampler(self._listener, counters, registers.bank.width, reset, number)
        told = listener(counting, periods, sampler)
        unit = LiveUnit(
            *(self._model, registers, self._engine.table, self._traced, told),
            records=self._machine.records([number]) if self._machine else None,
            calls=self._calls,
            skid=sampling.skid,
            seed=self._controls.ear_seed,
            event_set=number if self._gated else None,
            held=[pmd for pmd in held if pmd not in unsampled],
            stacks=sampling.stacks,
            trigger=self._trigger.starting if self._trigger else None,
            until=self._trigger.stopping if self._trigger else None,
        )
        if not isinstance(told, Sampler):
            told.start(unit)
        return _SampledSet(counting, periods, unit, told)

    def _make_live(self) -> LiveSets:
        """Return the live counting of all event sets, connected to the machine's records if there is one."""
        live = LiveSets(self._engine.table, self._traced, [one.unit.consumer for one in self._sets], self._calls)
        if self._machine:
            self._machine.machine.set_observer(live)
        return live

    def _make_gate(self, live: LiveSets) -> Gate:
        """Return the gate with triggers and turns; true counts are taken beside it."""
        readers = [self._truth or Consumer(), *(Consumer() for _ in self._sets[1:])]
        return gate(
            *(self._controls, self._engine.table, self._traced, readers),
            machine=self._machine.machine if self._machine else live,
            due=self._timers.next_stop(),
            on_due=self._due,
        )

    def _feed(self) -> Consumer:
        """Return the engine's consumer."""
        gate = self._start.consumer if self._start else self._gate
        if self._machine:
            return self._machine.feed(gate, beside=None if gate else self._truth)
        if gate:
            return gate
        live = self._sets[0].unit.consumer
        return Tee(live, self._truth) if self._truth else live

    def _due(self) -> int | None:
        """Switch to the next event set if due."""
        assert self._gate
        self._timers.fire(self._gate.retired)
        return self._timers.next_stop()

    def _switch(self) -> None:
        assert self._gate
        before = self._sets[self._turn]
        self._turn = (self._turn + 1) % len(self._sets)
        self._gate.choose(self._turn)
        if self._machine:
            self._machine.change_ranges(before.data_ranges, self._sets[self._turn].data_ranges, self._gate)

    @property
    def running(self) -> AbstractContextManager[object]:
        """The context of the program's run."""
        return self._machine or nullcontext()

    def finish(self) -> None:
        """End the run and deliver the last samples. LostError: samples would be missing; raises exceptions of
        ``on_samples``."""
        if self._gate and self._gate.error:
            raise self._gate.error
        for one in self._sets:
            one.unit.finish()
        consumers: list[Consumer | None] = [
            self._tally,
            self._edges,
            self._gate,
            *(one.unit.consumer for one in self._sets),
        ]
        failures = [self._engine.table.failure, *(consumer.failure for consumer in consumers if consumer)]
        buffer = self._listener if isinstance(self._listener, SampleBuffer) else None
        failures += [Failure.OUT_OF_MEMORY] if buffer and buffer.out_of_memory else []
        nothing_is_lost([*failures, *(self._machine.failures if self._machine else ())])
        if self._listener.error:
            raise self._listener.error
        if buffer:
            buffer.flush()

    def requalify(self, placed: ResolvedAddresses) -> None:
        """Set the resolved addresses of ranges and triggers (Monitoring.requalify)."""
        if self._machine:
            self._machine.drain()
        for one, ranges in zip(self._sets, placed.ranges, strict=True):
            one.counting.requalify(self._model, *ranges)
            one.unit.requalify()
        set_ranges(self._sets[0].data_ranges, self._tally)
        if self._machine and any(one.data_ranges for one in self._sets):
            self._machine.set_ranges(self._sets[self._turn].data_ranges)
        if self._gate:
            move(self._gate, placed.triggers)
        self._controls = self._controls._replace(triggers=placed.triggers)

    def read_data(self, number: int) -> int:
        """Return the current counter of the active set, as the program reads it (with two threads:
        Monitoring.read_data)."""
        unit = self._sets[self._turn].unit
        if self._hardware_thread:
            return unit.registers.read_data(number, cpl=3)
        if self._machine:
            self._machine.drain()
            self._machine.update_records(self._engine.ip)
        if unit.registers.data_register(number):
            unit.registers.store({number: unit.register(number)})
        return unit.registers.read_data(number, cpl=3)

    def exact(self) -> dict[int, int] | None:
        """Return the true counts of the sampled event by instruction (address | slot); None: not requested."""
        if self._tally is None:
            return None
        one = self._sets[0]
        records = self._machine.records([0]) if self._machine else None
        sink = one.counting.sink(RunData(self._engine.table, self._tally, records), by_place=True)
        place = next(number for number, period in enumerate(one.periods) if period is not None)
        counts = {address: one.counting.ordered(row)[place] for address, row in sink.by_address().items()}
        return {address: count for address, count in counts.items() if count}

    def exact_edges(self) -> dict[tuple[int, int], int] | None:
        """Return how often the branches that last branch records let through were taken, by source and target; None:
        not requested."""
        return self._edges.counts() if self._edges else None

    def counts(self) -> list[Count]:
        """Return the events' counts; those of several sets are estimates for the whole run, None for a set that
        never had its turn."""
        if self._live is None or len(self._sets) == 1:
            return self._sets[0].counting.counts_of(self._sets[0].values())
        active = self._live.shares()
        counts: list[Count] = []
        for number, one in enumerate(self._sets):
            raws = one.counting.counts_of(one.values())
            whole = one.counting.counts_of([scaled(raw, active[number], sum(active)) for raw in one.values()])
            share = active[number] / sum(active) if any(active) else 0.0
            counts += [
                count._replace(
                    value=count.value if active[number] else None, estimate=Estimate(number, share, raw.value, None)
                )
                for count, raw in zip(whole, raws, strict=True)
            ]
        return counts

    @property
    def totals(self) -> list[int]:
        """The counts of all monitors, set by set."""
        return [value for one in self._sets for value in one.values()]

    def notes(self) -> list[str]:
        """Return notes on the samples."""
        lost = self._listener.lost if isinstance(self._listener, SampleBuffer) else 0
        said = [f"--saturate-smpl-buffer: {lost} samples more were not taken"] if lost else []
        for one in self._sets:
            said += [] if isinstance(one.told, Sampler) else one.told.notes()
        if self._trigger:
            said += self._trigger.notes(self._sets[0].unit.consumer)
        said += [f"{path}: {OTHER_FILE}" for path in in_one_place(self._engine.mapped)] if self._samples else []
        return said + unreached(self._controls, self._gate) + (self._start.notes() if self._start else [])

    @property
    def _samples(self) -> bool:
        """Whether there are any: counters may count live for other reasons."""
        return any(period for one in self._sampling.sets for period in one.periods)


def counters_without_a_period_are_reset(sampling: Sampling, sets: Sequence[ProgrammedPmu]) -> None:
    """PfmonError: a register that is to begin at 0 again has a period, or is no counter of its event set."""
    for own, counting in zip(sampling.sets, sets, strict=True):
        numbers = [monitor.pmd for monitor in counting.programming.monitors]
        periods = counting.by_monitor(own.periods)
        only_count = [number for number, period in zip(numbers, periods, strict=True) if period is None]
        for number in own.reset or ():
            if number not in only_count:
                there = ", ".join(map(str, sorted(only_count))) or "none"
                raise BadValueError(
                    f"--reset-non-smpl-periods: PMD{number} is no counter without a period; the event set has {there}"
                )
