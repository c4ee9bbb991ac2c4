"""One Linux process: what the kernel knows of it. What happens to it is in kernel.py and the modules of the calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pfmon.engine.guest_memory import Memory
from pfmon.engine.guest_pmu import ProgramPmu
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.linux.abi.linux_abi import LinuxAbi
from pfmon.engine.linux.abi.structures import SIGINFO_CHILD
from pfmon.engine.linux.files import host_files, open_flags
from pfmon.engine.linux.files.file_table import FileTable, OpenFile
from pfmon.engine.linux.files.paths import Paths
from pfmon.engine.linux.memory.mappings import Mappings
from pfmon.engine.linux.memory.user_memory import UserMemory
from pfmon.engine.linux.process import loader
from pfmon.engine.linux.process.engine_interface import Registers
from pfmon.engine.linux.process.process_tree import (
    CLD_CONTINUED,
    CLD_STOPPED,
    CLD_TRAPPED,
    CONTINUED,
    SA_NOCLDSTOP,
    STOPPED,
    ProcessTree,
    StopReport,
)
from pfmon.engine.linux.process.random_bytes import RandomBytes
from pfmon.engine.linux.process.rlimits import ResourceLimits
from pfmon.engine.linux.process.system import Host, System
from pfmon.engine.linux.process.thread import Thread
from pfmon.engine.linux.process.umask import Umask
from pfmon.engine.linux.signals.signal_table import SIGCHLD, SIGCONT, SIGKILL
from pfmon.engine.linux.signals.signals import SI_KERNEL, Signal, Signals, kill_info
from pfmon.engine.linux.time.clock import Clock, CpuTime
from pfmon.engine.linux.time.interval_timers import IntervalTimers
from pfmon.engine.linux.time.posix_timers import PosixTimer
from pfmon.program.image import Program


class PmuOwners(Protocol):
    """The owners of a process's PMU (perf/pmu_ownership.py), as far as they follow the process."""

    def switched(self) -> None:
        """Another thread of the process runs."""

    def thread_ended(self, thread: int) -> None:
        """A thread is about to end."""

    def rotate_if_due(self) -> None:
        """The program was stopped, perhaps to rotate perf events."""

    def switch_events(self, on: bool) -> None:
        """Enable or disable the perf events of the process (prctl)."""

    def unload_all(self, ended: bool) -> None:
        """The process has ``ended``, or executes another program."""

    def begin_program(self) -> None:
        """The process has begun an executed program."""


class WatchingFile(Protocol):
    """A file that shows pending signals (signalfd)."""

    def update_readiness(self) -> None:
        """Pending signals have changed."""


def _nobody(_: str) -> None:
    """Ignores notices."""


class Process:
    """The kernel's side of a process. The program's descriptors, directory and memory are accessed through it only.

    arguments[0] is the program's name as it sees it; environment is [b"NAME=value"].
    """

    def __init__(
        self,
        program: Program,
        arguments: Sequence[bytes],
        environment: Sequence[bytes],
        settings: GuestSettings,
        memory: Memory,
        registers: Registers,
        abi: LinuxAbi[Any],
        on_notice: Callable[[str], None] = _nobody,
        host: Host | None = None,
    ) -> None:
        """The first process of a system. ``abi``: of its instruction set; ``on_notice`` is called with messages for the
        user while the program runs; ``host`` gives processors to its children."""
        self.abi = abi
        self.program = program
        self.arguments = list(arguments)
        self.environment = list(environment)
        self.settings = _with_host_ids(settings) if settings.host_ids else settings
        self.memory = memory
        self.user = UserMemory(memory)
        self.registers = registers
        self.system = System(self.settings, on_notice, host)
        self.used = CpuTime(registers)
        self._since = 0
        self.posix_timers: dict[int, PosixTimer] = {}
        self.clock = self.new_clock()
        self.timers = IntervalTimers(self.clock)
        self.random = RandomBytes(settings.seed, settings.host_random)
        self.limits = ResourceLimits(settings.stack_size)
        self.files = FileTable(self.limits.open_files(), settings.standard_files, self.system.notice)
        self.paths = Paths(settings.sysroot, os.fsencode(program.image.path), settings.process_id, settings.confined)
        self.mappings = Mappings(memory, self.system.mappings)
        self.umask = Umask()
        self.set_first_break()
        self.unaligned = 0
        """Treatment of unaligned references (prctl, PR_SET_UNALIGN)."""
        self.processor = ""
        """The name of the processor that the program sees."""
        self.pmu: ProgramPmu | None = None
        self.owners: PmuOwners | None = None
        self.is_over = False
        """Whether the process has ended."""
        self.family = ProcessTree(self.settings.process_id, None, self.settings.parent_id)
        self.threads: dict[int, Thread] = {}
        self.signal_files: list[WatchingFile] = []
        self.thread = self.add_thread(self.process_id, Signals())
        self.thread.name = os.path.basename(self.paths.program)[:15]
        self.system.processes[self.process_id] = self
        self.system.run(self)
        self.system.schedule.next()

    def new_clock(self) -> Clock:
        """Its clock: the system's time and its own retired instructions."""
        used = self.used
        return Clock(self.settings, self.system, lambda: used.instructions)

    @property
    def process_id(self) -> int:
        """Its number."""
        return self.family.process_id

    @property
    def signals(self) -> Signals:
        """The signals of the running thread."""
        return self.thread.signals

    def add_thread(self, number: int, signals: Signals) -> Thread:
        """Add a runnable thread; its registers are those in the processor until `switch_to` another one."""
        thread = Thread(self, number, self.family.threads_made, signals)
        self.family.threads_made += 1
        self.threads[number] = thread
        self.system.schedule.add(thread)
        return thread

    def switch_to(self, thread: Thread) -> None:
        """Switch to another of its threads."""
        if thread is not self.thread:
            if self.thread.number in self.threads:
                self.thread.context = self.registers.context()
                self.thread.retired = self.thread_retired
            assert thread.context
            self.registers.resume(thread.context)
            thread.context = None
            self.thread, self._since = thread, self.used.instructions
            if self.owners is not None:
                self.owners.switched()
        self.system.run(self)

    @property
    def thread_retired(self) -> int:
        """Instructions of the running thread."""
        return self.thread.retired + self.used.instructions - self._since

    def time_of(self, thread: Thread) -> int:
        """Processor time that a thread has used (CLOCK_THREAD_CPUTIME_ID)."""
        retired = self.thread_retired if thread is self.thread else thread.retired
        return retired * self.settings.nanoseconds_per_instruction

    @property
    def has_timers(self) -> bool:
        """Whether a timer is set."""
        return self.timers.running or bool(self.posix_timers)

    def real_time_left(self) -> int | None:
        """Time until the next timer that runs while the process waits."""
        left = [self.timers.real_time_left(), *(timer.left() for timer in self.posix_timers.values() if timer.real)]
        return min((one for one in left if one is not None), default=None)

    def begin_as_child(self, memory: Memory, registers: Registers) -> None:
        """Start a child as a copy of its parent, with its own memory and registers."""
        self.memory, self.user, self.registers = memory, UserMemory(memory), registers
        self.used, self._since = CpuTime(registers), 0
        self.clock = self.new_clock()
        self.timers = IntervalTimers(self.clock)
        self.posix_timers = {}
        self.threads = {}
        self.signal_files = []
        self.pmu = self.owners = None

    def begin_program(self, memory: Memory, registers: Registers) -> None:
        """Continue with an executed program's memory and processor."""
        if self.owners is not None:
            self.owners.unload_all(ended=False)
        self.pmu = None
        self.memory, self.user, self.registers = memory, UserMemory(memory), registers
        self.used.go_on_with(registers)
        self.posix_timers = {}
        self.mappings = Mappings(memory, self.system.mappings)
        self.mappings.code.publish_code = registers.set_files

    def set_first_break(self) -> None:
        """Start the heap after the program."""
        page = self.memory.page_size
        self.first_break = self.current_break = (self.program.image.end + page - 1) & -page

    def start(self) -> None:
        """Map the program and set the registers that Linux sets; all others are 0. Raises PfmonError."""
        s = self.settings
        first = loader.load(
            self.memory,
            self.program,
            self.arguments,
            self.environment,
            s,
            (s.user_id, s.group_id),
            self.random.take(16),
            self.abi,
        )
        self.abi.begin_program(self.registers, self.program.entry, first.pointer)

    def next_timer(self) -> int | None:
        """The count of the present program's retired instructions at which to call pending_signals; None if no timer
        runs."""
        left = self.timers.left()
        left += [one for timer in self.posix_timers.values() if (one := timer.left()) is not None]
        if not left:
            return None
        return self.clock.instructions_until(self.clock.processor() + min(left)) - self.used.before

    def send(self, signal: Signal, thread: Thread | None = None) -> None:
        """Send a signal, to one thread or to any thread; it takes effect when that thread runs."""
        if self.family.stopped and signal.number in (SIGCONT, SIGKILL):
            self.go_on(report=signal.number == SIGCONT)
        if thread is not None:
            thread.signals.send(signal)
            self._wake([thread], signal)
        elif self.threads:
            takers = [one for one in self.threads.values() if one.signals.interrupts(signal.number)]
            (takers[0] if takers else self.thread).signals.send(signal, to_process=True)
            self._wake(takers or list(self.threads.values()), signal)
        self._notify_signal_files()

    def stop(self, number: int) -> None:
        """Stop all threads until the process is continued: by a signal, for job control or for a tracer (ptrace)."""
        self.family.stopped = True
        for thread in self.threads.values():
            self.system.schedule.stop(thread)
        traced = self.family.tracer is not None
        self._report(number << 8 | STOPPED, CLD_TRAPPED if traced else CLD_STOPPED, number)

    def go_on(self, *, report: bool) -> None:
        """Continue the process. ``report``: notify waiters for that (SIGCONT)."""
        if not self.family.stopped:
            return
        self.family.stopped = False
        for thread in self.threads.values():
            self.system.schedule.release(thread)
        if report:
            self._report(CONTINUED, CLD_CONTINUED, SIGCONT)

    def _report(self, status: int, code: int, number: int) -> None:
        told = self.family.watcher
        if told is None:
            return
        family = told.family
        family.stops = [one for one in family.stops if one.process is not self]
        family.stops.append(StopReport(self, status))
        if not told.signals.action(SIGCHLD).flags & SA_NOCLDSTOP:
            user = self.settings.user_id
            info = SIGINFO_CHILD.pack(SIGCHLD, 0, code, self.process_id, user, number, 0, 0)
            told.send(Signal(SIGCHLD, info))
        told.wake_waiting_for_children()

    def wake_waiting_for_children(self) -> None:
        """Wake threads that wait for a child or traced process, after one ended, stopped or continued."""
        for thread in self.threads.values():
            if thread.wait and thread.wait.children:
                self.system.schedule.wake(thread)

    def _notify_signal_files(self) -> None:
        """Update signalfd files after a change of pending signals."""
        for file in self.signal_files:
            file.update_readiness()

    def own_signal(self, number: int, code: int) -> Signal:
        """A signal sent by this process, to itself or to another one."""
        return Signal(number, kill_info(number, code, self.process_id, self.settings.user_id))

    def _wake(self, threads: Sequence[Thread], signal: Signal) -> None:
        """Wake the first of these threads whose wait the signal ends."""
        for thread in threads:
            if thread.wait and thread.signals.interrupts(signal.number, thread.wait.signals):
                self.system.schedule.wake(thread)
                return

    # Used by system calls:

    def fire_timers(self) -> None:
        """Make the signals of expired timers pending."""
        for number in self.timers.expired():
            self.send(Signal(number, kill_info(number, SI_KERNEL, 0, 0)))
        for timer in self.posix_timers.values():
            if signal := timer.fire(self._is_pending):
                self.send(signal, timer.thread)

    def _is_pending(self, signal: Signal) -> bool:
        return any(thread.signals.has(signal) for thread in self.threads.values())

    def is_own(self, process_id: int) -> bool:
        """Whether a process or thread id is the program's own; 0 is."""
        return process_id in (0, self.process_id) or process_id in self.threads

    def file_flags(self, file: OpenFile) -> int:
        """The flags of an open file as F_GETFL returns them to the program."""
        return open_flags.to_guest(host_files.flags(file.host))

    def notice(self, text: str) -> None:
        """Report a message about the program to the user, once."""
        self.system.notice(text)

    def region_name(self, start: int, end: int) -> str:
        """The name that /proc/PID/maps gives to a region."""
        if end == self.abi.layout.stack_top:
            return "[stack]"
        if self.first_break <= start < self.current_break:
            return "[heap]"
        mapping = self.mappings.at(start)
        if mapping is not None:
            return os.fsdecode(mapping.file.path)
        for image in self.program.images:
            if any(
                start < image.bias + s.address + s.memory_size and image.bias + s.address < end
                for s in image.elf.segments
            ):
                return os.path.abspath(image.path)
        return ""


def _with_host_ids(settings: GuestSettings) -> GuestSettings:
    return settings._replace(
        process_id=os.getpid(),
        parent_id=os.getppid(),
        user_id=os.getuid(),
        group_id=os.getgid(),
        host_name=os.uname().nodename,
    )
