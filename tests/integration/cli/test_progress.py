"""How a run goes is shown on a terminal below what the program prints, and leaves nothing behind; or in lines."""

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
from collections.abc import Sequence
from pathlib import Path

import pyte
import pytest
from answers import declined
from command import example, pfmon, pfmon_here
from shared_programs import folder, needs

from pfmon.cli.output import progress_display
from pfmon.cli.output.terminal_panel import TerminalPanel
from pfmon.report.progress_text import progress_line, short
from pfmon.report.run_snapshot import RunSnapshot
from pfmon.session.profile.code_profile import ProfileRow

HASHMAP = (example("hashmap"), "60000")
HEIGHT, WIDTH = 20, 110


def on_terminal(*words: str, **environment: str) -> tuple[list[list[str]], list[str], str]:
    """A command on a terminal: what was on the screen while it ran, what at the end, and all that was written."""
    child, terminal = pty.fork()
    if not child:
        _become_the_command(words, environment)
    screen = pyte.Screen(WIDTH, HEIGHT)
    stream = pyte.ByteStream(screen)
    shots, written = [], b""
    while data := _read(terminal):
        written += data
        stream.feed(data)
        shots.append([line.rstrip() for line in screen.display])
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, shots[-1]
    os.close(terminal)
    return shots, [line.rstrip() for line in screen.display], written.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the command has ended
        return b""


def _become_the_command(words: Sequence[str], environment: dict[str, str]) -> None:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
    os.environ.pop("NO_COLOR", None)
    os.environ.update({"TERM": "xterm-256color", **environment})
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
    progress_display.MAX_SECONDS_UNSHOWN, progress_display.EVERY, progress_display.AHEAD = 0.03, 0.03, 0.01
    from pfmon.__main__ import main

    status = main(words)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


@pytest.mark.slow
def test_a_line_at_the_bottom_of_the_terminal() -> None:
    shots, end, written = on_terminal("-e", "cpu_cycles,ia64_inst_retired", *HASHMAP)
    pattern = (
        r"\d+ s  [\d.]+[kM] instructions  [\d.]+[kMG]?/s  CPU_CYCLES [\d.]+[kM]  IA64_INST_RETIRED [\d.]+[kM]  \d+ MB"
    )
    assert any(re.fullmatch(pattern, shot[HEIGHT - 1]) for shot in shots), shots[-2]
    assert "\x1b[32m" in written  # green
    assert [line.split() for line in end if line] == [["60000"], *counts_of("-e", "cpu_cycles,ia64_inst_retired")]


def counts_of(*words: str) -> list[list[str]]:
    """The lines of the counts where nothing is shown."""
    return [line.split() for line in pfmon(*words, *HASHMAP).stdout.splitlines()[1:]]


@needs("kernel")
@pytest.mark.slow
def test_systems_console_scrolls_above_its_line() -> None:
    """All of it, and the system's own time rises."""
    kernel = next(iter(folder("kernel").glob("vmlinux-plain.*xz")))
    words = ("--system", str(kernel), "-e", "ia64_inst_retired", "--exit-on", "Serial: 8250")
    shots, end, written = on_terminal(*words)
    pattern = r"\d+ s  [\d.]+[kM] instructions  [\d.]+[kMG]?/s  system (\d+\.\d{3}) s  IA64_INST_RETIRED .*  \d+ MB"
    found = [re.fullmatch(pattern, shot[HEIGHT - 1]) for shot in shots]
    times = [float(one[1]) for one in found if one]
    assert times and times == sorted(times) and times[-1] > 0
    text = re.sub(r"\x1b7.*?\x1b8", "", written, flags=re.DOTALL)  # what the panel draws
    assert re.findall(r"Linux version|SAL 3\.0|Serial: 8250", text) == ["Linux version", "SAL 3.0", "Serial: 8250"]
    assert [line.split()[-1] for line in end if line][-1] == "IA64_INST_RETIRED"


@pytest.mark.slow
def test_live_shows_counts_and_functions() -> None:
    shots, end, _ = on_terminal("--live", "-e", "cpu_cycles,ia64_inst_retired", *HASHMAP)
    tables = [[line for line in shot if line.startswith(" " * 8)] for shot in shots]
    assert ["event", "CPU_CYCLES", "IA64_INST_RETIRED"] in [[row.split()[-1] for row in rows[:3]] for rows in tables]
    assert any(re.fullmatch(r" *[\d.]+% +\d+ +\d+  memset", line) for shot in shots for line in shot)
    assert [line.split() for line in end if line] == [["60000"], *counts_of("-e", "cpu_cycles,ia64_inst_retired")]


@pytest.mark.slow
def test_no_color_has_no_colors() -> None:
    _, _, written = on_terminal("-e", "cpu_cycles", *HASHMAP, NO_COLOR="1")
    assert "instructions" in written and not re.search(r"\x1b\[(?:3\d|9\d|[\d;]*;3\d)m", written)


@pytest.mark.slow
@pytest.mark.parametrize(("words", "environment"), [(["--no-progress"], {}), ([], {"TERM": "dumb"})])
def test_nothing_is_shown_if_nobody_wants_it(words: list[str], environment: dict[str, str]) -> None:
    _, _, written = on_terminal(*words, "-e", "cpu_cycles", *HASHMAP, **environment)
    assert "\x1b" not in written and "instructions" not in written


@pytest.mark.slow
def test_nothing_is_shown_where_there_is_no_terminal() -> None:
    assert pfmon("-e", "cpu_cycles", *HASHMAP).stderr == ""


@pytest.mark.slow
def test_lines_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_display, "MAX_SECONDS_UNSHOWN", 0.03)
    monkeypatch.setattr(progress_display, "EVERY_LINE", 0.03)
    monkeypatch.setattr(progress_display, "AHEAD", 0.01)
    done = pfmon_here("--progress", "-e", "cpu_cycles", *HASHMAP)
    lines = done.stderr.splitlines()
    assert len(lines) > 2 and all(re.match(r"pfmon: \d+ s  ", line) for line in lines)
    assert all(" instructions  " in line for line in lines[1:])  # a slow machine shows one before it has begun
    assert any("CPU_CYCLES" in line for line in lines)
    done = pfmon_here("--live", "-e", "cpu_cycles", *HASHMAP)
    assert "CPU_CYCLES  function" in done.stderr and "insert" in done.stderr


@pytest.mark.slow
def test_results_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_display, "MAX_SECONDS_UNSHOWN", 0.02)
    words = ("-e", "cpu_cycles,l2_misses", "--per-function", *HASHMAP)
    assert pfmon_here("--live", *words).stdout == pfmon_here("--no-progress", *words).stdout


def test_options_that_exclude_each_other() -> None:
    assert "exclude each other" in declined("--progress", "--no-progress", *HASHMAP)
    assert "--no-progress" in declined("--live", "--no-progress", *HASHMAP)


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (999, "999"), (1234, "1.234k"), (5.6e9, "5.6G"), (None, "n/a")])
def test_numbers_are_short(value: float | None, text: str) -> None:
    assert short(value) == text


def test_instructions_that_are_known_at_the_end_are_left_out() -> None:
    now = RunSnapshot(3.2, 0, 5 << 20, (("X", 7),), (ProfileRow("f", 1, (7,), ""),))
    assert progress_line(now).plain == "3 s  X 7  5 MB"
    assert progress_line(now._replace(instructions=3200)).plain == "3 s  3.2k instructions  1k/s  X 7  5 MB"
    assert progress_line(now._replace(system_seconds=0.0625)).plain == "3 s  system 0.062 s  X 7  5 MB"


def feed(stream: pyte.ByteStream, terminal: int) -> None:
    """Everything that was written so far."""
    while select.select([terminal], [], [], 0.2)[0]:
        stream.feed(os.read(terminal, 1 << 16))


def test_a_panel_keeps_what_scrolls_above_it() -> None:
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 6, 20, 0, 0))
    screen = pyte.Screen(20, 6)
    stream = pyte.ByteStream(screen)
    panel = TerminalPanel(other, 2)
    for number in range(9):
        os.write(other, f"line {number}\n".encode())
        panel.draw([f"first {number}", "second"])
    feed(stream, main)
    shown = [line.rstrip() for line in screen.display]
    assert shown == ["line 6", "line 7", "line 8", "", "first 8", "second"]
    panel.close()
    os.write(other, b"the end\n")
    feed(stream, main)
    assert [line.rstrip() for line in screen.display] == ["line 6", "line 7", "line 8", "the end", "", ""]
    os.close(main)
    os.close(other)
