"""Completion in shells, and the manual page: both are made from the options."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from answers import answer, declined
from command import EXAMPLES
from grids import first_quick

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
