"""The ABI of Linux for an instruction set: numbers of calls, registers, layouts, addresses, signal frames.

The rest of the Linux layer knows no instruction set. One ABI is a folder beside this module, and the engine of its
programs hands it to the first process (kernel.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from struct import Struct
from typing import NamedTuple, Protocol, TypeVar

from pfmon.engine.guest_memory import Memory
from pfmon.engine.guest_pmu import ProgramPmu
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.linux.memory.user_memory import UserMemory
from pfmon.engine.linux.process.engine_interface import Registers
from pfmon.engine.linux.signals.signals import Action, Signal, Signals
from pfmon.stream._stream import InstructionSet

R = TypeVar("R", bound=Registers, contravariant=True)


class AddressLayout(NamedTuple):
    """Addresses of a process. ``map_base``, ``map_end``: where mmap places what may be anywhere; the stack's size and
    that of the heap are limits of their own."""

    stack_top: int
    map_base: int
    map_end: int
    max_break_bytes: int


class ProcessorFault(NamedTuple):
    """The signal of a processor fault: number, si_code, the text if it kills, si_addr, and what the instruction set's
    siginfo has behind that; ``denied``: the access that the page's protection forbids, which a mapped file that has
    grown may allow."""

    signal: int
    code: int
    text: str
    address: int
    details: bytes = b""
    denied: int | None = None


class LinuxAbi(Protocol[R]):
    """An instruction set's ABI. Registers are those of the running thread, between two instructions."""

    @property
    def name(self) -> str:
        """The instruction set's name for users."""

    @property
    def instruction_set(self) -> InstructionSet:
        """The instruction set of programs that execve may begin."""

    @property
    def machine(self) -> str:
        """utsname.machine."""

    # --- system calls

    @property
    def call_numbers(self) -> Mapping[str, int]:
        """Numbers of the system calls by name; names are the same for all instruction sets."""

    @property
    def call_modules(self) -> Sequence[str]:
        """Modules whose ``CALLS`` (a `CallTable`) has calls that only this instruction set has, or has in its own form,
        and modules that functions of those import."""

    def call_text(self, number: int) -> str:
        """A call in a message: its name, or its number."""

    def call_number(self, registers: R) -> int:
        """The number of the system call that the program makes."""

    def arguments(self, registers: R, count: int) -> list[int]:
        """The call's first arguments, as unsigned 64-bit numbers."""

    def set_result(self, registers: R, value: int) -> None:
        """Return a value from the call."""

    def set_error(self, registers: R, number: int) -> None:
        """Return an error number from the call."""

    def repeat_call(self, registers: R) -> None:
        """Go back to the instruction that made the call, with the same arguments."""

    # --- the address space

    @property
    def layout(self) -> AddressLayout:
        """Addresses of a process."""

    def in_user_space(self, address: int, length: int) -> bool:
        """Whether a range can be mapped by programs."""

    def map_additions(self, memory: Memory, settings: GuestSettings) -> None:
        """Map what a process has besides program and stack: pages of the kernel, further stacks."""

    # --- programs and threads

    @property
    def clock_ticks(self) -> int:
        """AT_CLKTCK: the kernel's HZ as programs see it."""

    @property
    def auxiliary(self) -> Sequence[tuple[int, int]]:
        """Entries of the auxiliary vector that the instruction set decides (AT_HWCAP, ...), which come first."""

    def begin_program(self, registers: R, entry: int, pointer: int) -> None:
        """Set the registers that Linux sets for an executed program (all are 0): its entry and the stack pointer."""

    def begin_thread(self, registers: R, stack: int, size: int | None, tls: int | None) -> None:
        """Make the creator's registers those of its child: the result 0; with a ``stack`` (not 0) of ``size``
        bytes (None: the address itself is the pointer) its own stack; with ``tls`` its own thread pointer."""

    def stack_pointer(self, registers: R) -> int:
        """The stack pointer."""

    def trap_unaligned(self, registers: R, on: bool) -> bool:
        """Set whether unaligned references fault (PR_SET_UNALIGN); False: the instruction set has no choice."""

    def proc_files(self) -> Mapping[bytes, Callable[[R, GuestSettings, str], bytes]]:
        """Files of /proc that show the processor, by path: made from registers, settings and the processor's name."""

    # --- signals

    @property
    def smallest_signal_stack(self) -> int:
        """MINSIGSTKSZ."""

    def fault(self, registers: R, kind: int, address: int, code: int) -> ProcessorFault:
        """The signal of a fault, by the engine's number of its kind; sets ip to the faulting instruction."""

    def enter_handler(
        self, registers: R, user: UserMemory, state: Signals, signal: Signal, action: Action, in_call: bool
    ) -> None:
        """Save registers and signal mask in a frame, and continue in the handler. ``in_call``: a call was interrupted.
        GuestMemoryFault: no room; nothing has changed then."""

    def leave_handler(self, registers: R, user: UserMemory) -> int:
        """Restore the registers of the frame at the stack pointer (rt_sigreturn); returns the signal mask in it.
        GuestMemoryFault: a bad frame."""

    # --- structures that are not the same everywhere (structures.py has those that are)

    @property
    def epoll_event(self) -> Struct:
        """struct epoll_event: events, data."""

    def pack_stat(self, status: os.stat_result, user: int, group: int) -> bytes:
        """struct stat of a file with these owners."""

    def read_action(self, user: UserMemory, address: int) -> Action:
        """A struct sigaction of the program."""

    def write_action(self, user: UserMemory, address: int, action: Action) -> None:
        """Write a struct sigaction."""

    # --- performance monitoring

    def monitoring(self, registers: R) -> bool:
        """Whether the program has its user-level monitoring on, which it may switch itself."""

    def set_monitoring(self, registers: R, on: bool) -> None:
        """Switch the program's user-level monitoring."""

    def allow_monitoring(self, registers: R, allowed: bool) -> None:
        """Whether the program may read counters with an instruction and switch its monitoring."""

    def perf_registers(self, processor: str, values: Mapping[str, int]) -> dict[str, int]:
        """All configuration registers for perf events: those of an assignment, the others as Linux initialises them."""

    def stop_counter(self, pmu: ProgramPmu, counter: int) -> None:
        """Let a counter count nothing from the next instruction on, without a commit."""
