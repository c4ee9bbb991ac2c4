"""Running signal handlers: from the interrupted state to the handler's first instruction and back."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from pfmon.engine.linux.abi.ia64 import backing_store, gate_page, sigframe
from pfmon.engine.linux.abi.structures import SIGALTSTACK, U64, WORDS2
from pfmon.engine.linux.process import job_control
from pfmon.engine.linux.process.engine_interface import Death, GuestMemoryFault
from pfmon.engine.linux.signals.signal_table import SIGKILL, SIGNALS, SIGSEGV
from pfmon.engine.linux.signals.signals import (
    SA_NODEFER,
    SA_ONSTACK,
    SA_RESETHAND,
    SA_RESTART,
    SI_KERNEL,
    SIG_DFL,
    SIG_IGN,
    Action,
    Signal,
    bit,
    kill_info,
)

if TYPE_CHECKING:
    from pfmon.engine.linux.process.process import Process


FPSR_DEFAULT = 0x9804C0270033F
EAGER_RSE = 0xF
THREE_ARGUMENTS = 3  # a CFM with sof 3: the frame that a call with three arguments starts with
UM_BIG_ENDIAN = 1 << 1


def previous_slot(ip: int) -> int:
    """The instruction before ip, as straight-line code has it."""
    return ip - 1 if ip & 3 else ip - 16 | 2


def death(signal: Signal) -> Death:
    """The end of a process that a signal kills."""
    return Death(signal.number, signal.text or SIGNALS[signal.number].text)


def deliver(process: Process, in_call: bool = False, restart: bool = False) -> Death | None:
    """Act on pending signals: set up handlers, in order, or end the process.

    restart: they interrupted a system call; it starts again unless a handler without SA_RESTART runs first.
    """
    state, registers = process.signals, process.registers
    delivered = False
    while (signal := state.next()) is not None:
        action = state.action(signal.number)
        if state.shared.traced and signal.number != SIGKILL and process.family.injected is not signal:
            process.family.injected = signal
            job_control.stop(process, signal.number)
            break
        process.family.injected = None
        if state.ignores(signal.number):
            continue
        if state.stops(signal.number):
            job_control.stop(process, signal.number)
            break
        if action.handler == SIG_DFL:
            return death(signal)
        if restart and not delivered and not action.flags & SA_RESTART:
            process.set_result(errno.EINTR, failed=True)
            restart = False
        if restart:
            registers.set_ip(previous_slot(registers.ip))
            restart = False
        end = _run_handler(process, signal, action, in_call and not delivered)
        if end is not None:
            return end
        delivered = True
    if restart:
        registers.set_ip(previous_slot(registers.ip))
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
        _set_up(process, signal, action, in_call)
        return None
    except GuestMemoryFault as fault:
        text = f"no stack at {fault.address:#x} for the handler of {SIGNALS[signal.number].name}"
        forced = Signal(SIGSEGV, kill_info(SIGSEGV, SI_KERNEL, 0, 0), text)
    if signal.number == SIGSEGV:
        return death(forced)
    return force(process, forced)


def _set_up(process: Process, signal: Signal, action: Action, in_call: bool) -> None:
    """Save the state and continue in the handler. Registers change only if all of it succeeds."""
    state, user, registers = process.signals, process.user, process.registers
    entry, gp = user.unpack(WORDS2, action.handler)
    old_pointer = registers.gr(12)
    top, new_base = old_pointer, 0
    if action.flags & SA_ONSTACK and state.stack_flags(old_pointer) == 0:
        address, _, size = state.stack
        top = address + size
        if not state.on_stack(registers.ar("bspstore") + 1):
            new_base = address + 7 & -8
    pointer = (top - (sigframe.FRAME_SIZE - sigframe.SCRATCH) & -16) - sigframe.SCRATCH
    process.check_writable(pointer, sigframe.FRAME_SIZE)
    _check_room(process, new_base or registers.ar("bspstore"))
    context = sigframe.save(registers)
    flags = sigframe.FLAG_HIGH_FP | (sigframe.FLAG_IN_SYSCALL if in_call else 0)
    sigframe.put(context, "flags", flags | (sigframe.FLAG_ONSTACK if state.on_stack(pointer) else 0))
    stack_at = 8 * sigframe.WORDS["stack_sp"]
    stack, _, size = state.stack
    SIGALTSTACK.pack_into(context, stack_at, stack, state.stack_flags(old_pointer), size)
    mask = state.blocked if state.saved_mask is None else state.saved_mask
    U64.pack_into(context, sigframe.MASK_OFFSET, mask)
    _cover(process, context, new_base)
    sigframe.write(user, pointer, (signal.number, action.handler), signal.info, bytes(context))
    state.saved_mask = None
    state.set_blocked(state.blocked | action.mask | (0 if action.flags & SA_NODEFER else bit(signal.number)))
    if action.flags & SA_RESETHAND:
        state.set_action(signal.number, action._replace(handler=SIG_DFL))
    _enter(process, signal.number, pointer, entry, gp)


def _check_room(process: Process, store: int) -> None:
    """GuestMemoryFault unless the dirty registers and the current frame fit into memory from store on."""
    registers = process.registers
    dirty = backing_store.count(registers.ar("bspstore"), registers.ar("bsp")) + (registers.cfm & 0x7F)
    process.check_writable(store, backing_store.skip(store, dirty) + backing_store.WORD - store)


def _cover(process: Process, context: bytearray, new_base: int) -> None:
    """Flush the register stack: to its backing store, or to the alternate stack at new_base."""
    registers = process.registers
    old_store, old_rnat = registers.ar("bspstore"), registers.ar("rnat")
    if new_base:
        registers.set_ar("bspstore", new_base)
    bsp = registers.cover_and_flush()
    assert bsp is not None
    registers.set_ar("rsc", EAGER_RSE)
    if new_base:
        dirty = backing_store.count(new_base, bsp)
        sigframe.put(context, "bsp", backing_store.skip(old_store, dirty))
        sigframe.put(context, "rnat", old_rnat)
        U64.pack_into(context, sigframe.RBS_BASE_OFFSET, new_base)
        U64.pack_into(context, sigframe.LOADRS_OFFSET, bsp - new_base << 16)
    else:
        sigframe.put(context, "bsp", bsp)
        sigframe.put(context, "rnat", registers.ar("rnat"))


def _enter(process: Process, number: int, pointer: int, entry: int, gp: int) -> None:
    """Enter a handler as the gate page calls it: with the signal, its siginfo and its context."""
    registers = process.registers
    registers.set_cfm(THREE_ARGUMENTS)
    arguments = (number, pointer + sigframe.INFO_OFFSET, pointer + sigframe.CONTEXT_OFFSET)
    for i, value in enumerate(arguments):
        registers.set_gr(32 + i, value)
    # The return sets privilege level 3, an empty frame, and the ar.ec of before: no context holds that.
    registers.set_ar("pfs", 3 << 62 | registers.ar("ec") << 52)
    registers.set_ar("fpsr", FPSR_DEFAULT)
    registers.set_um(registers.um & ~UM_BIG_ENDIAN)
    registers.set_br(0, gate_page.SIGNAL_RETURN)
    registers.set_br(6, entry)
    registers.set_gr(1, gp)
    registers.set_gr(12, pointer)
    registers.set_ip(entry & -16)


def sigreturn(process: Process) -> Death | None:
    """rt_sigreturn: continue at the interrupted instruction, with the frame at the stack pointer."""
    registers, user = process.registers, process.user
    try:
        at = registers.gr(12) + sigframe.CONTEXT_OFFSET
        context = user.read(at, sigframe.CONTEXT_SIZE)
        _uncover(process, context)
        sigframe.restore(registers, context)
        process.signals.set_blocked(U64.unpack_from(context, sigframe.MASK_OFFSET)[0])
        return None
    except GuestMemoryFault as fault:
        text = f"return from a signal handler with a bad frame (address {fault.address:#x})"
        return force(process, Signal(SIGSEGV, kill_info(SIGSEGV, SI_KERNEL, 0, 0), text))


def _uncover(process: Process, context: bytes) -> None:
    """Restore the interrupted frame; copy registers from an alternate stack to their own backing store first."""
    registers = process.registers
    bsp = sigframe.get(context, "bsp")
    (base,) = U64.unpack_from(context, sigframe.RBS_BASE_OFFSET)
    covered = registers.cover_and_flush()
    if covered is None:
        raise GuestMemoryFault(registers.ar("bspstore"))
    if base:
        (loadrs,) = U64.unpack_from(context, sigframe.LOADRS_OFFSET)
        end = base + (loadrs >> 16)
        _move_registers(process, base, end, bsp, sigframe.get(context, "rnat"))
    elif covered != bsp:
        registers.set_ar("bspstore", bsp)
        registers.set_ar("rnat", sigframe.get(context, "rnat"))
    if not registers.restore_frame(bsp, sigframe.get(context, "cfm")):
        raise GuestMemoryFault(bsp)


def _move_registers(process: Process, base: int, end: int, bsp: int, rnat: int) -> None:
    """Copy registers and NaT bits in [base, end) so that they end at bsp; rnat has the NaT bits before them.

    The NaT bits of a last, unfinished group are in ar.rnat.
    """
    user, registers = process.user, process.registers
    number = backing_store.count(base, end)
    if number > 1 << 11:  # more than any processor's stacked registers: a damaged frame
        raise GuestMemoryFault(base)
    to = backing_store.skip(bsp, -number)
    last = registers.ar("rnat")
    bits = rnat & (1 << backing_store.slot(to)) - 1
    for i in range(number):
        source = backing_store.skip(base, i)
        collection = source | backing_store.COLLECTION * 8
        held = int(user.unpack(U64, collection)[0]) if collection < end else last
        nat = held >> backing_store.slot(source) & 1
        target = backing_store.skip(to, i)
        user.write(target, user.read(source, 8))
        bits |= nat << backing_store.slot(target)
        if backing_store.slot(target) == backing_store.COLLECTION - 1:
            user.pack(U64, target + 8, bits)
            bits = 0
    registers.set_ar("bspstore", bsp)
    registers.set_ar("rnat", bits)
