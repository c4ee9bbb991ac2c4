"""One Linux process: started by the run loop and called at breaks, faults and timers of the running thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pfmon.engine.guest_pmu import ProgramPmu
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.linux import calls
from pfmon.engine.linux.abi.ia64.layout import BACKING_STORE, STACK_TOP
from pfmon.engine.linux.abi.ia64.syscall_numbers import FIRST, NAMES
from pfmon.engine.linux.files import host_files, open_flags
from pfmon.engine.linux.files.file_table import FileTable, OpenFile
from pfmon.engine.linux.files.paths import Paths
from pfmon.engine.linux.memory.mappings import Mappings
from pfmon.engine.linux.memory.user_memory import WRITE, UserMemory
from pfmon.engine.linux.process import futexes, job_control, loader, process_exit
from pfmon.engine.linux.process.engine_interface import (
    Death,
    End,
    Exit,
    GuestMemoryFault,
    GuestMemoryLimit,
    Memory,
    Registers,
)
from pfmon.engine.linux.process.process_tree import ProcessTree
from pfmon.engine.linux.process.random_bytes import RandomBytes
from pfmon.engine.linux.process.rlimits import ResourceLimits
from pfmon.engine.linux.process.syscall_errors import Restart, Terminated, ThreadEnded, error_number
from pfmon.engine.linux.process.system import Host, System
from pfmon.engine.linux.process.thread import Blocked, Thread
from pfmon.engine.linux.process.umask import Umask
from pfmon.engine.linux.signals import signal_delivery
from pfmon.engine.linux.signals.signal_table import SIGCONT, SIGKILL
from pfmon.engine.linux.signals.signals import SI_KERNEL, Signal, Signals, kill_info
from pfmon.engine.linux.time.clock import Clock, CpuTime
from pfmon.engine.linux.time.interval_timers import IntervalTimers
from pfmon.engine.linux.time.posix_timers import PosixTimer
from pfmon.program.image import Program

if TYPE_CHECKING:
    from pfmon.engine.linux.files.event_files import SignalFile
    from pfmon.engine.linux.perf.pmu_ownership import PmuOwnership


EFAULT, ENOMEM, ENOSYS = 14, 12, 38
MASK = (1 << 64) - 1


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
        on_notice: Callable[[str], None] = _nobody,
        host: Host | None = None,
    ) -> None:
        """The first process of a system. ``on_notice`` is called with messages for the user while the program runs;
        ``host`` gives processors to its children."""
        calls.load_all()
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
        self.processor = "itanium2"
        self.pmu: ProgramPmu | None = None
        self.owners: PmuOwnership | None = None
        self._finished = False
        self.family = ProcessTree(self.settings.process_id, None, self.settings.parent_id)
        self.threads: dict[int, Thread] = {}
        self.signal_files: list[SignalFile] = []
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
        )
        r = self.registers
        r.set_cfm(0)
        r.set_gr(12, first.pointer)
        r.set_ar("rsc", signal_delivery.EAGER_RSE)
        r.set_ar("bspstore", BACKING_STORE)
        r.set_ar("fpsr", signal_delivery.FPSR_DEFAULT)
        r.set_um(0)
        r.set_ip(self.program.entry & -16)

    def system_call(self) -> End | None:
        """Carry out the system call of the last break instruction (number in r15). A call that waits parks the thread
        and is called again at the thread's next turn (``thread.wait``)."""
        thread = self.thread
        number = self.registers.gr(15)
        restart = returns = False
        try:
            handler, count = calls.handler(number)
            if handler is None:
                self._unsupported(number)
                self.set_result(ENOSYS, failed=True)
            else:
                result = handler(self, *[self.registers.out_argument(i) for i in range(count)])
                returns = result is None
                if result is not None:
                    self.set_result(result)
        except Terminated as end:
            return self.finish(end.end)
        except Blocked as blocked:
            thread.wait = blocked.wait
            self.system.schedule.park(thread)
            return None
        except ThreadEnded:
            return None
        except Restart:
            restart = True
        except GuestMemoryFault:
            self.set_result(EFAULT, failed=True)
        except GuestMemoryLimit:
            self.set_result(ENOMEM, failed=True)
        except (OSError, MemoryError, OverflowError) as error:
            errno = error_number(error)
            if errno is None:
                raise
            self.set_result(errno, failed=True)
        finally:
            self.paths.close_held()
        thread.wait, thread.done = None, 0
        self.fire_timers()
        return self.finish(signal_delivery.deliver(self, in_call=not returns, restart=restart))

    def fault(self, kind: int, address: int, code: int) -> Death | None:
        """Handle a processor fault (enum Fault): continue in a handler, repeat the instruction, or end.

        address: for memory faults the address that was used; code: ISR.code, for a break its immediate.
        """
        from pfmon.engine.linux.signals import fault_signals

        end = fault_signals.deliver_fault(self, kind, address, code)
        self.finish(end)
        return end

    def pending_signals(self) -> End | None:
        """Apply expired timers and pending signals."""
        self.fire_timers()
        return self.finish(signal_delivery.deliver(self))

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
            job_control.go_on(self, report=signal.number == SIGCONT)
        if thread is not None:
            thread.signals.send(signal)
            self._wake([thread], signal)
        elif self.threads:
            takers = [one for one in self.threads.values() if one.signals.interrupts(signal.number)]
            (takers[0] if takers else self.thread).signals.send(signal, to_process=True)
            self._wake(takers or list(self.threads.values()), signal)
        self._notify_signal_files()

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

    def close(self) -> None:
        """Release host resources of the process, and of the system for the first one."""
        self.finish(Exit(0))
        self.system.close()
        if hasattr(self, "thread"):
            del self.thread  # breaks a reference cycle, so that memory is freed at once

    # Used by system calls:

    @property
    def is_over(self) -> bool:
        """Whether the process has ended."""
        return self._finished

    def set_result(self, value: int, failed: bool = False) -> None:
        """Result registers: r8 the value or errno, r10 0 or -1."""
        self.registers.set_gr(8, value & MASK)
        self.registers.set_gr(10, MASK if failed else 0)

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

    def check_writable(self, address: int, length: int) -> None:
        """GuestMemoryFault unless the program could write to the whole range."""
        usable = self.user.prefix(address & MASK, length, WRITE)
        if address < 0 or usable < length:
            raise GuestMemoryFault(address + usable)

    def notice(self, text: str) -> None:
        """Report a message about the program to the user, once."""
        self.system.notice(text)

    def region_name(self, start: int, end: int) -> str:
        """The name that /proc/PID/maps gives to a region."""
        if end == STACK_TOP:
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

    def _unsupported(self, number: int) -> None:
        name = NAMES.get(number)
        what = name if name else f"number {number} ({number - FIRST:+d})"
        self.notice(f"system call {what} is not supported; it returns ENOSYS")

    def finish(self, end: End | None) -> End | None:
        """End the process: threads end, shared mappings are written back, descriptors are closed."""
        if end is not None and not self._finished:
            self._finished = True
            if self.owners is not None:
                self.owners.unload_all(ended=True)
            for thread in list(self.threads.values()):
                futexes.give_up_robust_list(self, thread)
                self.system.schedule.remove(thread)
            self.threads.clear()
            try:
                self.mappings.close()
            except OSError as error:
                self.notice(f"cannot write back a mapped file: {error.strerror}")
            self.files.close_all()
            self.paths.close()
            process_exit.process_ended(self, end)
        return end


def _with_host_ids(settings: GuestSettings) -> GuestSettings:
    return settings._replace(
        process_id=os.getpid(),
        parent_id=os.getppid(),
        user_id=os.getuid(),
        group_id=os.getgid(),
        host_name=os.uname().nodename,
    )
