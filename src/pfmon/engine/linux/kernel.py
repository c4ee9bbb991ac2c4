"""The kernel's entries: the run loop calls it at system calls, faults and timers of the running thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pfmon.engine.guest_memory import GuestMemoryFault, GuestMemoryLimit, Memory
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.linux import calls
from pfmon.engine.linux.abi.linux_abi import LinuxAbi
from pfmon.engine.linux.process import process_exit
from pfmon.engine.linux.process.engine_interface import End, Registers
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import Restart, Terminated, ThreadEnded, error_number
from pfmon.engine.linux.process.system import Host
from pfmon.engine.linux.process.thread import Blocked
from pfmon.engine.linux.signals import signal_delivery
from pfmon.program.image import Program

EFAULT, ENOMEM, ENOSYS = 14, 12, 38


def _nobody(_: str) -> None:
    """Ignores notices."""


def first_process(
    program: Program,
    arguments: Sequence[bytes],
    environment: Sequence[bytes],
    settings: GuestSettings,
    memory: Memory,
    registers: Registers,
    abi: LinuxAbi[Any],
    on_notice: Callable[[str], None] = _nobody,
    host: Host | None = None,
) -> Process:
    """The first process of a system, as `Process`, with all that its system calls need loaded."""
    loaded = calls.load(abi)
    process = Process(program, arguments, environment, settings, memory, registers, abi, on_notice, host)
    process.system.calls = loaded
    return process


def system_call(process: Process) -> End | None:
    """Carry out the system call that the program makes. A call that waits parks the thread and is called again at the
    thread's next turn (``thread.wait``)."""
    thread, abi = process.thread, process.abi
    number = abi.call_number(process.registers)
    restart = returns = False
    try:
        found = process.system.calls.get(number)
        if found is None:
            process.notice(f"system call {abi.call_text(number)} is not supported; it returns ENOSYS")
            abi.set_error(process.registers, ENOSYS)
        else:
            handler, count = found
            result = handler(process, *abi.arguments(process.registers, count))
            returns = result is None
            if result is not None:
                abi.set_result(process.registers, result)
    except Terminated as end:
        return process_exit.finish(process, end.end)
    except Blocked as blocked:
        thread.wait = blocked.wait
        process.system.schedule.park(thread)
        return None
    except ThreadEnded:
        return None
    except Restart:
        restart = True
    except GuestMemoryFault:
        abi.set_error(process.registers, EFAULT)
    except GuestMemoryLimit:
        abi.set_error(process.registers, ENOMEM)
    except (OSError, MemoryError, OverflowError) as error:
        errno = error_number(error)
        if errno is None:
            raise
        abi.set_error(process.registers, errno)
    finally:
        process.paths.close_held()
    thread.wait, thread.done = None, 0
    process.fire_timers()
    return process_exit.finish(process, signal_delivery.deliver(process, in_call=not returns, restart=restart))


def fault(process: Process, kind: int, address: int, code: int) -> End | None:
    """Handle a processor fault: continue in a handler, repeat the instruction, or end. ``kind``: the engine's number of
    the fault, for the ABI; ``address``: for memory faults the address that was used; ``code``: what else the ABI wants
    to know."""
    return process_exit.finish(process, signal_delivery.deliver_fault(process, kind, address, code))


def pending_signals(process: Process) -> End | None:
    """Apply expired timers and pending signals."""
    process.fire_timers()
    return process_exit.finish(process, signal_delivery.deliver(process))
