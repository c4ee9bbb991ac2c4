"""The console of a Linux kernel: what is shown, what is kept, and what ends the run."""

from pathlib import Path

import pytest

from pfmon.engine.ia64.system.platform.kernel_console import NO_INPUT, KernelConsole


class Screen:
    """A console that writes to a file, and the ends of its run."""

    def __init__(self, folder: Path, *, shown: bool = True, exit_on: str = "") -> None:
        self.path = folder / "screen"
        self.file = self.path.open("wb", buffering=0)
        self.ends: list[str] = []
        numbers = (NO_INPUT, self.file.fileno(), self.file.fileno())
        self.console = KernelConsole(numbers, lambda _: None, shown=shown, exit_on=exit_on, on_end=self.ends.append)

    def print(self, text: bytes) -> bytes:
        """What is on the screen behind it."""
        for character in text:
            self.console.write(character)
        return self.path.read_bytes()


def test_returns_before_line_feeds_are_left_out_of_files(tmp_path: Path) -> None:
    assert Screen(tmp_path).print(b"a\r\nb\rc\r\r\n\n") == b"a\nb\rc\r\n\n"


def test_hidden_console_keeps_its_last_lines(tmp_path: Path) -> None:
    screen = Screen(tmp_path, shown=False)
    assert screen.print(b"".join(b"line %d\r\n" % number for number in range(100)) + b"rest") == b""
    lines = screen.console.hidden_text.split("\n")
    assert (lines[0], lines[-2:], len(lines)) == ("line 40", ["line 99", "rest"], 61)


def test_shown_console_keeps_nothing_for_later(tmp_path: Path) -> None:
    screen = Screen(tmp_path)
    screen.print(b"line\n")
    assert screen.console.hidden_text == ""


PANIC = b"[ 0.1] Kernel panic - not syncing: No working init found.\r\n"


def test_panic_ends_the_run_when_it_is_said_completely(tmp_path: Path) -> None:
    screen = Screen(tmp_path)
    screen.print(PANIC + b"stack\r\n")
    assert (screen.ends, screen.console.panic) == ([], "No working init found.")
    screen.print(b"[ 0.1] ---[ end Kernel panic - not syncing: No working init found. ]---\r\n")
    assert screen.ends == ["No working init found."]


def test_halt_ends_the_run(tmp_path: Path) -> None:
    screen = Screen(tmp_path)
    screen.print(b"[ 1.0] reboot: System halted\r\n")
    assert screen.ends == [""]


@pytest.mark.parametrize(("text", "ends"), [(b"x login: ", 1), (b"x login:\n ", 0), (b"login\n", 0)])
def test_pattern_matches_within_a_line(tmp_path: Path, text: bytes, ends: int) -> None:
    screen = Screen(tmp_path, exit_on="login: $")
    screen.print(text)
    assert len(screen.ends) == ends


def test_line_without_an_end_is_not_kept_for_ever(tmp_path: Path) -> None:
    screen = Screen(tmp_path, shown=False)
    screen.print(b"x" * 10_000)
    assert [len(line) for line in screen.console.hidden_text.split("\n")] == [4097, 4097, 1806]


@pytest.mark.parametrize(("text", "shown"), [(b"x", b"x\n"), (b"x\r\n", b"x\n"), (b"x\r", b"x\n"), (b"", b"")])
def test_last_line_that_is_shown_has_an_end(tmp_path: Path, text: bytes, shown: bytes) -> None:
    screen = Screen(tmp_path)
    screen.print(text)
    for _ in range(2):
        screen.console.close()
        assert screen.path.read_bytes() == shown
    hidden = Screen(tmp_path, shown=False)
    hidden.print(text)
    hidden.console.close()
    assert hidden.path.read_bytes() == b""


def test_console_beside_a_program_has_no_input(tmp_path: Path) -> None:
    assert Screen(tmp_path).console.read() is None
