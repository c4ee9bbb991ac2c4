"""Runs with samples of event address registers and branch buffers, beside the log of the slow path."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from guests import EXAMPLES, quiet
from ia64_assembly import Line
from ia64_program import write_program
from instruction_log import Step, logged_steps

from pfmon.counting.live.live_unit import LiveUnit, Overflow
from pfmon.counting.totals.counting_unit import MachineRecords
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.ia64.ia64_guest import Ia64Guest
from pfmon.library.resolving.command_program import FIXED_ENVIRONMENT
from pfmon.machine._machine import Machine, Occurrence
from pfmon.machine.config.machine_config import load
from pfmon.pmu import get
from pfmon.pmu.model.request import Request, event_requests
from pfmon.pmu.registers.register_file import RegisterFile
from pfmon.program import image
from pfmon.session.run.programmed_pmu import ProgrammedPmu
from pfmon.stream._stream import Recorder

CYCLES = {"itanium": "CPU_CYCLES", "itanium2": "CPU_CYCLES", "montecito": "CPU_OP_CYCLES_ALL"}


class Program(NamedTuple):
    """A program that ran: its traced stream with the program (for the block table), and the log of the slow path."""

    program: Ia64Guest
    recorder: Recorder
    steps: list[Step]


def _run(make: Callable[..., Ia64Guest]) -> Program:
    program, recorder = make(slow=False), Recorder()
    with quiet():
        program.run(recorder)
    program.close()
    slow, log = make(slow=True), Recorder()
    with quiet():
        slow.run(log)
    steps = list(logged_steps(iter(log.words()), slow))
    slow.close()
    return Program(program, recorder, steps)


@cache
def example(name: str, *arguments: str) -> Program:
    """An example that ran, as `pfmon.run` runs it."""
    return _run(lambda slow: _guest(EXAMPLES / "ia64" / name, arguments, slow))


def _guest(path: Path, arguments: Sequence[str], slow: bool) -> Ia64Guest:
    words = [os.fsencode(word) for word in (path, *arguments)]
    environment = [os.fsencode(entry) for entry in FIXED_ENVIRONMENT]
    loaded = image.load(str(path))
    return Ia64Guest(loaded, words, environment, GuestSettings(), memory_limit=1 << 30, slow=slow, trace=True)


def assembled(lines: Sequence[Line], data: bytes = b"") -> Program:
    """A program of assembler text that ran."""
    with TemporaryDirectory() as folder:
        path = write_program(Path(folder, "program"), lines, data)
        return _run(lambda slow: _guest(path, (), slow))


class Sample(NamedTuple):
    """As a driver keeps it: where the program is, how many instructions retired, and the registers."""

    iip: int
    stamp: int
    pmds: dict[int, int]


class Sampled(NamedTuple):
    """Samples, and what each event counted."""

    samples: list[Sample]
    counts: dict[str, int]


class Driver:
    """Takes overflows: keeps the registers, empties what captures, loads the next period."""

    def __init__(self, registers: RegisterFile, periods: dict[int, int | None], held: Sequence[int]) -> None:
        self.registers, self.periods, self.held = registers, periods, held
        self.width = 1 << registers.bank.width
        self.samples: list[Sample] = []
        self.totals = dict.fromkeys(periods, 0)
        self.clear: Callable[[], None] = lambda: None
        for pmd, period in periods.items():
            registers.write(f"pmd{pmd}", self.width - period if period else 0)

    def __call__(self, overflow: Overflow) -> None:
        contents = self.registers.contents()
        for pmd in self.registers.take_overflows():
            period = self.periods[pmd]
            assert period
            self.totals[pmd] += period + self.registers.count(pmd)
            self.registers.write(f"pmd{pmd}", self.width - period)
        kept = {number: contents[f"pmd{number}"] for number in (*self.held, *self.periods)}
        self.samples.append(Sample(overflow.address, overflow.retired, kept))
        self.clear()

    def total(self, pmd: int) -> int:
        """Everything that was counted."""
        period = self.periods[pmd] or 0
        return self.totals[pmd] + (self.registers.count(pmd) - self.width + period) % self.width


def sampled(
    run: Program,
    pmu: str,
    events: Sequence[str],
    periods: Sequence[int | None],
    *,
    memo: bool = True,
    seed: int = 1,
    skid: int = 0,
    overrides: Sequence[str] = (),
    extra: Sequence[int] = (),
    **request: Any,
) -> Sampled:
    """A recorded run, sampled: what `request` programs besides the events; ``extra``: further PMDs in every sample."""
    model, figures = get(pmu), load(pmu, list(overrides))
    counting = ProgrammedPmu(model, Request(event_requests(events), **request))
    pmds = [monitor.pmd for monitor in counting.programming.monitors]
    held = sorted({*extra, *(set(counting.programming.pmds) - set(pmds))})
    driver = Driver(counting.counters.registers, dict(zip(pmds, periods, strict=True)), held)
    machine = None
    if counting.unit.wants_machine or skid:
        machine = Machine(figures, run.program.table, counting.unit.data_ranges or (), memo)
    records = MachineRecords(machine, figures) if machine else None
    unit = LiveUnit(model, driver.registers, run.program.table, True, driver, records, skid=skid, seed=seed)
    driver.clear = unit.clear_captures
    run.recorder.replay(machine or unit.consumer)
    if machine:
        machine.finish()
    unit.finish()
    assert unit.consumer.failure == 0
    assert machine is None or machine.failure == 0
    return Sampled(driver.samples, {name: driver.total(pmd) for name, pmd in zip(events, pmds, strict=True)})


def happened(run: Program, pmu: str) -> Counter[str]:
    """How often each occurrence was noted on the machine of a PMU that captures nothing."""
    machine = Machine(load(pmu), run.program.table)
    run.recorder.replay(machine)
    machine.finish()
    found: Counter[str] = Counter()
    for (_, _, occurrence, _), times in machine.occurrences().items():
        found[Occurrence(occurrence).name] += times
    return found
