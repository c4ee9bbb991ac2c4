"""The console of a Linux kernel: what it prints is shown or kept, and read for its own end."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable

from pfmon.engine.ia64.system.console import STDIN, Console

TWICE = 1.0
"""Seconds within which Ctrl-C is typed twice."""
CONTROL_C = 0x03
NO_INPUT = -1
"""Instead of a descriptor."""
KEPT_LINES = 60
"""Of a console that is not shown, for when the kernel panics."""
LONGEST_LINE = 4096
LINE_FEED, RETURN = 0x0A, 0x0D
PANIC = re.compile(r"Kernel panic - not syncing: (.*)")
PANIC_ENDS = "---[ end Kernel panic"
HALTED = "reboot: System halted"
"""What a kernel prints last (kernel/panic.c, kernel/reboot.c). It repeats the panic's reason behind the words."""


class KernelConsole(Console):
    """``shown``: its text is written as it comes. A return before a line feed is left out: a terminal adds it.
    ``exit_on``: a pattern, "" for none; ``on_end`` is called when the pattern matches the line so far, or the kernel
    has halted, or panicked: with the reason of a panic; ``snapshot_on``: another pattern, at whose first match
    ``on_snapshot`` is called."""

    def __init__(
        self,
        descriptors: tuple[int, int, int],
        on_notice: Callable[[str], None],
        *,
        shown: bool,
        exit_on: str,
        on_end: Callable[[str], None],
        snapshot_on: str = "",
        on_snapshot: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(descriptors, on_notice)
        self._shown, self._on_end = shown, on_end
        self._typed: deque[int] = deque()
        """What comes before the characters of the terminal."""
        self._interrupted = -TWICE
        self._readable = descriptors[STDIN] != NO_INPUT
        self._pattern = re.compile(exit_on) if exit_on else None
        self._snapshot_pattern = re.compile(snapshot_on) if snapshot_on else None
        self._on_snapshot = on_snapshot
        self._line = bytearray()
        self._return = False
        self._kept: deque[str] = deque(maxlen=KEPT_LINES)
        self.panic = ""
        """Why the kernel has panicked; "": it has not."""

    @property
    def hidden_text(self) -> str:
        """The last lines of a console that is not shown."""
        return "" if self._shown else "\n".join([*self._kept, self._line.decode(errors="replace")]).rstrip("\n")

    def interrupt(self) -> bool:
        """Ctrl-C: whether the system gets it as a character. The second one of two is for who began the run, as is each
        before the system has the terminal."""
        now = time.monotonic()
        twice, self._interrupted = now - self._interrupted < TWICE, now
        if self._terminal is None or twice:
            return False
        self._typed.append(CONTROL_C)
        return True

    def ready(self) -> bool:
        """Whether a character waits, or the end of the input."""
        return bool(self._typed) or super().ready()

    def read(self) -> int | None:
        """The next character; None: none waits, or the input has ended."""
        return self._typed.popleft() if self._typed else super().read()

    def wait(self, seconds: float) -> None:
        """Wait until a character comes, so long at most, if a terminal's user may type one."""
        while seconds > 0 and not self._typed and not self.ready():
            super().wait(min(seconds, TWICE / 10))
            seconds = seconds - TWICE / 10 if self._terminal is not None else 0

    def close(self) -> None:
        """The run has ended: a line that is shown ends, too."""
        if self._shown and self._line:
            self._show(LINE_FEED)
        self._line.clear()
        super().close()

    def write(self, character: int) -> None:
        """Show a character, and take it into its line."""
        character &= 0xFF
        if self._shown:
            self._show(character)
        if character == LINE_FEED:
            self._end_line()
        elif character != RETURN:
            self._line.append(character)
            if len(self._line) > LONGEST_LINE:
                self._end_line()
            elif self._pattern and self._pattern.search(self._line.decode(errors="replace")):
                self._on_end("")
            elif self._snapshot_pattern and self._snapshot_pattern.search(self._line.decode(errors="replace")):
                self._snapshot_pattern = None
                self._on_snapshot()

    def _show(self, character: int) -> None:
        if self._return and character != LINE_FEED:
            super().write(RETURN)
        self._return = character == RETURN
        if not self._return:
            super().write(character)

    def _end_line(self) -> None:
        line = self._line.decode(errors="replace")
        self._line.clear()
        self._kept.append(line)
        if found := PANIC.search(line):
            self.panic = self.panic or found[1]
        if PANIC_ENDS in line:
            self._on_end(self.panic)
        elif HALTED in line:
            self._on_end("")


def beside_a_program(files: tuple[int, int, int]) -> tuple[int, int, int]:
    """The descriptors of a console whose standard input and output belong to a program: no input, standard error."""
    return (NO_INPUT, files[2], files[2])
