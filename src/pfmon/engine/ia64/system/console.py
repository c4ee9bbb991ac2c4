"""The system's console: characters go to pfmon's standard output at once, and come from its standard input."""

from __future__ import annotations

import os
import select
import termios
from collections.abc import Callable

from pfmon.errors import reason

STDIN, STDOUT = 0, 1
LOCAL_FLAGS = 3
"""Place of c_lflag in what tcgetattr returns."""


class Console:
    """Two descriptors of the host. A terminal gives characters as they are typed, without an echo, from the first read
    on; its keys for signals stay pfmon's. ``on_notice`` gets what the user must know."""

    def __init__(self, descriptors: tuple[int, int, int], on_notice: Callable[[str], None] = lambda _: None) -> None:
        self._in, self._out = descriptors[STDIN], descriptors[STDOUT]
        self._on_notice = on_notice
        self._readable = self._writable = True
        self._begun = False
        self._terminal: list[object] | None = None

    def write(self, character: int) -> None:
        """Write the low eight bits of a character."""
        if not self._writable:
            return
        try:
            os.write(self._out, bytes((character & 0xFF,)))
        except OSError as error:
            self._writable = False
            self._on_notice(f"the console cannot be written any more: {reason(error)}")

    def ready(self) -> bool:
        """Whether a character waits, or the end of the input."""
        self._begin()
        if not self._readable:
            return False
        try:
            poll = select.poll()
            poll.register(self._in, select.POLLIN)
            return bool(poll.poll(0))
        except OSError:
            self._readable = False
            return False

    def read(self) -> int | None:
        """The next character; None: none waits, or the input has ended."""
        if not self.ready():
            return None
        try:
            found = os.read(self._in, 1)
        except BlockingIOError:
            return None
        except OSError:
            found = b""
        if not found:
            self._readable = False
            return None
        return found[0]

    def wait(self, seconds: float) -> None:
        """Wait until a character comes, so long at most, if a terminal's user may type one."""
        self._begin()
        if self._terminal is not None and self._readable:
            poll = select.poll()
            poll.register(self._in, select.POLLIN)
            poll.poll(seconds * 1000)

    def close(self) -> None:
        """Give the terminal back as it was."""
        if self._terminal is not None:
            settings, self._terminal = self._terminal, None
            termios.tcsetattr(self._in, termios.TCSANOW, settings)  # type: ignore[arg-type]

    def _begin(self) -> None:
        if self._begun:
            return
        self._begun = True
        try:
            if not os.isatty(self._in) or os.tcgetpgrp(self._in) != os.getpgrp():
                return
            before = termios.tcgetattr(self._in)
            changed = list(before)
            changed[LOCAL_FLAGS] &= ~(termios.ICANON | termios.ECHO)
            termios.tcsetattr(self._in, termios.TCSANOW, changed)
            self._terminal = before
        except (OSError, termios.error):
            return
