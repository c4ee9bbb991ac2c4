"""Signal handlers: from the interrupted state to the handler's first instruction, and back (Linux for IA-64)."""

from __future__ import annotations

from pfmon.engine.linux.abi.ia64 import register_stack, sigframe
from pfmon.engine.linux.abi.ia64.ia64_registers import Ia64Registers
from pfmon.engine.linux.abi.ia64.layout import SIGNAL_RETURN
from pfmon.engine.linux.abi.structures import SIGALTSTACK, U64, WORDS2
from pfmon.engine.linux.memory.user_memory import UserMemory
from pfmon.engine.linux.signals.signals import SA_ONSTACK, Action, Signal, Signals

FPSR_DEFAULT = 0x9804C0270033F
STACK_POINTER = 12
THREE_ARGUMENTS = 3  # a CFM with sof 3: the frame that a call with three arguments starts with
UM_BIG_ENDIAN = 1 << 1


def enter(
    registers: Ia64Registers, user: UserMemory, state: Signals, signal: Signal, action: Action, in_call: bool
) -> None:
    """Save the state and continue in the handler. GuestMemoryFault: no room; registers change only if all of it
    succeeds."""
    entry, gp = user.unpack(WORDS2, action.handler)
    old_pointer = registers.gr(STACK_POINTER)
    top, new_base = old_pointer, 0
    if action.flags & SA_ONSTACK and state.stack_flags(old_pointer) == 0:
        address, _, size = state.stack
        top = address + size
        if not state.on_stack(registers.ar("bspstore") + 1):
            new_base = address + 7 & -8
    pointer = (top - (sigframe.FRAME_SIZE - sigframe.SCRATCH) & -16) - sigframe.SCRATCH
    user.check_writable(pointer, sigframe.FRAME_SIZE)
    register_stack.check_room(registers, user, new_base or registers.ar("bspstore"))
    context = sigframe.save(registers)
    flags = sigframe.FLAG_HIGH_FP | (sigframe.FLAG_IN_SYSCALL if in_call else 0)
    sigframe.put(context, "flags", flags | (sigframe.FLAG_ONSTACK if state.on_stack(pointer) else 0))
    stack_at = 8 * sigframe.WORDS["stack_sp"]
    stack, _, size = state.stack
    SIGALTSTACK.pack_into(context, stack_at, stack, state.stack_flags(old_pointer), size)
    U64.pack_into(context, sigframe.MASK_OFFSET, state.interrupted_mask)
    register_stack.cover(registers, context, new_base)
    sigframe.write(user, pointer, (signal.number, action.handler), signal.info, bytes(context))
    _continue_in(registers, signal.number, pointer, entry, gp)


def _continue_in(registers: Ia64Registers, number: int, pointer: int, entry: int, gp: int) -> None:
    """Continue in a handler as the gate page calls it: with the signal, its siginfo and its context."""
    registers.set_cfm(THREE_ARGUMENTS)
    arguments = (number, pointer + sigframe.INFO_OFFSET, pointer + sigframe.CONTEXT_OFFSET)
    for i, value in enumerate(arguments):
        registers.set_gr(32 + i, value)
    # The return sets privilege level 3, an empty frame, and the ar.ec of before: no context holds that.
    registers.set_ar("pfs", 3 << 62 | registers.ar("ec") << 52)
    registers.set_ar("fpsr", FPSR_DEFAULT)
    registers.set_um(registers.um & ~UM_BIG_ENDIAN)
    registers.set_br(0, SIGNAL_RETURN)
    registers.set_br(6, entry)
    registers.set_gr(1, gp)
    registers.set_gr(STACK_POINTER, pointer)
    registers.set_ip(entry & -16)


def leave(registers: Ia64Registers, user: UserMemory) -> int:
    """Continue at the interrupted instruction, with the frame at the stack pointer; returns the signal mask in it.
    GuestMemoryFault: a bad frame."""
    context = user.read(registers.gr(STACK_POINTER) + sigframe.CONTEXT_OFFSET, sigframe.CONTEXT_SIZE)
    register_stack.uncover(registers, user, context)
    sigframe.restore(registers, context)
    return int(U64.unpack_from(context, sigframe.MASK_OFFSET)[0])
