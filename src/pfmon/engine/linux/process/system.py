"""State shared by all processes of a run: time, process numbers, scheduler, waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from pfmon.engine.guest_memory import Memory
from pfmon.engine.guest_pmu import ProgramPmu
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.linux.memory.mappings import Mappings
from pfmon.engine.linux.process.engine_interface import End, Registers
from pfmon.engine.linux.process.scheduler import Scheduler, Wakeup
from pfmon.engine.linux.process.thread import Thread
from pfmon.engine.linux.time.clock import Clock
from pfmon.engine.linux.time.countdown import Countdown
from pfmon.program.image import Program

if TYPE_CHECKING:
    from pfmon.engine.linux.process.process import Process


class ExpiringFile(Protocol):
    """A file with a timer (timerfd)."""

    @property
    def timer(self) -> Countdown:
        """Its timer."""

    def fire(self) -> None:
        """Become readable if the timer has expired."""


class SystemWideMonitor(Protocol):
    """Counters of all running processes, each on the process's own PMU."""

    def runs(self, process: Process | None) -> None:
        """Another process runs; None: none does."""


class Host(Protocol):
    """Provides processors to processes."""

    def forked(self, parent: Process, child: Process, lend: bool) -> tuple[Memory, Registers]:
        """Memory and processor of a child: its parent's memory copied, or (``lend``) shared until it is cleared."""

    def executed(self, process: Process, program: Program, command: Sequence[str]) -> tuple[Memory, Registers]:
        """Memory and processor for an executed program, in place of the process's own."""

    def pmu_of(self, process: Process) -> ProgramPmu | None:
        """A PMU for a process without one; None: the run does not let programs program the PMU."""

    def ended(self, process: Process, end: End) -> None:
        """A process has ended."""


class System:
    """One Linux, on one processor that the threads of all processes share."""

    def __init__(self, settings: GuestSettings, on_notice: Callable[[str], None], host: Host | None = None) -> None:
        self.settings = settings
        self.host = host
        self.slept = 0
        self.wakeup = Wakeup()
        self.schedule = Scheduler(self, settings.quantum, settings.schedule_seed)
        self.clock = Clock(settings, self, lambda: self.retired)
        self.processes: dict[int, Process] = {}
        self.timer_files: set[ExpiringFile] = set()
        self.futexes: dict[tuple[int, int], list[tuple[Thread, int]]] = {}
        """By address space (0: shared memory) and address: waiting threads, with their bits."""
        self.foreground = settings.process_id
        """The process group in the foreground of the terminal."""
        self.calls: Mapping[int, tuple[Callable[..., int | None], int]] = {}
        """The system calls that programs may make, by number: handler and number of arguments."""
        self.file_locks: Any = None
        """The file locks of all processes (files/file_locks.py), created at first use."""
        self.perf_events = 0
        """Number of perf events opened so far."""
        self.everywhere: SystemWideMonitor | None = None
        """The system-wide monitor."""
        self._next = settings.process_id + 1
        self._on_notice: Callable[[str], None] | None = on_notice
        self._noticed: set[str] = set()
        self._running: Process | None = None
        self._before = 0

    @property
    def retired(self) -> int:
        """Instructions that all processors have retired."""
        running = self._running
        return self._before + (running.registers.retired if running else 0)

    def run(self, process: Process) -> None:
        """Switch to a process; time advances with its retired instructions."""
        if process is not self._running:
            now = self.retired
            self._running = process
            self._before = now - process.registers.retired
            process.registers.set_time(now)
            if self.everywhere is not None:
                self.everywhere.runs(process)

    def stopped_running(self, process: Process) -> None:
        """Drop the processor of a process."""
        if process is self._running:
            if self.everywhere is not None:
                self.everywhere.runs(None)
            self._before, self._running = self.retired, None

    def new_number(self) -> int:
        """A number for a process or a thread."""
        self._next += 1
        return self._next - 1

    def mappings(self) -> list[Mappings]:
        """The file mappings of all processes."""
        return [process.mappings for process in self.processes.values()]

    @property
    def threads(self) -> int:
        """The number of threads in all processes."""
        return sum(len(process.threads) for process in self.processes.values())

    def thread(self, number: int) -> Thread | None:
        """A thread by its number."""
        for process in self.processes.values():
            if number in process.threads:
                return process.threads[number]
        return None

    def notice(self, text: str) -> None:
        """Report a message about the programs to the user, once."""
        if text not in self._noticed and self._on_notice is not None:
            self._noticed.add(text)
            self._on_notice(text)

    def fire_timers(self) -> None:
        """Send the signals of timers that have expired."""
        for process in self.processes.values():
            if process.has_timers:
                process.fire_timers()
        for file in self.timer_files:
            file.fire()

    def timer_ends(self) -> list[int]:
        """Expiry times of the real-time timers, by the monotonic clock."""
        left = [process.real_time_left() for process in self.processes.values() if process.has_timers]
        left += [file.timer.left() for file in self.timer_files]
        return [self.clock.monotonic() + one for one in left if one is not None]

    def close(self) -> None:
        """Release everything at the end of the run."""
        self.wakeup.close()
        self._on_notice = self.host = self._running = None  # they hold this, with all memory
        self.schedule.close()
