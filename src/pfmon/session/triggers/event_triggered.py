"""Event-triggered counters (IPCOM000113677D): counters started or stopped when another one becomes negative.

The registers themselves implement triggers and DISCOUNT. This module handles the interrupt. Without periods it is not
handled: it stays pending until the counters are read after the program's end. With periods a driver handles it: it
takes a sample, reloads the counters with a period, and re-enables the interrupt.
"""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.counting._counting import Sampler
from pfmon.counting.live.live_unit import LiveUnit, Overflow
from pfmon.errors import PfmonError, refuse
from pfmon.pmu.registers.spr_file import NEGATIVE, SprFile
from pfmon.session.run.programmed_pmu import ProgrammedPmu
from pfmon.session.run.run_plan import RunPlan
from pfmon.session.sampling.sampling_period import Period


class InterruptListener:
    """The listener of a run in which the interrupt is not handled."""

    def __init__(self, registers: SprFile) -> None:
        self._registers = registers
        self._first: Overflow | None = None
        self._was_loaded = False

    def start(self, unit: LiveUnit) -> None:
        """Start before the program runs. A counter that was loaded with a negative number has signalled already."""
        if self._registers.interrupt:
            negative = (pmd for pmd in self._registers.bank.numbers if self._registers.negative(pmd))
            self._first = Overflow(tuple(negative), 0, 0)
            self._was_loaded = True

    def __call__(self, overflow: Overflow) -> None:
        """Handle a counter that has become negative, or has wrapped."""
        if self._registers.interrupt and self._first is None:
            self._registers.sample(overflow.address, 0)
            self._first = overflow

    def notes(self) -> list[str]:
        """Return notes on the interrupt."""
        registers, first = self._registers, self._first
        if first is None:
            return []
        if self._was_loaded:
            return [
                "an interrupt is signalled when counting begins, by a counter that is loaded with a negative number"
            ]
        of = " and ".join(f"PMC{pmd}" for pmd in first.pmds if registers.signals(pmd))
        stopped = ", where counting stopped" if registers.field("mmcr0", "discount") else ""
        if not first.retired:
            return [f"interrupt of {of} before the first instruction retired{stopped}"]
        return [f"interrupt of {of} at {first.address:#x}, instruction {first.retired}{stopped}"]


class SamplingListener:
    """The listener of a sampled run: it handles every interrupt."""

    def __init__(self, registers: SprFile, sampler: Sampler, pmds: Sequence[int]) -> None:
        """``pmds``: the counters of the sampler, in its order."""
        self._registers = registers
        self._sampler = sampler
        self._pmds = pmds
        self._loads = {pmd: left for pmd, left in zip(pmds, sampler.loads(), strict=True) if left is not None}
        registers.store({pmd: NEGATIVE - left for pmd, left in self._loads.items()})
        self._unit: LiveUnit | None = None

    def start(self, unit: LiveUnit) -> None:
        """Start before the program runs."""
        self._unit = unit
        self._sampler.extra = unit.beside

    def __call__(self, overflow: Overflow) -> None:
        """Handle a counter that has become negative, or has wrapped."""
        registers = self._registers
        if not registers.interrupt:
            return
        assert self._unit
        registers.sample(overflow.address, 0)
        negative = [pmd for pmd in registers.take_overflows() if pmd in self._loads and registers.signals(pmd)]
        counted = self._unit.consumer.counts()
        monitors = [self._pmds.index(pmd) for pmd in negative]
        lefts = self._sampler.sample(monitors, overflow.address, self._unit.consumer.stamp, overflow.retired, counted)
        registers.end_interrupt({self._pmds[monitor]: left for monitor, left in lefts.items()})

    def notes(self) -> list[str]:
        """Return no notes: the samples show the interrupts."""
        return []


BY_CONTROLS = "--preload, or --controls with which counters wait or stop"
BY_EVENT = "--trigger-event and --stop-event, if the machine decides when that happens"


def listener(
    counting: ProgrammedPmu, periods: Sequence[Period | None], sampler: Sampler
) -> Sampler | SamplingListener | InterruptListener:
    """Return the listener of overflows: the sampler itself, unless registers control counting. PfmonError: a sampled
    counter's interrupt is disabled."""
    registers, programming = counting.counters.registers, counting.programming
    triggered = registers.event_triggered
    sampled = [pmd for pmd, period in zip(programming.counters, periods, strict=True) if period]
    if sampled:
        registers.enable_interrupts(sampled, counting.controls)
    if not triggered or not isinstance(registers, SprFile):
        return sampler
    if not sampled:
        return InterruptListener(registers)
    check_periods(counting, periods)
    return SamplingListener(registers, sampler, [monitor.pmd for monitor in counting.unit.monitors])


def check_periods(counting: ProgrammedPmu, periods: Sequence[Period | None]) -> None:
    """Raise PfmonError for periods that a counter's sign cannot signal, or periods of preloaded counters."""
    for pmd, period in zip(counting.programming.counters, periods, strict=True):
        if period is None:
            continue
        if max(period.long, period.short) + period.mask > NEGATIVE:
            raise PfmonError(f"--long-smpl-periods: PMC{pmd} is negative after {NEGATIVE} events at the latest")
        if counting.counters.registers.count(pmd):
            raise PfmonError(f"--preload: PMC{pmd} has a period, with which it is loaded")


def counts_at_the_end(signal: str) -> bool:
    """Return whether a signal follows a clock, which does not count live."""
    from pfmon.signals import machine_signals

    return signal in machine_signals.meanings() and "CLOCK" in machine_signals.meanings()[signal].terms


def check_live(plan: RunPlan, sets: Sequence[ProgrammedPmu], why: str) -> None:
    """Raise PfmonError for options that exclude live counting of a single event set."""
    sampling, controls = plan.sampling, plan.controls
    refused: dict[str, bool] = {
        "--unlimited": plan.unlimited,
        "several event sets": len(plan.requests) > 1,
        "--per-function and its like": plan.profile,
        "--print-interval": controls.interval is not None,
        "--trigger-code and --trigger-data": why == BY_EVENT and bool(controls.triggers),
        "--smpl-truth": bool(sampling and sampling.truth),
        "--smpl-skid": bool(sampling and sampling.skid),
    }
    at_the_end = [
        monitor.event.name for one in sets for monitor in one.unit.monitors if counts_at_the_end(monitor.signal)
    ]
    refused |= {f"{name}, which counts at the end of the run,": True for name in at_the_end}
    refuse(refused, f"{{}}: this does not go with {why}")
