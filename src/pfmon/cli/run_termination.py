"""Ends of a run by the command line: Ctrl-C, kill(1), the end of the terminal, and --session-timeout."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stopping(stop: Callable[[str], None], timeout: float | None) -> Iterator[None]:
    """Within it ``stop`` is called with "interrupt" or, after so many seconds, with "timeout". All are signals, which
    end every wait of the host's; one that is ignored (nohup(1)) stays so."""

    def handle(number: int, _: FrameType | None) -> None:
        stop("timeout" if number == signal.SIGALRM else "interrupt")

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
