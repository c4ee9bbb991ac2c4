"""Ends of a run by the command line: Ctrl-C, kill(1), the end of the terminal, and --session-timeout."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

CAUSES = {
    signal.SIGINT: "interrupt",
    signal.SIGTERM: "terminate",
    signal.SIGHUP: "hangup",
    signal.SIGALRM: "timeout",
}
"""Causes of a run's end (`Run.stopped`), by signal."""
ENDING = (signal.SIGTERM, signal.SIGHUP)
NOTICES = {
    "timeout": "--session-timeout ended {}; the counts are those so far",
    "terminate": "terminated (SIGTERM); the counts are those so far",
    "hangup": "terminated (SIGHUP); the counts are those so far",
}


def stop_notice(why: str, what: str) -> str:
    """Return the message about a run that was ended; ``what``: "the program" or "the programs"."""
    return NOTICES.get(why, "interrupted; the counts are those so far").format(what)


@contextmanager
def stopping(stop: Callable[[str], None], timeout: float | None) -> Iterator[None]:
    """Within it ``stop`` is called with one of `CAUSES`; "timeout": after so many seconds. All are signals, which end
    every wait of the host's; one that is ignored (nohup(1)) stays so."""

    def handle(number: int, _: FrameType | None) -> None:
        stop(CAUSES[signal.Signals(number)])

    wanted = [number for number in ENDING if signal.getsignal(number) != signal.SIG_IGN]
    old = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGALRM, *wanted)}
    if timeout is not None:
        signal.setitimer(signal.ITIMER_REAL, timeout)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in old.items():
            signal.signal(number, handler)
