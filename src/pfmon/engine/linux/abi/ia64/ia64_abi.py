"""The ABI of Linux for IA-64: a call is ``break 0x100000`` with its number in r15 and arguments in output registers; r8
is the result, r10 is 0, or -1 when r8 is an error number."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from struct import Struct

from pfmon.engine.guest_memory import Memory
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.linux.abi.ia64 import fault_causes, handler_entry, layout, syscall_numbers
from pfmon.engine.linux.abi.ia64.ia64_registers import Ia64Registers, previous_slot
from pfmon.engine.linux.abi.ia64.perfmon import kernel_registers
from pfmon.engine.linux.abi.ia64.proc_files import PROC_FILES
from pfmon.engine.linux.abi.ia64.register_stack import EAGER_RSE
from pfmon.engine.linux.abi.linux_abi import AddressLayout, LinuxAbi, ProcessorFault
from pfmon.engine.linux.memory.user_memory import UserMemory
from pfmon.engine.linux.signals.signals import Action, Signal, Signals
from pfmon.program.initial_stack import AT_HWCAP
from pfmon.stream._stream import InstructionSet

MASK = (1 << 64) - 1
CALL_NUMBER, RESULT, FAILED, STACK_POINTER, THREAD_POINTER = 15, 8, 10, 12, 13
"""General registers of system calls and of the software conventions."""
STACK_SCRATCH = 16
"""Bytes above the stack pointer that a callee may write (software conventions, chapter 8)."""
UM_UP, UM_AC = 1 << 2, 1 << 3
"""User mask: user monitors are on, unaligned references fault."""
PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4
SECOND = 1_000_000_000
ROOM = "pfmon.engine.linux.abi.ia64"

# dev ino nlink | mode uid gid pad | rdev size atime.s .ns mtime.s .ns ctime.s .ns blksize | blocks | 3 unused
STAT = Struct("<3Q4I9Qq3Q")
SIGACTION = Struct("<3Q")  # handler flags mask


class Ia64Abi:
    """`LinuxAbi` for IA-64."""

    name = "IA-64"
    instruction_set = InstructionSet.IA64
    machine = "ia64"
    call_numbers: Mapping[str, int] = syscall_numbers.NUMBERS
    call_modules: Sequence[str] = (f"{ROOM}.ia64_calls", f"{ROOM}.perfmon.perfmonctl")
    in_user_space = staticmethod(layout.in_user_space)
    layout = AddressLayout(layout.STACK_TOP, layout.MAP_BASE, layout.MAP_END, layout.MAX_BREAK_BYTES)
    clock_ticks = 1024
    auxiliary: Sequence[tuple[int, int]] = ((AT_HWCAP, 0),)
    smallest_signal_stack = 131027
    epoll_event = Struct("<I4xQ")
    perf_registers = staticmethod(kernel_registers.perf_registers)
    stop_counter = staticmethod(kernel_registers.stop_counter)

    # --- system calls

    def call_text(self, number: int) -> str:
        return syscall_numbers.NAMES.get(number) or f"number {number} ({number - syscall_numbers.FIRST:+d})"

    def call_number(self, registers: Ia64Registers) -> int:
        return registers.gr(CALL_NUMBER)

    def arguments(self, registers: Ia64Registers, count: int) -> list[int]:
        return [registers.out_argument(i) for i in range(count)]

    def set_result(self, registers: Ia64Registers, value: int) -> None:
        registers.set_gr(RESULT, value & MASK)
        registers.set_gr(FAILED, 0)

    def set_error(self, registers: Ia64Registers, number: int) -> None:
        registers.set_gr(RESULT, number)
        registers.set_gr(FAILED, MASK)

    def repeat_call(self, registers: Ia64Registers) -> None:
        registers.set_ip(previous_slot(registers.ip))

    # --- programs and threads

    def map_additions(self, memory: Memory, settings: GuestSettings) -> None:
        """The backing store of the register stack, and the gate page."""
        page = memory.page_size
        memory.map(layout.BACKING_STORE, settings.backing_store_size, PROT_READ | PROT_WRITE)
        memory.map(layout.GATE_PAGE, page, PROT_READ | PROT_EXEC)
        memory.write_initial(layout.GATE_PAGE, layout.gate_page(page))

    def begin_program(self, registers: Ia64Registers, entry: int, pointer: int) -> None:
        registers.set_cfm(0)
        registers.set_gr(STACK_POINTER, pointer)
        registers.set_ar("rsc", EAGER_RSE)
        registers.set_ar("bspstore", layout.BACKING_STORE)
        registers.set_ar("fpsr", handler_entry.FPSR_DEFAULT)
        registers.set_um(0)
        registers.set_ip(entry & -16)

    def begin_thread(self, registers: Ia64Registers, stack: int, size: int | None, tls: int | None) -> None:
        """One piece of memory holds both stacks: the register stack's begins at its lower end."""
        self.set_result(registers, 0)
        if stack:
            registers.set_gr(STACK_POINTER, stack if size is None else stack + size - STACK_SCRATCH)
            registers.begin_stack(stack)
        if tls is not None:
            registers.set_gr(THREAD_POINTER, tls)

    def stack_pointer(self, registers: Ia64Registers) -> int:
        return registers.gr(STACK_POINTER)

    def trap_unaligned(self, registers: Ia64Registers, on: bool) -> bool:
        """By PSR.ac."""
        registers.set_um(registers.um | UM_AC if on else registers.um & ~UM_AC)
        return True

    def proc_files(self) -> Mapping[bytes, Callable[[Ia64Registers, GuestSettings, str], bytes]]:
        return PROC_FILES

    # --- signals

    def fault(self, registers: Ia64Registers, kind: int, address: int, code: int) -> ProcessorFault:
        return fault_causes.fault(registers, kind, address, code)

    def enter_handler(
        self, registers: Ia64Registers, user: UserMemory, state: Signals, signal: Signal, action: Action, in_call: bool
    ) -> None:
        handler_entry.enter(registers, user, state, signal, action, in_call)

    def leave_handler(self, registers: Ia64Registers, user: UserMemory) -> int:
        return handler_entry.leave(registers, user)

    # --- structures

    def pack_stat(self, status: os.stat_result, user: int, group: int) -> bytes:
        times: list[int] = []
        for ns in (status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns):
            times += [ns // SECOND & MASK, ns % SECOND]
        head = (status.st_dev, status.st_ino, status.st_nlink, status.st_mode, user, group, 0)
        return STAT.pack(*head, status.st_rdev, status.st_size, *times, status.st_blksize, status.st_blocks, 0, 0, 0)

    def read_action(self, user: UserMemory, address: int) -> Action:
        return Action(*user.unpack(SIGACTION, address))

    def write_action(self, user: UserMemory, address: int, action: Action) -> None:
        user.pack(SIGACTION, address, action.handler, action.flags, action.mask)

    # --- performance monitoring

    def monitoring(self, registers: Ia64Registers) -> bool:
        """PSR.up."""
        return bool(registers.um & UM_UP)

    def set_monitoring(self, registers: Ia64Registers, on: bool) -> None:
        registers.set_um(registers.um | UM_UP if on else registers.um & ~UM_UP)

    def allow_monitoring(self, registers: Ia64Registers, allowed: bool) -> None:
        """By PSR.sp."""
        registers.set_secure(not allowed)


IA64: LinuxAbi[Ia64Registers] = Ia64Abi()
