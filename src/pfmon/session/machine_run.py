"""A run on a machine: the machine beside the engine, and what it recorded in the form that counts are made from."""

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType

from pfmon.engine.ia64.core.processor import Processor
from pfmon.machine.config import MachineFigures
from pfmon.machine.machine import Machine
from pfmon.session.machine_counts import MachineCounts, Part
from pfmon.stream.gate import Gate
from pfmon.stream.pipe import Pipe
from pfmon.stream.shapes import Consumer


class MachineRecords:
    """What a machine recorded, as machine_counts.Recorded has it; ``slots``: of which, None: of all."""

    def __init__(self, machine: Machine, figures: MachineFigures, slots: Sequence[int] | None = None) -> None:
        self._machine = machine
        self._slots = slots
        self._stack_rate = int(figures["rse.rate"])

    @property
    def cycles(self) -> int:
        """Core cycles."""
        return self._machine.time(self._slots)[0]

    @property
    def bus_cycles(self) -> int:
        """Cycles of the bus's clock, whole ones."""
        return self._machine.time(self._slots)[1]

    @property
    def stack_rate(self) -> int:
        """Registers that the register stack engine moves in a cycle."""
        return self._stack_rate

    def occurrences(self) -> Mapping[tuple[int | None, int, int, int], int]:
        """What happened to instructions."""
        return self._machine.occurrences(self._slots)

    def bubbles(self, kind: int) -> Sequence[tuple[int | None, int, int, int]]:
        """Lost cycles or bundles of a kind."""
        return self._machine.records.bubbles(kind, self._slots)

    def levels(self) -> Mapping[str, Sequence[int]]:
        """Histograms of what stands for a while."""
        return self._machine.levels(self._slots)

    def groups(self) -> Iterable[tuple[Sequence[Part], int]]:
        """What issued together."""
        return self._machine.groups(self._slots)

    def dispersal(self) -> Iterable[tuple[int | None, int, int, int]]:
        """What dispersal left over."""
        return self._machine.records.dispersal(self._slots)


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
        slots: int = 1,
        gate: Gate | None = None,
    ) -> None:
        """``memo``: take what blocks did before from memory (machine.pyx); without it all is simulated. ``slots``: in
        how many parts what it records can be told; ``gate``: it heeds the marks that this one heeds, and while it is
        shut the last slot is in force."""
        self.machine = Machine(figures, ranges, memo, slots)
        if gate:
            self.machine.follow_gate(gate)
        self._figures = figures
        self._processor = processor
        self.consumer = Pipe(processor.shapes, self.machine, beside, threaded)

    def __enter__(self) -> "MachineRun":
        self.consumer.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.consumer.__exit__(kind, error, trace)
        self.machine.finish()

    def choose(self, slot: int) -> None:
        """From the next instruction on this slot is in force, while the gate is open."""
        self.consumer.drain()
        self.machine.set_slot(slot)

    def settle(self) -> None:
        """Bring the records up to the next instruction."""
        self.consumer.drain()
        self.machine.settle(self._processor.ip)

    def counts(self, slots: Sequence[int] | None = None) -> MachineCounts:
        """What the machine recorded in some slots, None: in all, as counts; as of `settle` or the end."""
        return MachineCounts(MachineRecords(self.machine, self._figures, slots))
