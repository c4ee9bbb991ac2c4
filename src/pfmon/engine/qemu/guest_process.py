"""The process in which qemu executes the program, below a reaper that kills the program's descendants (reaper.c)."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from struct import Struct
from subprocess import Popen
from threading import Lock

from pfmon.engine.qemu.qemu_binary import reaper_path

ANSWER = Struct("=i")
KILL, END = b"k", b"e"
"""Orders (reaper.c)."""


class GuestProcess:
    """The program and its descendants. ``files``: descriptors of ring and area, for the plugin; ``detach``: leave the
    program's descendants alone at the end."""

    def __init__(
        self,
        command: Sequence[str | bytes],
        standard: tuple[int, int, int],
        environment: Mapping[bytes, bytes],
        files: Sequence[int] = (),
        detach: bool = False,
    ) -> None:
        orders, self._orders = os.pipe()
        self._answers, answers = os.pipe()
        self._lock = Lock()  # of the orders' pipe
        self._detach = detach
        area = str(files[1] if files else -1)
        words = [reaper_path(), str(orders), str(answers), area, "keep" if detach else "end", *command]
        try:
            self._reaper = Popen(
                words,
                stdin=standard[0],
                stdout=standard[1],
                stderr=standard[2],
                env=environment,
                pass_fds=(orders, answers, *files),
            )
        except BaseException:
            self._close()
            raise
        finally:
            os.close(orders)
            os.close(answers)

    @property
    def parent(self) -> int:
        """The process id of the program's parent."""
        return self._reaper.pid

    def wait(self) -> int:
        """Wait for the program's end: its exit status, or the signal that killed it, as a negative number."""
        status = self._answer()
        return -signal.SIGKILL if status is None else os.waitstatus_to_exitcode(status)

    def kill(self) -> None:
        """Kill the program, if it has not ended."""
        self._order(KILL)

    def end(self) -> int:
        """Kill the program's remaining descendants; returns their number. Called after `wait`."""
        self._order(END)
        ended = None if self._detach else self._answer()
        self.close()
        return ended or 0

    def close(self) -> None:
        """Kill everything, including the program."""
        if self._orders >= 0:
            self._close()
            self._reaper.wait()

    def _close(self) -> None:
        with self._lock:
            os.close(self._orders)
            os.close(self._answers)
            self._orders = -1

    def _order(self, what: bytes) -> None:
        with self._lock, suppress(BrokenPipeError):  # the reaper was killed
            if self._orders >= 0:
                os.write(self._orders, what)

    def _answer(self) -> int | None:
        """The reaper's answer; None: it was killed."""
        said = os.read(self._answers, ANSWER.size)
        return ANSWER.unpack(said)[0] if len(said) == ANSWER.size else None
