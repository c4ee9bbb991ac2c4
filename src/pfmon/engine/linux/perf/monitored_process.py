"""A process as its perf events see it: its PMU, its times, and the ways to its memory and files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from pfmon.engine.guest_pmu import ProgramPmu


class MonitoredProcess(Protocol):
    """A process whose events are counted. Times are nanoseconds."""

    @property
    def pmu(self) -> ProgramPmu | None:
        """Its PMU; None: it has none, or executes no program at the moment."""

    @property
    def task(self) -> tuple[int, int]:
        """The numbers of the process and of its running thread."""

    def used(self) -> int:
        """Its processor time."""

    def now(self) -> int:
        """The time of its clock."""

    @property
    def clock(self) -> int | None:
        """The processor's clock as the program reads it, in nanoseconds; None: it has another rate."""

    def time_since(self, retired: int) -> int:
        """The processor time since that many instructions had retired."""

    def instructions_until(self, used: int) -> int:
        """How many instructions have retired when it has used that processor time."""

    def all_registers(self, values: Mapping[str, int]) -> dict[str, int]:
        """All configuration registers: those of an assignment, the others as Linux initialises them."""

    def stop_counter(self, counter: int) -> None:
        """Let a counter count nothing from the next instruction on, without a commit."""

    def read_index(self, counter: int) -> int:
        """The number by which the program reads a counter."""

    def allow_reads(self, allowed: bool) -> None:
        """Set whether the program may read counters with an instruction."""

    def report(self, tell: Callable[[], object]) -> None:
        """Tell the program something, in its memory, files or signals: at once, or when it waits for this next."""


class RingMemory(Protocol):
    """The memory of one mapping."""

    @property
    def page_bytes(self) -> int:
        """Bytes of a page."""

    @property
    def length(self) -> int:
        """Bytes of the mapping."""

    @property
    def is_writable(self) -> bool:
        """Whether the program may write to it."""

    @property
    def is_mapped(self) -> bool:
        """Whether it is still mapped."""

    def read(self, offset: int, count: int) -> bytes:
        """Bytes from an offset on."""

    def write(self, offset: int, data: bytes) -> None:
        """Write at an offset."""
