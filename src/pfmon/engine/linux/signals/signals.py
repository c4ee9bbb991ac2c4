"""The signal state of one process: actions, masks, pending signals, the alternate stack (signal(7))."""

from __future__ import annotations

from typing import NamedTuple

from pfmon.engine.linux.abi.structures import SIGINFO_KILL
from pfmon.engine.linux.signals.signal_table import FIRST_REAL_TIME, LAST, SIGKILL, SIGNALS, SIGSTOP

SIG_DFL, SIG_IGN = 0, 1
SA_SIGINFO, SA_ONSTACK, SA_RESTART = 0x4, 0x0800_0000, 0x1000_0000
SA_NODEFER, SA_RESETHAND = 0x4000_0000, 0x8000_0000
SS_ONSTACK, SS_DISABLE = 1, 2
SI_USER, SI_KERNEL, SI_QUEUE, SI_TIMER, SI_TKILL = 0, 0x80, -1, -2, -6
MAX_QUEUED_SIGNALS = 1024


def bit(signal: int) -> int:
    """The signal's bit in a mask."""
    return 1 << (signal - 1)


UNBLOCKABLE = bit(SIGKILL) | bit(SIGSTOP)
FULL = (1 << LAST) - 1


class Action(NamedTuple):
    """The action set by sigaction. ``handler``: its function as the instruction set names one, SIG_DFL or SIG_IGN;
    ``restorer``: the code that a handler returns to, where programs give it."""

    handler: int = SIG_DFL
    flags: int = 0
    mask: int = 0
    restorer: int = 0


class Signal(NamedTuple):
    """A signal with its struct siginfo and the text if it kills."""

    number: int
    info: bytes
    text: str = ""


def kill_info(number: int, code: int, process_id: int, user_id: int) -> bytes:
    """struct siginfo of a signal that a process sent."""
    return SIGINFO_KILL.pack(number, 0, code, process_id, user_id)


class SharedSignals:
    """State shared by a process's threads: actions, and signals pending for the process."""

    def __init__(self) -> None:
        self.actions: dict[int, Action] = {}
        self.pending: list[Signal] = []
        self.traced = False
        """Every signal stops the process, for its tracer."""
        self.stoppable = False
        """A process exists that can continue this one when it is stopped."""

    def copy(self, *, keep_handlers: bool) -> SharedSignals:
        """A copy for a child; without handlers for an executed program, which keeps ignored and pending signals."""
        other = SharedSignals()
        other.actions = {
            number: action for number, action in self.actions.items() if keep_handlers or action.handler == SIG_IGN
        }
        return other


class Signals:
    """State of all signals of one thread."""

    def __init__(self, shared: SharedSignals | None = None) -> None:
        self.shared = shared or SharedSignals()
        self.blocked = 0
        self.saved_mask: int | None = None  # to restore after a handler that ended sigsuspend and the like
        self.stack = (0, SS_DISABLE, 0)  # address, flags, size
        self._pending: list[Signal] = []

    def copy(self, shared: SharedSignals, *, keep_stack: bool = False) -> Signals:
        """A copy for another thread: the mask is inherited; the alternate stack only by a child process."""
        other = Signals(shared)
        other.blocked = self.blocked
        if keep_stack:
            other.stack = self.stack
        return other

    def begin_program(self, shared: SharedSignals) -> None:
        """Keep the mask and pending signals for an executed program, without the alternate stack."""
        self.shared, self.saved_mask, self.stack = shared, None, (0, SS_DISABLE, 0)

    @property
    def actions(self) -> dict[int, Action]:
        """The actions of the whole process."""
        return self.shared.actions

    def action(self, number: int) -> Action:
        return self.actions.get(number, Action())

    def ignores(self, number: int) -> bool:
        """Whether the signal would have no effect."""
        if self.shared.traced and number != SIGKILL:
            return False
        if self.stops(number) and not self.shared.stoppable:
            return True
        handler = self.action(number).handler
        return number not in (SIGKILL, SIGSTOP) and (
            handler == SIG_IGN or (handler == SIG_DFL and SIGNALS[number].default == "ignore")
        )

    def stops(self, number: int) -> bool:
        """Whether the signal would stop the process."""
        return SIGNALS[number].default == "stop" and self.action(number).handler == SIG_DFL

    def send(self, signal: Signal, to_process: bool = False) -> None:
        """Make a signal pending, for this thread or for any of its process. An ordinary one is pending once, real-time
        ones queue up."""
        queue = self.shared.pending if to_process else self._pending
        if self.ignores(signal.number) and not self.blocked & bit(signal.number):
            return
        once = signal.number < FIRST_REAL_TIME
        if len(queue) < MAX_QUEUED_SIGNALS and not (once and any(s.number == signal.number for s in queue)):
            queue.append(signal)

    def has(self, signal: Signal) -> bool:
        """Whether this very signal is pending."""
        return any(one is signal for one in (*self._pending, *self.shared.pending))

    def put_back(self, signal: Signal) -> None:
        """Put a taken signal back, to be acted on next."""
        self._pending.insert(0, signal)

    @property
    def pending(self) -> int:
        """Mask of the pending signals."""
        mask = 0
        for signal in (*self._pending, *self.shared.pending):
            mask |= bit(signal.number)
        return mask

    def take(self, among: int = FULL) -> Signal | None:
        """Remove and return the pending signal of the lowest number in a mask, the thread's own first."""
        for queue in (self._pending, self.shared.pending):
            chosen = min((s for s in queue if among & bit(s.number)), key=lambda s: s.number, default=None)
            if chosen is not None:
                queue.remove(chosen)
                return chosen
        return None

    def next(self) -> Signal | None:
        """Remove and return the next signal to act on, dropping those ignored by now."""
        while self._pending or self.shared.pending:
            signal = self.take(~self.blocked & FULL)
            if signal is None or not self.ignores(signal.number):
                return signal
        return None

    def interrupting(self, also: int = 0) -> bool:
        """Whether a signal would now end a wait; ``also``: including blocked ones of this mask."""
        return any(self.interrupts(s.number, also) for s in (*self._pending, *self.shared.pending))

    def interrupts(self, number: int, also: int = 0) -> bool:
        """Whether a signal would end a wait."""
        return bool(also & bit(number)) or (not self.blocked & bit(number) and not self.ignores(number))

    def set_action(self, number: int, action: Action) -> None:
        """sigaction: setting a pending signal to be ignored discards it."""
        self.actions[number] = action
        if self.ignores(number):
            self._pending = [s for s in self._pending if s.number != number]
            self.shared.pending[:] = [s for s in self.shared.pending if s.number != number]

    def set_blocked(self, mask: int) -> None:
        self.blocked = mask & FULL & ~UNBLOCKABLE

    @property
    def interrupted_mask(self) -> int:
        """The mask to restore after a handler."""
        return self.blocked if self.saved_mask is None else self.saved_mask

    def on_stack(self, pointer: int) -> bool:
        """Whether an address lies in the alternate stack."""
        address, flags, size = self.stack
        return not flags & SS_DISABLE and address < pointer <= address + size

    def handler_begins(self, number: int) -> None:
        """Block what the action of a signal blocks, and reset the action if it says so."""
        action = self.action(number)
        self.saved_mask = None
        self.set_blocked(self.blocked | action.mask | (0 if action.flags & SA_NODEFER else bit(number)))
        if action.flags & SA_RESETHAND:
            self.set_action(number, action._replace(handler=SIG_DFL))

    def stack_flags(self, pointer: int) -> int:
        """ss_flags as sigaltstack reports them for a stack pointer."""
        if self.stack[1] & SS_DISABLE:
            return SS_DISABLE
        return SS_ONSTACK if self.on_stack(pointer) else 0
