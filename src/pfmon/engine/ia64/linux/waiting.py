"""Waiting: what happens while a program sleeps or waits for input.

Guest time that passes without input from outside is skipped, not waited for. Waiting for the host's files
takes real time, but no longer than until the program's timer expires.
"""

import os
import select
import time
from typing import TYPE_CHECKING

from pfmon.engine.ia64.linux.errors import Restart

if TYPE_CHECKING:
    from pfmon.engine.ia64.linux.process import Process

FOREVER = 3600.0
MILLISECOND = 1_000_000


def sleep(process: "Process", nanoseconds: int | None) -> bool:
    """Sleep so long (None: until a signal comes). True if a signal ended it."""
    clock = process.clock
    deadline = None if nanoseconds is None else clock.monotonic() + nanoseconds
    while True:
        process.fire_timers()
        if process.signals.interrupting():
            return True
        left = None if deadline is None else deadline - clock.monotonic()
        if left is not None and left <= 0:
            return False
        timer = process.timers.real_time_left()
        if left is None and timer is None:
            process.notice("the program waits for a signal that only another process could send")
            time.sleep(FOREVER)
        else:
            clock.sleep(min(t for t in (left, timer) if t is not None) or 1)


def poll(process: "Process", files: list[tuple[int, int]], nanoseconds: int | None) -> dict[int, int]:
    """Wait for events of poll(2) on [(host descriptor, events)]; None waits without end.

    Returns {host descriptor: events that came}, empty when the time is over. Raises Restart if a signal comes
    first. Only time that passes without input counts for the program.
    """
    wanted: dict[int, int] = {}
    for host, events in files:
        wanted[host] = wanted.get(host, 0) | events
    poller = select.poll()
    for host, events in wanted.items():
        poller.register(host, events)
    process.fire_timers()
    ready = poller.poll(0)
    while not ready and nanoseconds != 0:
        if process.signals.interrupting():
            raise Restart
        if not wanted:
            if sleep(process, nanoseconds):
                raise Restart
            break
        timer = process.timers.real_time_left()
        wait = min((t for t in (nanoseconds, timer) if t is not None), default=None)
        ready = poller.poll(None if wait is None else -(-wait // MILLISECOND))
        if not ready and wait is not None:
            process.clock.account(wait)
            nanoseconds = None if nanoseconds is None else nanoseconds - wait
        process.fire_timers()
    return dict(ready)


def until_readable(process: "Process", host: int) -> None:
    """Before a read that may block: let the program's timer run. Without one, the host's read waits."""
    if process.timers.real_time_left() is not None and os.get_blocking(host):
        poll(process, [(host, select.POLLIN)], None)
