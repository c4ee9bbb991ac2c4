"""The PMU that a program sees: the engine's system calls and instructions use it (`--guest-pmu`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol, runtime_checkable

from pfmon.stream._stream import BlockTable, Consumer


class CountedProgram(Protocol):
    """The engine (api.Engine) as a PMU that counts its stream uses it."""

    @property
    def table(self) -> BlockTable:
        """The blocks that its stream names."""

    @property
    def traced(self) -> bool:
        """Whether its stream has the addresses of memory accesses."""

    @property
    def retired(self) -> int:
        """Instructions retired so far."""

    @property
    def ip(self) -> int:
        """The address of the instruction that is next."""


class PerformanceData(Protocol):
    """Answers a program's instructions that read counters."""

    @property
    def pmu(self) -> ProgramPmu | None:
        """The PMU, if the program programs it; None: pfmon counts with it, or it is unused."""

    def read_data(self, number: int) -> int:
        """The value that the program reads from the PMU's data register ``number``, which may be a counter."""


class PmuEvent(NamedTuple):
    """An event that a program wants to count by its code and unit mask, or by name, perf's or the PMU's own.

    ``plm``: its privilege levels, a bit each; ``edge``, ``invert``: Intel's E and INV, ``threshold`` is its CMASK;
    ``extra``: the value of a further register that the code needs.
    """

    name: str
    code: int
    umask: int
    threshold: int
    plm: int
    edge: bool = False
    invert: bool = False
    extra: int = 0


class PmuIdentity(NamedTuple):
    """The description of an x86 PMU for programs: CPUID, and the files of sysfs.

    ``leaf``: EAX, EBX, ECX and EDX of CPUID leaf 0AH; ``signature``: EAX of leaf 1 of a processor with it, 0: any has;
    ``selects``: the fields of its event select registers, each with its first and last bit; ``events``: the value of
    such a register for each of perf's generic names that it counts.
    """

    name: str
    leaf: tuple[int, int, int, int]
    signature: int
    selects: Mapping[str, tuple[int, int]]
    events: Mapping[str, int]


class ProgramPmu(Protocol):
    """The modelled processor's PMU, for the system calls of a program that programs it. Registers have the names of the
    processor's manual, counters the manual's numbers; written values take effect at `commit`, between two
    instructions."""

    @property
    def counters(self) -> Sequence[int]:
        """The numbers of the event counters."""

    @property
    def width(self) -> int:
        """Bits of a counter."""

    @property
    def identity(self) -> PmuIdentity:
        """Its description for programs; of an x86 PMU alone."""

    def set_overflow_handler(self, told: Callable[[Sequence[int], int, int], None] | None) -> None:
        """Set the overflow callback (None: none). At the overflowing instruction it gets the counters that wrapped
        together, the instruction's address (as ``Engine.ip``), and the number of instructions retired, itself
        included."""

    def update_registers(self) -> None:
        """Update the registers to the next instruction; called before they are read or written."""

    def read(self, name: str) -> int:
        """The value of a register."""

    def write(self, name: str, value: int) -> None:
        """Write a register. ValueError for a value that it does not take."""

    def read_counter(self, number: int) -> int:
        """The value of a counter."""

    def write_counter(self, number: int, value: int) -> None:
        """Write a counter."""

    def freeze(self, frozen: bool) -> None:
        """Stop all counting, whatever the registers say, or resume it."""

    def clear_captures(self) -> None:
        """Reset the capture registers."""

    def commit(self) -> str:
        """Count as the registers say from here on. Returns "", or a text that names what cannot be counted; the
        registers must then be written again."""

    def set_counting(self, on: bool, monitoring: bool | None) -> None:
        """Start or stop all counters; ``monitoring``: whether the program has its user-level monitoring on, which it
        may switch itself; None: that does not matter."""

    def set_overflow_stops(self, counters: Collection[int]) -> None:
        """Set the counters whose overflow stops the program, at the end of a block."""

    def set_timer(self, retired: int | None) -> None:
        """Stop the program at the end of the block in which this many instructions have retired; None: cancel."""

    def named(self, event: PmuEvent) -> PmuEvent:
        """The event with its code, for one given by code or name. PfmonError: unknown, or it cannot be counted."""

    def assign(self, events: Sequence[PmuEvent]) -> tuple[dict[str, int], list[int]]:
        """Register values that make events count, and their counters, in order. PfmonError: they cannot be counted
        together."""

    def next_poll(self) -> int | None:
        """The count of retired instructions at which the program next stops for an overflow."""

    def read_data(self, number: int) -> int:
        """The value that the program reads from a data register."""

    @property
    def pmu(self) -> ProgramPmu:
        """Itself."""

    @property
    def consumer(self) -> Consumer:
        """The reader of the program's stream, which comes within ``running``."""

    @property
    def running(self) -> AbstractContextManager[object]:
        """The context in which the program runs."""

    def pmu_of_program(self, engine: CountedProgram) -> ProgramPmu:
        """A PMU for another program of the run, from here on; its machine starts cold."""


@runtime_checkable
class SystemPmu(Protocol):
    """The PMU of a whole processor whose code programs it, as the engine of system mode uses it: it is the performance
    data that the engine's run is given."""

    @property
    def pmu(self) -> ProgramPmu | None:
        """None: no system calls program it."""

    def read_data(self, number: int) -> int:
        """The value of a PMD at level 3."""

    @property
    def consumer(self) -> Consumer:
        """The reader of the processor's stream, which comes within ``running``."""

    @property
    def running(self) -> AbstractContextManager[object]:
        """The context in which the processor runs."""

    def set_interrupt(self, raise_pmi: Callable[[], None] | None) -> None:
        """Set what raises the performance monitor interrupt; `update_registers` calls it."""

    def access(self, kind: str, number: int, value: int = 0, *, cpl: int = 0, secure: bool = False) -> int:
        """Make the access of the next instruction to a register: ``kind`` is read_pmc, read_pmd, write_pmc, write_pmd,
        write_ibr or write_dbr; ``cpl`` and ``secure``: PSR.cpl and PSR.sp. Return what a read delivers."""

    def next_stop(self) -> int | None:
        """The number of retired instructions at which the processor has to stop exactly; None: it need not. To be asked
        for before each run."""

    def update_registers(self) -> None:
        """Bring the registers up to the next instruction after such a stop, and raise the interrupt that is due."""
