"""The console on a terminal, which is the process's own in a child of the test."""

import os
import pty
import termios
import time
from collections.abc import Callable

import pytest

from pfmon.engine.ia64.system.console import Console

LOCAL = 3
SECONDS = 5


def on_terminal(act: Callable[[Console], bool], typed: bytes = b"") -> tuple[bool, bytes]:
    """Whether an act of a child with a terminal returned true, and what that has shown."""
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover
        good = False
        try:
            good = act(Console((0, 1, 2)))
        finally:
            os._exit(0 if good else 1)
    os.write(terminal, typed)
    shown = b""
    while True:
        try:
            part = os.read(terminal, 1000)
        except OSError:  # it has ended
            break
        if not part:
            break
        shown += part
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, shown


def flags() -> int:
    return int(termios.tcgetattr(0)[LOCAL])


def patient_read(console: Console) -> int | None:
    until = time.monotonic() + SECONDS
    while (found := console.read()) is None and time.monotonic() < until:
        time.sleep(0.01)
    return found


def test_characters_come_as_they_are_typed() -> None:
    def act(console: Console) -> bool:
        return patient_read(console) == ord("a")  # no end of the line has been typed

    assert on_terminal(act, b"a")[0]


def test_terminal_has_no_echo_and_keeps_its_signals() -> None:
    def act(console: Console) -> bool:
        before = flags()
        console.read()
        during = flags()
        console.close()
        changed = before ^ during
        return changed == termios.ICANON | termios.ECHO and bool(during & termios.ISIG) and flags() == before

    assert on_terminal(act)[0]


def test_terminal_stays_as_it_is_without_a_read() -> None:
    def act(console: Console) -> bool:
        before = flags()
        console.write(ord("x"))
        return flags() == before

    assert on_terminal(act) == (True, b"x")


def test_input_that_is_closed_has_no_characters() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    console = Console((reader, writer, 2))
    assert console.read() is None
    assert not console.ready()
    os.close(writer)


@pytest.mark.parametrize("mode", [os.O_RDONLY])
def test_output_that_cannot_be_written_is_said_once(mode: int) -> None:
    notices: list[str] = []
    null = os.open(os.devnull, mode)
    console = Console((0, null, 2), notices.append)
    console.write(65)
    console.write(65)
    os.close(null)
    assert notices == ["the console cannot be written any more: bad file descriptor"]
