"""The scheduler: the threads of all processes run in turn on one processor, in a repeatable order.

A turn ends when its quantum is over, at the next block boundary, or when the thread waits. Seed 0 is round-robin with
equal quanta; any other seed draws thread and quantum, always the same for this seed.
"""

from __future__ import annotations

import os
import select
from _thread import RLock
from collections import deque
from typing import Protocol

from pfmon.engine.linux.process.syscall_errors import Interrupted
from pfmon.engine.linux.process.thread import Thread
from pfmon.engine.linux.time.clock import Clock

MILLISECOND = 1_000_000
MIN_POLL_TIME = 2 * MILLISECOND
"""The host's poll has a resolution of milliseconds: shorter waits could be more than half too long."""
MULTIPLIER, MODULUS = 16807, (1 << 31) - 1
"""Constants of the Park-Miller generator (1988)."""


class Deadlock(Exception):
    """Every thread waits for another one; the text names the waits."""


class Shared(Protocol):
    """The state that the processes of a run share and the scheduler uses."""

    clock: Clock
    wakeup: Wakeup

    @property
    def retired(self) -> int:
        """Instructions retired so far."""

    def fire_timers(self) -> None:
        """Send the signals of expired timers."""

    def timer_ends(self) -> list[int]:
        """Expiry times of the real-time timers, by the monotonic clock."""


class Scheduler:
    """``quantum``: instructions of a turn."""

    def __init__(self, system: Shared, quantum: int, seed: int) -> None:
        self._system = system
        self._quantum = quantum
        self._state = seed % MODULUS
        self._ready: deque[Thread] = deque()
        self._waiting: dict[Thread, None] = {}
        self._held: dict[Thread, bool] = {}
        """Threads of stopped processes, and whether they were runnable."""
        self._timed: dict[Thread, int] = {}
        self._filed: dict[Thread, None] = {}
        self.current: Thread | None = None
        self._ends_at = 0

    def add(self, thread: Thread) -> None:
        """Add a runnable thread."""
        self._ready.append(thread)

    def park(self, thread: Thread) -> None:
        """Let a thread wait, as ``thread.wait`` says."""
        assert thread.wait
        self._waiting[thread] = None
        if thread.wait.deadline is not None:
            self._timed[thread] = thread.wait.deadline
        if thread.wait.files or thread.wait.again_after:
            self._filed[thread] = None
        if thread is self.current:
            self.current = None

    def wake(self, thread: Thread) -> None:
        """Wake a waiting thread, which repeats its system call."""
        if thread in self._waiting:
            self._forget(thread)
            if thread in self._held:
                self._held[thread] = True
            else:
                self._ready.append(thread)

    def stop(self, thread: Thread) -> None:
        """Stop a thread until it is released."""
        if thread in self._held:
            return
        self._held[thread] = thread not in self._waiting
        if thread is self.current:
            self.current = None
        elif thread in self._ready:
            self._ready.remove(thread)

    def release(self, thread: Thread) -> None:
        """Make a held thread runnable again, or let it wait on."""
        if self._held.pop(thread, False):
            self._ready.append(thread)

    def remove(self, thread: Thread) -> None:
        """Remove an ended thread."""
        self._held.pop(thread, None)
        if thread is self.current:
            self.current = None
        elif thread in self._waiting:
            self._forget(thread)
        elif thread in self._ready:
            self._ready.remove(thread)

    def close(self) -> None:
        """Drop all threads."""
        self.current = None
        self._ready.clear()
        for thread in list(self._waiting):
            self._forget(thread)

    def yield_turn(self) -> None:
        """End the running thread's turn (sched_yield)."""
        self._ends_at = 0

    def _forget(self, thread: Thread) -> None:
        del self._waiting[thread]
        self._timed.pop(thread, None)
        self._filed.pop(thread, None)

    def next(self) -> Thread:
        """The next thread to run. Waits if none is runnable: Interrupted when the run is stopped, Deadlock when nothing
        can end the waits."""
        self._wake_due()
        if self.current is not None and self._system.retired >= self._ends_at:
            self._ready.append(self.current)
            self.current = None
        while self.current is None:
            if self._ready:
                self.current = self._choose()
                self._ends_at = self._system.retired + self._turn()
            else:
                self._idle()
        return self.current

    def limit(self) -> int | None:
        """Instructions until the next call of `next`; None: no other thread exists."""
        if not self._ready and not self._waiting:
            return None
        ends = [max(1, self._ends_at - self._system.retired)] if self._ready or self._filed else []
        due = [*self._timed.values(), *self._system.timer_ends()] if self._timed or self._filed else []
        if due:
            left = min(due) - self._system.clock.monotonic()
            ends.append(max(1, self._system.clock.instructions_until(left)))
        return min(ends, default=None)

    def _draw(self) -> int:
        self._state = self._state * MULTIPLIER % MODULUS
        return self._state

    def _choose(self) -> Thread:
        if self._state and len(self._ready) > 1:
            self._ready.rotate(-(self._draw() % len(self._ready)))
        return self._ready.popleft()

    def _turn(self) -> int:
        """Instructions of the next turn."""
        if not self._state:
            return self._quantum
        return max(1, self._quantum // 2 + self._draw() % (self._quantum + 1))

    def _wake_due(self) -> None:
        """Wake threads whose wait has ended."""
        self._system.fire_timers()
        if self._timed:
            now = self._system.clock.monotonic()
            for thread in [thread for thread, deadline in self._timed.items() if deadline <= now]:
                self.wake(thread)
        if self._filed:
            self._look_at_files(0)

    def _look_at_files(self, milliseconds: int | None) -> bool:
        """Wake threads whose files are ready; returns whether there are any. Interrupted when the run is stopped."""
        poller = select.poll()
        poller.register(self._system.wakeup.descriptor, select.POLLIN)
        wanted: dict[int, int] = {}
        for thread in self._filed:
            assert thread.wait
            for host, events in thread.wait.files.items():
                wanted[host] = wanted.get(host, 0) | events
        for host, events in wanted.items():
            poller.register(host, events)
        ready = dict(poller.poll(milliseconds))
        if self._system.wakeup.descriptor in ready:
            raise Interrupted
        woken = [thread for thread in self._filed if thread.wait and _comes(thread, ready)]
        for thread in woken:
            self.wake(thread)
        return bool(woken)

    def _idle(self) -> None:
        """No thread is runnable: advance time, or wait for the host."""
        clock = self._system.clock
        ends = list(self._timed.values()) + self._system.timer_ends()
        left = max(1, min(ends) - clock.monotonic()) if ends else None
        again = min((t.wait.again_after for t in self._filed if t.wait and t.wait.again_after), default=None)
        outside = any(t.wait and t.wait.outside for t in self._waiting)
        if again is not None:
            self._pass_outside(again if left is None else min(again, left))
        elif outside:
            self._pass_outside(left)
        elif left is not None:
            self._pass(left)
        else:
            waiting = [f"thread {t.number} waits {t.wait.text}" for t in self._waiting if t.wait]
            raise Deadlock("; ".join([*waiting, *(f"thread {t.number} is stopped" for t in self._held)]))
        self._wake_due()

    def _pass_outside(self, nanoseconds: int | None) -> None:
        """Wait for files, at most this long; only time without input advances the program's clock."""
        milliseconds = None if nanoseconds is None else -(-nanoseconds // MILLISECOND)
        if not self._look_at_files(milliseconds) and nanoseconds is not None:
            self._system.clock.account(nanoseconds)
            for thread in [thread for thread in self._filed if thread.wait and thread.wait.again_after]:
                self.wake(thread)

    def _pass(self, nanoseconds: int) -> None:
        """Advance time without executing; the host sleeps too if its clock is used."""
        clock = self._system.clock
        if not clock.is_host:
            clock.account(nanoseconds)
        elif nanoseconds < MIN_POLL_TIME:
            clock.rest(nanoseconds)
        else:
            self._look_at_files(nanoseconds // MILLISECOND)


def _comes(thread: Thread, ready: dict[int, int]) -> bool:
    assert thread.wait
    return any(host in ready for host in thread.wait.files)


class Wakeup:
    """A descriptor that all waits watch: readable once the run is to stop."""

    def __init__(self) -> None:
        self.descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._lock = RLock()  # a signal handler may wake while the same thread closes

    def wake(self) -> None:
        """End the waits; from any thread or a signal handler."""
        with self._lock:
            if self.descriptor >= 0:
                os.eventfd_write(self.descriptor, 1)

    def close(self) -> None:
        """Close the descriptors after the last wait."""
        with self._lock:
            descriptor, self.descriptor = self.descriptor, -1
            if descriptor >= 0:
                os.close(descriptor)

    def __del__(self) -> None:
        self.close()  # of a process that was not closed
