"""Coupled runs: on the two hardware threads of a core, which switches between them, or on two cores of one bus.

Each has an engine, a PMU and a machine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from threading import Event, Lock
from typing import Any, NamedTuple

from pfmon.engine.api import Engine
from pfmon.machine._machine import Arbiter, CoupledMachines, Machine, SwitchCause, ThreadSwitch
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.pmu.model.programming import Monitor
from pfmon.stream._stream import BlockTable, Consumer, Ring
from pfmon.worker import Worker

THREADS = 2
"""Hardware threads of a core (Montecito manual 2.4)."""


class ThreadCycles(NamedTuple):
    """The core's cycles of a hardware thread. ``active``: cycles in the foreground, ``switching`` of them until it
    issued again after a switch; ``background``: cycles of the other thread; ``switches``: switches away from it, by
    SwitchCause; ``evicted``: structure -> its misses of entries replaced by the other thread."""

    active: int
    switching: int
    background: int
    switches: dict[str, int]
    evicted: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return an object whose keys are the fields."""
        return self._asdict()


def share_one_core(cycles: Sequence[ThreadCycles]) -> bool:
    """Return whether both threads shared one core."""
    return any(one.switches for one in cycles)


def all_cycles(cycles: Sequence[ThreadCycles]) -> int:
    """Return the cycles until both ended: the sum for threads of one core, the maximum for two cores."""
    return (sum if share_one_core(cycles) else max)(one.active for one in cycles)


class CoupledRun(ABC):
    """Two coupled machines. `hardware_threads` are for two sessions, which run simultaneously, each in its own host
    thread; a third thread reads both streams."""

    def __init__(self, figures: MachineFigures, flows: CoupledMachines) -> None:
        """``figures``: of both machines; ``flows``: interleaves their streams."""
        self._flows = flows
        self.on_failure: Callable[[], None] = lambda: None
        """Called when a session fails during its run; ends the other one."""
        self._figures = figures
        self._lock = Lock()
        self._machines: list[Machine | None] = [None] * THREADS
        self._readers: list[tuple[Ring, Consumer] | None] = [None] * THREADS
        self._thread: Worker | None = None
        self._abandoned = False
        self._began = Event()
        self._totals: list[Sequence[int] | None] = [None] * THREADS
        self._told = [Event() for _ in range(THREADS)]

    def machine(
        self, number: int, table: BlockTable, ranges: Sequence[tuple[int, int]], memo: bool, event_sets: int
    ) -> Machine:
        """Return one session's machine; both share the parts that exist once."""
        with self._lock:
            make = partial(Machine, self._figures, table, ranges, memo, event_sets)
            made = self._make(number, make, self._machines[1 - number])
            self._machines[number] = made
            return made

    @abstractmethod
    def _make(self, number: int, make: Callable[..., Machine], other: Machine | None) -> Machine:
        """Create a machine with ``make``, beside the other one if that exists."""

    @property
    def hardware_threads(self) -> tuple[HardwareThread, ...]:
        """A seat for each session. Seats refer to this object, not vice versa."""
        return tuple(HardwareThread(self, number) for number in range(THREADS))

    def open(self, number: int, start: Callable[[], Engine]) -> Engine:
        """Return one session's engine, created by ``start``."""
        return start()

    def begin(self, number: int, ring: Ring, reader: Consumer) -> None:
        """Begin one thread's stream; when both have begun, start the reader."""
        with self._lock:
            self._readers[number] = ring, reader
            if self._abandoned:
                self._discard(number)
            readers = [one for one in self._readers if one]
            machines = [one for one in self._machines if one]
            if len(readers) == THREADS and len(machines) == THREADS and not self._thread:
                rings, consumers = zip(*readers, strict=True)
                self._thread = Worker(partial(self._flows.run, machines, consumers, rings))
                self._began.set()

    def abandon(self, number: int) -> None:
        """Mark a session as failed, so that the other does not wait for it."""
        with self._lock:
            self._abandoned = True
            self._discard(1 - number)
        self._told[number].set()
        self._began.set()

    def _discard(self, number: int) -> None:
        """Read and discard a session's stream, so that it can end."""
        found = self._readers[number]
        if found and not self._thread:
            self._thread = Worker(partial(found[0].read_into, Consumer()))

    def join(self) -> None:
        """Wait until both streams have been read."""
        self._began.wait()
        if self._thread:
            self._thread.wait()
            self._readers = [None] * THREADS  # rings are files

    def release(self) -> None:
        """Release the resources of ended runs: the sessions refer to this object, and their rings are files."""
        self.on_failure = lambda: None
        self._machines = [None] * THREADS
        self._readers = [None] * THREADS
        self._thread = None

    def exchange(self, number: int, totals: Sequence[int]) -> Sequence[int] | None:
        """Deposit the totals of a thread's monitors; return those of the other, None: it failed."""
        self._totals[number] = totals
        self._told[number].set()
        self._told[1 - number].wait()
        return self._totals[1 - number]

    @property
    def lost(self) -> bool:
        """Whether the interleaving overflowed its queue."""
        return False

    @abstractmethod
    def cycles(self) -> list[ThreadCycles]:
        """Return the cycles of each."""

    @abstractmethod
    def counts_both(self, monitor: Monitor) -> bool:
        """Return whether a monitor of one also counts the other's events."""


class SharedCore(CoupledRun):
    """A core with two hardware threads."""

    def __init__(self, figures: MachineFigures, same_program: bool = False) -> None:
        """``figures``: of the machine of both threads; ``same_program``: both are threads of one program and share its
        address space."""
        self._same_program = same_program
        self._switch = ThreadSwitch(figures)
        super().__init__(figures, self._switch)

    def _make(self, number: int, make: Callable[..., Machine], other: Machine | None) -> Machine:
        made = make(other, number, self._same_program)
        made.share_core(self._switch)
        return made

    @property
    def lost(self) -> bool:
        """Whether the core's event queue overflowed."""
        return self._switch.lost

    def counts_both(self, monitor: Monitor) -> bool:
        """Return whether Montecito's PMC.all is set."""
        return monitor.all_threads

    def cycles(self) -> list[ThreadCycles]:
        """Return the core's cycles of each thread."""
        active, switching = self._switch.active_cycles, self._switch.switching_cycles
        causes = [cause.removeprefix("BY_").lower() for cause in SwitchCause.__members__ if cause != "SWITCH_CAUSES"]
        return [
            ThreadCycles(
                active[one],
                switching[one],
                active[1 - one],
                dict(zip(causes, counts, strict=True)),
                self._switch.evictions(one),
            )
            for one, counts in enumerate(self._switch.switch_counts())
        ]


SIGN_OFFS = "SI_SCB_SIGNOFFS"


class TwoCores(CoupledRun):
    """Two cores on one bus, each with private caches (Montecito manual 2.5)."""

    def __init__(self, figures: MachineFigures, same_program: bool = False) -> None:
        """``figures``: of the machine of both cores; ``same_program``: both run threads of one program and share its
        memory."""
        self._same_program = same_program
        self._arbiter = Arbiter()
        super().__init__(figures, self._arbiter)

    def _make(self, number: int, make: Callable[..., Machine], other: Machine | None) -> Machine:
        made = make()
        made.share_bus(self._arbiter, other)
        if self._same_program and other:
            made.share_memory(other)
        return made

    def counts_both(self, monitor: Monitor) -> bool:
        """Return whether a bus event's agent is either core of the processor, or any agent (Montecito manual 4.11). The
        processor completes a snoop once, whichever core answered (2.5)."""
        name = monitor.event.name
        return name.endswith(("_EITHER", "_ANY")) or name.startswith(SIGN_OFFS)

    def cycles(self) -> list[ThreadCycles]:
        """Return the cycles of each core until its program ended."""
        machines = [one for one in self._machines if one]
        return [ThreadCycles(one.time()[0], 0, 0, {}, {}) for one in machines]


class HardwareThread:
    """A session's hardware thread of a core, or one of two cores."""

    def __init__(self, core: CoupledRun, number: int) -> None:
        self.core, self.number = core, number

    def machine(self, table: BlockTable, ranges: Sequence[tuple[int, int]], memo: bool, event_sets: int) -> Machine:
        """Return the thread's machine."""
        return self.core.machine(self.number, table, ranges, memo, event_sets)

    def open(self, start: Callable[[], Engine]) -> Engine:
        """Return the engine that runs on it."""
        return self.core.open(self.number, start)

    def read(self, ring: Ring, reader: Consumer) -> HardwareThread:
        """Have the core read the stream in a ring (called by ring.Pipe)."""
        self.core.begin(self.number, ring, reader)
        return self

    def join(self) -> None:
        """Wait until the stream has been read."""
        self.core.join()

    def of_both(self, totals: Sequence[int], monitors: Sequence[Monitor]) -> list[int]:
        """Return the totals of a thread's monitors; monitors of both threads include the totals of the other, whose PMU
        has the same programming."""
        other = self.core.exchange(self.number, totals) or [0] * len(totals)
        counts_both = self.core.counts_both
        return [
            own + its if counts_both(monitor) else own
            for own, its, monitor in zip(totals, other, monitors, strict=True)
        ]
