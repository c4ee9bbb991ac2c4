"""A run on a machine: the machine beside the engine, and what it recorded in the form that counts are made from."""

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType

from pfmon.engine.ia64.instruction_set import INSTRUCTIONS
from pfmon.engine.ia64.processor import Processor
from pfmon.machine.config import MachineFigures
from pfmon.machine.machine import Machine
from pfmon.retirement.pipe import Pipe
from pfmon.retirement.shapes import Consumer
from pfmon.session.machine_counts import MachineCounts, Part

CLOCK_EDGES = 2
"""The bus moves data on both edges of its clock; bus.frequency counts transfers."""


class MachineRecords:
    """What a machine recorded, as machine_counts.Recorded has it."""

    def __init__(self, machine: Machine, figures: MachineFigures) -> None:
        self._machine = machine
        self._bus, self._core = (int(figures[f"{name}.frequency"]) for name in ("bus", "machine"))
        self._stack_rate = int(figures["rse.rate"])

    @property
    def cycles(self) -> int:
        """Core cycles."""
        return self._machine.cycles

    @property
    def bus_cycles(self) -> int:
        """Cycles of the bus's clock, whole ones."""
        return self._machine.cycles * self._bus // (CLOCK_EDGES * self._core)

    @property
    def stack_rate(self) -> int:
        """Registers that the register stack engine moves in a cycle."""
        return self._stack_rate

    def occurrences(self) -> Mapping[tuple[int | None, int, int, int], int]:
        """What happened to instructions."""
        return self._machine.occurrences()

    def bubbles(self, kind: int) -> Sequence[tuple[int | None, int, int, int]]:
        """Lost cycles or bundles of a kind."""
        return self._machine.records.bubbles(kind)

    def levels(self) -> Mapping[str, Sequence[int]]:
        """Histograms of what stands for a while."""
        return self._machine.levels()

    def groups(self) -> Iterable[tuple[Sequence[Part], int]]:
        """What issued together."""
        return self._machine.groups()

    def dispersal(self) -> Iterable[tuple[int | None, int, int, int]]:
        """What dispersal left over."""
        return self._machine.records.dispersal()


class MachineRun:
    """The machine of one run. ``consumer`` is for the engine, between enter and exit; ``beside`` reads the stream in
    the engine's thread."""

    def __init__(
        self,
        figures: MachineFigures,
        processor: Processor,
        ranges: Sequence[tuple[int, int]] = (),
        beside: Consumer | None = None,
        threaded: bool = True,
        memo: bool = True,
    ) -> None:
        """``memo``: take what blocks did before from memory (machine.pyx); without it all is simulated."""
        self.machine = Machine(figures, INSTRUCTIONS, ranges, memo)
        self.records = MachineRecords(self.machine, figures)
        self.consumer = Pipe(processor.shapes, self.machine, beside, threaded)

    def __enter__(self) -> "MachineRun":
        self.consumer.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.consumer.__exit__(kind, error, trace)
        self.machine.finish()

    def counts(self) -> MachineCounts:
        """What the machine recorded, as counts."""
        return MachineCounts(self.records)
