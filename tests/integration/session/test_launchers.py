"""Programs that execute another one in their own process: counts are those of the last one, as of a run of its own."""

import json
import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from command import pfmon, pfmon_here
from host_programs import RUNS_X86_64, needs
from x86_64_host import HAS_KEYS

import pfmon as library
from pfmon.engine.x86_64 import x86_64_guest

pytestmark = [
    needs("cc"),
    RUNS_X86_64,
]
LAST = r"""
#include <stdio.h>
int main(int count, char **words) {
    unsigned i, state = 1, odd = 0;
    for (i = 0; i < 3000u * count; i++) {
        state = state * 1664525 + 1013904223;
        odd += state >> 31;
    }
    printf("last %d %s\n", count, words[count - 1]);
    return odd % 7;
}
"""
CHAIN = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
/* chain N PROGRAM WORD...: executes itself N times, with a child each time, then the program. */
int main(int count, char **words) {
    int left = atoi(words[1]);
    char number[2] = {(char)('0' + left - 1), 0};
    if (left == 0)
        return execv(words[2], words + 2);
    if (fork() == 0)
        _exit(0);
    wait(NULL);
    words[1] = number;
    return execv(words[0], words);
}
"""
LIES = r"""
#include <string.h>
#include "layout.h"
#include "x86_64_areas.h"
int main(int count, char **words) {
    struct area *area = (struct area *)(0x60001000 + slide_of_areas());
    strcpy(area->message, words[1]);
    area->message_length = strlen(words[1]);
    area->executing = EXECUTES_ANEW;
    area->handover.ready = count > 2;
    for (;;)
        ;
}
"""
PLUGIN = Path(library.__file__).parent / "engine" / "qemu" / "plugin"
SUPPORT = Path(__file__).resolve().parents[2] / "support"
LINE = r"^pfmon: launcher: ([\d,]+) instructions before exec of (\S+) are not counted(?:, nor (\d+) process.*)?$"
EVENTS = "instructions,branches,branch-misses,cycles"


@pytest.fixture(scope="module", name="folder")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("launchers")
    for name, text in (("last", LAST), ("chain", CHAIN)):
        (folder / f"{name}.c").write_text(text)
        subprocess.run(["cc", "-g", "-O1", "-o", name, f"{name}.c"], cwd=folder, check=True)
    script = folder / "script"
    script.write_text(f'#!/bin/sh\nexec {folder}/last "$@"\n')
    script.chmod(0o755)
    return folder


def counts(*words: str, events: str = EVENTS) -> tuple[dict[str, int], str]:
    done = pfmon("--json", "-e", events, *words)
    assert "last " in done.stderr
    return {one["name"]: one["count"] for one in json.loads(done.stdout)["events"]}, done.stderr


@pytest.mark.slow
def test_counts_after_exec_are_those_of_a_run_alone(folder: Path) -> None:
    program = str(folder / "last")
    alone, said = counts(program, "one", "two")
    assert "launcher" not in said
    for launcher in (["env"], [str(folder / "chain"), "0"], [str(folder / "chain"), "3"]):
        after, said = counts(*launcher, program, "one", "two")
        assert after == alone, launcher
        assert len(re.findall(LINE, said, re.M)) == 1


@pytest.mark.slow
def test_the_line_has_the_instructions_of_all_programs_before(folder: Path) -> None:
    program, chain = str(folder / "last"), str(folder / "chain")
    before = []
    for children in range(4):
        found = re.search(LINE, counts(chain, str(children), program, "x", events="instructions")[1], re.M)
        assert found
        before.append(int(found[1].replace(",", "")))
    steps = [more - less for less, more in pairwise(before)]
    assert steps[0] > 10_000 and max(steps) - min(steps) < steps[0] / 100


@pytest.mark.slow
def test_children_of_a_launcher_are_named(folder: Path) -> None:
    found = re.search(LINE, counts(str(folder / "chain"), "3", str(folder / "last"))[1], re.M)
    assert found and found[2] == str(folder / "last") and found[3] == "3"


def test_exit_status_and_output_are_the_last_programs(folder: Path) -> None:
    words = [str(folder / "last"), "a", "b"]
    native = subprocess.run(words, capture_output=True, text=True, check=False)
    done = pfmon("-e", "instructions", str(folder / "script"), "a", "b")
    assert done.returncode == native.returncode > 0
    assert done.stdout.startswith(native.stdout)


@pytest.mark.slow
def test_functions_and_lines_are_the_last_programs(folder: Path) -> None:
    done = pfmon("--per-function", "--per-line", "-e", "instructions", "env", str(folder / "last"))
    assert re.search(r"^ +\d+  0x[0-9a-f]+ main$", done.stdout, re.M)
    assert re.search(r"^ +\d+  last\.c:6$", done.stdout, re.M)


@pytest.mark.slow
def test_a_recording_is_of_the_last_program(folder: Path, tmp_path: Path) -> None:
    recording, program = str(tmp_path / "recording"), str(folder / "last")
    pfmon("--record", recording, "-e", "instructions", "env", program)
    replayed = json.loads(pfmon("--json", "-e", "instructions", "--replay", recording).stdout)
    assert replayed["events"][0]["count"] == counts(program)[0]["instructions"]


def test_open_files_directory_and_environment_are_kept(folder: Path, tmp_path: Path) -> None:
    text = "cd /; exec 7> \"$OUT\"; VALUE=3 exec /bin/sh -c 'pwd >&7; echo $VALUE >&7'"
    pfmon("-e", "instructions", "--env", f"OUT={tmp_path / 'out'}", "/bin/sh", "-c", text)
    assert (tmp_path / "out").read_text() == "/\n3\n"


def test_a_failing_exec_goes_on_counting(folder: Path) -> None:
    program = str(folder / "last")
    done = pfmon("-e", "instructions", "/bin/sh", "-c", f"exec /nowhere; exec {program}")
    assert "launcher" not in done.stderr and done.returncode == 127
    text = f"(exec /nowhere) 2> /dev/null; exec {program}"
    assert re.search(LINE, pfmon("-e", "instructions", "/bin/sh", "-c", text).stderr, re.M)


def test_children_that_are_not_counted_are_told() -> None:
    done = pfmon("-e", "instructions", "/bin/sh", "-c", "/bin/true; /bin/true")
    assert re.search(r"^pfmon: 2 processes that it started are not counted; --follow-all ", done.stderr, re.M)


def test_a_stop_ends_what_was_executed(folder: Path) -> None:
    run = library.run(["/bin/sh", "-c", "exec /bin/sleep 1000"], events=["instructions"], host_clock=True, timeout=0.5)
    assert run.stopped == "timeout"


@pytest.mark.slow
def test_a_shim_of_pyenv_begins_at_python(tmp_path: Path) -> None:
    shim = Path.home() / ".pyenv" / "shims" / "python3"
    version = subprocess.run([shim, "-V"], capture_output=True, text=True, check=False).stdout if shim.exists() else ""
    if not re.match(r"Python 3\.1[123]", version):
        pytest.skip("pyenv is not here, or its python3 is not of a version whose frames are read")
    script = tmp_path / "script.py"
    script.write_text("def work():\n    return sum(range(1000))\n\n\nwork()\n")
    done = pfmon("--per-function", "-e", "instructions", str(shim), "-S", "-I", str(script))
    assert re.search(LINE, done.stderr, re.M)
    assert re.search(r" +1  +work \(script\.py:1\)$", done.stdout, re.M)


@pytest.mark.parametrize("words", [["/nowhere"], ["/bin/true"], ["/bin/true", "ready"]])
def test_a_program_that_pretends_to_execute_has_no_counts(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lies.c").write_text(LIES)
    subprocess.run(["cc", f"-I{PLUGIN}", f"-I{SUPPORT}", "-o", "lies", "lies.c"], cwd=tmp_path, check=True)
    monkeypatch.setattr(x86_64_guest, "BEGIN_SECONDS", 0.5)
    done = pfmon_here("-e", "instructions", str(tmp_path / "lies"), *words)
    if HAS_KEYS:
        assert done.returncode == 139 and "SIGSEGV" in done.stderr
        return
    assert done.returncode == 125 and not done.stdout
    assert re.search(r"^pfmon: .*cannot be counted", done.stderr, re.M)
