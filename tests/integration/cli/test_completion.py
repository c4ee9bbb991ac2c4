"""Completion in shells, and the manual page: both are made from the options."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from answers import answer, declined
from command import EXAMPLES, pfmon
from grids import first_quick
from host_programs import needs

from pfmon.cli.commands.completion import SHELLS
from pfmon.library.options.table import OPTIONS


def completed(line: str, tmp_path: Path) -> list[str]:
    """What a shell would offer behind the line."""
    out = tmp_path / "offered"
    environment = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SHELL": "bash",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(out),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }
    subprocess.run([sys.executable, "-m", "pfmon"], env=environment, check=False, timeout=60, stdin=subprocess.DEVNULL)
    return out.read_text().split("\n") if out.exists() else []


@pytest.mark.parametrize(
    ("line", "offered"),
    first_quick(
        [
            ("pfmon --smpl-o", ["--smpl-outfile"]),
            ("pfmon -e loads_retired,nops_", ["loads_retired,nops_retired"]),
            ("pfmon --pmu mont", ["montecito"]),
            ("pfmon --pmu montecito -e CPU_OP_CYCLES_H", ["CPU_OP_CYCLES_HALTED"]),
            ("pfmon --pmu ppc604e -e instructions_c", ["instructions_completed"]),
            ("pfmon --help ran", ["ranges"]),
            ("pfmon --machine neh", ["nehalem"]),
            ("pfmon --smpl-module inst", ["inst-hist"]),
            ("pfmon --print-i", ["--print-interval"]),
            ("pfmon stat --smpl-o", ["--smpl-outfile"]),
            ("pfmon stat --field-s", ["--field-separator"]),
            ("pfmon stat -e loads_retired,nops_", ["loads_retired,nops_retired"]),
            ("pfmon  stat  --pmu mont", ["montecito"]),
            (f"pfmon stat -e loads_retired {EXAMPLES}/ia64/noplo", [f"{EXAMPLES}/ia64/noploop"]),
            ("pfmon record --out", ["--output", "--outfile"]),
            ("pfmon annotate --sym", ["--symbol", "--symbol-file"]),
            ("pfmon diff --b-s", ["--b-set"]),
            ("pfmon diff --machine neh", ["nehalem"]),
            ("pfmon sweep --dry", ["--dry-run"]),
            ("pfmon swee", ["sweep"]),
            (f"pfmon -e loads_retired {EXAMPLES}/ia64/noplo", [f"{EXAMPLES}/ia64/noploop"]),
        ]
    ),
)
def test_a_line_goes_on(line: str, offered: list[str], tmp_path: Path) -> None:
    assert [word.rstrip() for word in completed(line, tmp_path)] == offered


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_is_told_how(shell: str) -> None:
    assert "pfmon" in answer(f"--completion={shell}")
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=answer(f"--completion={shell}"), text=True, check=True, timeout=20)


@pytest.mark.slow
def test_bash_completes(tmp_path: Path) -> None:
    """As a user has it: the code is evaluated, and the function that it names called."""
    script = (
        'eval "$(pfmon --completion bash)"; COMP_LINE="pfmon --pmu ita"; COMP_POINT=15; COMP_TYPE=9;'
        ' COMP_WORDS=(pfmon --pmu ita); COMP_CWORD=2; _python_argcomplete pfmon ita --pmu; echo "${COMPREPLY[@]}"'
    )
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["itanium", "itanium2"]


@pytest.fixture(name="with_pfmon")
def path_with_pfmon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")


@pytest.mark.slow
@needs("fish")
@pytest.mark.usefixtures("with_pfmon")
def test_fish_completes() -> None:
    script = 'pfmon --completion fish | source; complete -C "pfmon stat --smpl-o"; complete -C "pfmon swe"'
    done = subprocess.run(["fish", "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["--smpl-outfile", "sweep"]


@pytest.mark.slow
@needs("zsh")
@pytest.mark.usefixtures("with_pfmon")
def test_zsh_completes(tmp_path: Path) -> None:
    """On a terminal, since zsh completes nowhere else."""
    code = tmp_path / "pfmon.zsh"
    code.write_text(answer("--completion=zsh"))
    child, terminal = pty.fork()
    if not child:
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb"})
    try:
        os.write(terminal, f"autoload -U compinit; compinit -u -D; . {code}; echo rea''dy\n".encode())
        read_until(b"ready", terminal)
        os.write(terminal, b"pfmon stat --smpl-o\t")
        read_until(b"--smpl-outfile", terminal)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)


def read_until(wanted: bytes, terminal: int) -> None:
    """Read what a terminal shows until it has shown this. AssertionError: it has not within 30 seconds."""
    shown, end = b"", time.monotonic() + 30
    while wanted not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 4096)
    assert wanted in shown


@pytest.mark.slow
@needs("cc")
def test_functions_of_the_recorded_program_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.c").write_text("int other_name(void) { return 1; } int main(void) { return other_name() - 1; }")
    subprocess.run(["cc", "-o", "one", "one.c"], check=True)
    assert completed("pfmon annotate oth", tmp_path) == [""]
    assert pfmon("record", "./one").returncode == 0
    assert [word.rstrip() for word in completed("pfmon annotate oth", tmp_path)] == ["other_name"]


def test_unknown_shell() -> None:
    assert "bash, zsh, fish" in declined("--completion=tcsh")


def test_the_manual_page_has_every_option() -> None:
    page = answer("--man-page")
    for name in OPTIONS:
        assert f"\\-\\-{name.replace('-', chr(92) + '-')}\\fR" in page, name


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not here")
def test_the_manual_page_is_set_without_warnings() -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tascii", "-ww"], input=answer("--man-page"), capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    text = re.sub(".\b", "", done.stdout)  # bold and underlined letters
    assert "PFMON(1)" in text and "--smpl-outfile=FILE" in text
