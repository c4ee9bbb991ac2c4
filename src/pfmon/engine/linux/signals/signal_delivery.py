"""Running signal handlers: from the interrupted state to the handler's first instruction and back."""

from __future__ import annotations

import errno

from pfmon.engine.guest_memory import GuestMemoryFault
from pfmon.engine.linux.abi.structures import SIGINFO_FAULT, SIGINFO_SIZE
from pfmon.engine.linux.process.engine_interface import Death
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.signals.signal_table import SIGBUS, SIGKILL, SIGNALS, SIGSEGV
from pfmon.engine.linux.signals.signals import SA_RESTART, SI_KERNEL, SIG_DFL, SIG_IGN, Action, Signal, bit, kill_info

BUS_ADRERR = 2


def death(signal: Signal) -> Death:
    """The end of a process that a signal kills."""
    return Death(signal.number, signal.text or SIGNALS[signal.number].text)


def deliver(process: Process, in_call: bool = False, restart: bool = False) -> Death | None:
    """Act on pending signals: set up handlers, in order, or end the process.

    restart: they interrupted a system call; it starts again unless a handler without SA_RESTART runs first.
    """
    state = process.signals
    delivered = False
    while (signal := state.next()) is not None:
        action = state.action(signal.number)
        if state.shared.traced and signal.number != SIGKILL and process.family.injected is not signal:
            process.family.injected = signal
            process.stop(signal.number)
            break
        process.family.injected = None
        if state.ignores(signal.number):
            continue
        if state.stops(signal.number):
            process.stop(signal.number)
            break
        if action.handler == SIG_DFL:
            return death(signal)
        if restart and not delivered and not action.flags & SA_RESTART:
            process.abi.set_error(process.registers, errno.EINTR)
            restart = False
        if restart:
            process.abi.repeat_call(process.registers)
            restart = False
        end = _run_handler(process, signal, action, in_call and not delivered)
        if end is not None:
            return end
        delivered = True
    if restart:
        process.abi.repeat_call(process.registers)
    if not delivered and state.saved_mask is not None:
        state.set_blocked(state.saved_mask)
        state.saved_mask = None
    return None


def force(process: Process, signal: Signal) -> Death | None:
    """Deliver a signal that the program itself caused: a blocked or ignored one ends the process."""
    state = process.signals
    action = state.action(signal.number)
    if action.handler in (SIG_DFL, SIG_IGN) or state.blocked & bit(signal.number):
        return death(signal)
    return _run_handler(process, signal, action, False)


def _run_handler(process: Process, signal: Signal, action: Action, in_call: bool) -> Death | None:
    """Set up a handler's frame; failure sends SIGSEGV, and then ends the process."""
    try:
        process.abi.enter_handler(process.registers, process.user, process.signals, signal, action, in_call)
    except GuestMemoryFault as fault:
        text = f"no stack at {fault.address:#x} for the handler of {SIGNALS[signal.number].name}"
        forced = Signal(SIGSEGV, kill_info(SIGSEGV, SI_KERNEL, 0, 0), text)
    else:
        process.signals.handler_begins(signal.number)
        return None
    if signal.number == SIGSEGV:
        return death(forced)
    return force(process, forced)


def sigreturn(process: Process) -> Death | None:
    """rt_sigreturn: continue at the interrupted instruction, with the frame at the stack pointer."""
    try:
        process.signals.set_blocked(process.abi.leave_handler(process.registers, process.user))
        return None
    except GuestMemoryFault as fault:
        text = f"return from a signal handler with a bad frame (address {fault.address:#x})"
        return force(process, Signal(SIGSEGV, kill_info(SIGSEGV, SI_KERNEL, 0, 0), text))


def deliver_fault(process: Process, kind: int, address: int, code: int) -> Death | None:
    """Send the signal of a fault to the running thread, unless the fault can be resolved (kernel.fault)."""
    found = process.abi.fault(process.registers, kind, address, code)
    if found.denied is not None:
        if process.mappings.grow(found.denied):
            return None
        if process.mappings.beyond_file(found.denied):
            text = f"the mapped file has ended before {found.denied:#x}"
            found = found._replace(signal=SIGBUS, code=BUS_ADRERR, text=text)
    info = SIGINFO_FAULT.pack(found.signal, 0, found.code, found.address) + found.details
    return force(process, Signal(found.signal, info.ljust(SIGINFO_SIZE, b"\0"), found.text))
