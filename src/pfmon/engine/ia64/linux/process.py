"""One Linux process with one thread: what the run loop starts, and calls at breaks, faults and timers."""

from __future__ import annotations

import fcntl
import os

from pfmon.engine.ia64.linux import calls, delivery, loader, open_flags
from pfmon.engine.ia64.linux.clock import Clock
from pfmon.engine.ia64.linux.errors import Restart, Terminated, error_number
from pfmon.engine.ia64.linux.files import FileTable
from pfmon.engine.ia64.linux.interface import (
    Exit,
    GuestMemoryFault,
    GuestMemoryLimit,
)
from pfmon.engine.ia64.linux.layout import BACKING_STORE, STACK_TOP
from pfmon.engine.ia64.linux.limits import Limits
from pfmon.engine.ia64.linux.mappings import Mappings
from pfmon.engine.ia64.linux.numbers import FIRST, NAMES
from pfmon.engine.ia64.linux.paths import Paths
from pfmon.engine.ia64.linux.random import RandomBytes
from pfmon.engine.ia64.linux.signal_table import SIGBUS
from pfmon.engine.ia64.linux.signals import SI_KERNEL, Signal, Signals, kill_info
from pfmon.engine.ia64.linux.structures import SIGINFO_FAULT
from pfmon.engine.ia64.linux.timers import Timers
from pfmon.engine.ia64.linux.umask import Umask
from pfmon.engine.ia64.linux.user import WRITE, UserMemory
from pfmon.engine.ia64.linux.wakeup import Wakeup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pfmon.engine.ia64.linux.files import OpenFile
    from pfmon.engine.ia64.linux.interface import (
        Death,
        End,
        Memory,
        Registers,
    )
    from pfmon.engine.settings import Settings
    from pfmon.program.image import Program

EFAULT, ENOMEM, ENOSYS = 14, 12, 38
MASK = (1 << 64) - 1
ISR_VALID = 1


def _nobody(_: str) -> None:
    """Listens to no notice."""


class Process:
    """The kernel's side of a process. Pass the program's descriptors, directory and memory through here only.

    arguments[0] is the program's name as it sees it; environment is [b"NAME=value"].
    """

    def __init__(
        self,
        program: Program,
        arguments: Sequence[bytes],
        environment: Sequence[bytes],
        settings: Settings,
        memory: Memory,
        registers: Registers,
        on_notice: Callable[[str], None] = _nobody,
    ) -> None:
        """``on_notice`` gets what the user should know of the program, when it happens."""
        self.program = program
        self.arguments = list(arguments)
        self.environment = list(environment)
        self.settings = _with_host_ids(settings) if settings.host_ids else settings
        self.memory = memory
        self.user = UserMemory(memory)
        self.registers = registers
        self.clock = Clock(settings, lambda: registers.retired)
        self.timers = Timers(self.clock)
        self.signals = Signals()
        self.random = RandomBytes(settings.seed, settings.host_random)
        self.limits = Limits(settings.stack_size)
        self.files = FileTable(self.limits.open_files(), settings.standard_files)
        self.paths = Paths(settings.sysroot, os.fsencode(program.image.path), settings.process_id)
        self.mappings = Mappings(memory)
        self.umask = Umask()
        self.wakeup = Wakeup()
        page = memory.page_size
        self.first_break = (program.image.end + page - 1) & -page
        self.current_break = self.first_break
        self.name = os.path.basename(self.paths.program)[:15]
        self.robust_list = 0
        self._noticed: set[str] = set()
        self._on_notice = on_notice
        self._finished = False

    def start(self) -> None:
        """Map the program and set the registers that Linux sets, all others being 0. Raises PfmonError."""
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
        r.set_ar("rsc", delivery.EAGER_RSE)
        r.set_ar("bspstore", BACKING_STORE)
        r.set_ar("fpsr", delivery.FPSR_DEFAULT)
        r.set_um(0)
        r.set_ip(self.program.entry & -16)

    def system_call(self) -> End | None:
        """Carry out the system call whose break instruction has just retired (number in r15)."""
        number = self.registers.gr(15)
        restart = returns = False
        try:
            handler, count = calls.HANDLERS.get(number, (None, 0))
            if handler is None:
                self._unsupported(number)
                self.set_result(ENOSYS, failed=True)
            else:
                result = handler(self, *[self.registers.out_argument(i) for i in range(count)])
                returns = result is None
                if result is not None:
                    self.set_result(result)
        except Terminated as end:
            return self._finish(end.end)
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
        self.fire_timers()
        return self._finish(delivery.deliver(self, in_call=not returns, restart=restart))

    def fault(self, kind: int, address: int, code: int) -> Death | None:
        """The processor faulted (enum Fault): go on with a handler or again with the instruction, or the end.

        address: for memory faults the address that was used; code: ISR.code, for a break its immediate.
        """
        from pfmon.engine.ia64.encodings.faults import Fault
        from pfmon.engine.ia64.linux import faults  # most programs never fault

        cause = faults.cause(kind, code)
        text = cause.text if cause.at_ip else f"{cause.text} {address:#x}"
        signal, si_code = cause.signal, cause.code
        if kind == Fault.FAULT_BREAK:  # a break is a fault: it has not been executed
            self.registers.set_ip(delivery.previous_slot(self.registers.ip))
        if kind == Fault.FAULT_DATA_ACCESS_RIGHTS:
            if self.mappings.grow(address):
                return None
            if self.mappings.beyond_file(address):
                signal, si_code, text = (
                    SIGBUS,
                    faults.BUS_ADRERR,
                    f"the mapped file has ended before {address:#x}",
                )
        at = self.registers.ip if cause.at_ip else address
        immediate = code if kind == Fault.FAULT_BREAK else 0
        isr = 0 if kind == Fault.FAULT_BREAK else code
        flags = 0 if kind == Fault.FAULT_BREAK else ISR_VALID
        info = SIGINFO_FAULT.pack(signal, 0, si_code, at & MASK, _int(immediate), flags, isr & MASK)
        end = delivery.force(self, Signal(signal, info, text))
        self._finish(end)
        return end

    def pending_signals(self) -> End | None:
        """Let timers that have expired and signals that were sent take effect."""
        self.fire_timers()
        return self._finish(delivery.deliver(self))

    def next_timer(self) -> int | None:
        """The count of retired instructions at which to call pending_signals, None if no timer runs."""
        expiry = self.timers.next_expiry()
        return None if expiry is None else self.clock.instructions_until(expiry)

    def send(self, number: int) -> None:
        """Send a signal from outside; it takes effect at the next pending_signals or system call."""
        self.signals.send(Signal(number, kill_info(number, SI_KERNEL, 0, 0)))

    def close(self) -> None:
        """Give back what the process holds of the host: after its end, or when it is not to go on."""
        self._finish(Exit(0))

    # What system calls use:

    def set_result(self, value: int, failed: bool = False) -> None:
        """Result registers: r8 the value or errno, r10 0 or -1."""
        self.registers.set_gr(8, value & MASK)
        self.registers.set_gr(10, MASK if failed else 0)

    def fire_timers(self) -> None:
        """Make the signals of expired timers pending."""
        for number in self.timers.expired():
            self.send(number)

    def is_own(self, process_id: int) -> bool:
        """Whether a process, group or thread id is the program's: 0 means its own."""
        return process_id in (0, self.settings.process_id)

    def file_flags(self, file: OpenFile) -> int:
        """The flags of an open file as F_GETFL returns them to the program."""
        return open_flags.to_guest(fcntl.fcntl(file.host, fcntl.F_GETFL))

    def check_writable(self, address: int, length: int) -> None:
        """GuestMemoryFault unless the program could write to the whole range."""
        usable = self.user.prefix(address & MASK, length, WRITE)
        if address < 0 or usable < length:
            raise GuestMemoryFault(address + usable)

    def notice(self, text: str) -> None:
        """Tell the user something about the program, once."""
        if text not in self._noticed:
            self._noticed.add(text)
            self._on_notice(text)

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

    def _finish(self, end: End | None) -> End | None:
        """At the end of the process: shared mappings go to their files, descriptors are closed."""
        if end is not None and not self._finished:
            self._finished = True
            try:
                self.mappings.close()
            except OSError as error:
                self.notice(f"cannot write back a mapped file: {error.strerror}")
            self.files.close_all()
            self.paths.close()
            self.wakeup.close()
            self._on_notice = _nobody  # who listens may hold this process, with its memory
        return end


def _int(value: int) -> int:
    """The low 32 bits as a C int."""
    value &= 0xFFFFFFFF
    return value - (value >> 31 << 32)


def _with_host_ids(settings: Settings) -> Settings:
    return settings._replace(
        process_id=os.getpid(),
        parent_id=os.getppid(),
        user_id=os.getuid(),
        group_id=os.getgid(),
        host_name=os.uname().nodename,
    )
