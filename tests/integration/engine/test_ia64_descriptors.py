"""Programs that open files up to their limit: pfmon keeps descriptors of its own."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from grids import first_quick
from ia64_program import write_program
from ia64_tasks import SIGCHLD, Data, call

LIMIT = 1024
"""Open files that a program may have (getrlimit), three of which it begins with."""
EMFILE, EAGAIN = 24, 11


def opening(path: Path) -> Path:
    """Opens a file until that fails, then waits, asks for things that no call before needed, and prints that it is
    there; ends with the error number."""
    data = Data()
    name, text = data.add("name", b"/proc/self/exe\0"), data.add("text", b"here\n")
    some, when = data.add("some", bytes(512)), data.add("when", (0).to_bytes(8, "little") + (1).to_bytes(8, "little"))
    again = [*call("openat", -100 & (1 << 64) - 1, name, 0, 0), "cmp.eq p6,p7=r10,r0", "(p6) br.cond.sptk.few again"]
    later = [*call("nanosleep", when, 0), *call("poll", 0, 0, 1), *call("getrusage", 0, some), *call("uname", some)]
    later += [*call("sysinfo", some), *call("getitimer", 0, some), *call("sigaltstack", 0, 0), *call("times", some)]
    lines = ["again:", *again, "adds r4=0,r8", *later, *call("write", 1, text, 5), *call("exit_group", "r4")]
    return write_program(path, lines, data.bytes)


def limited(files: int, *words: str) -> "subprocess.CompletedProcess[str]":
    """The command where so many files may be open."""
    return subprocess.run(
        [sys.executable, "-m", "pfmon", *words],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
    )


@pytest.mark.parametrize("files", first_quick([32, 64, 1024, 4096]))
def test_a_program_out_of_files_leaves_pfmon_its_own(files: int, tmp_path: Path) -> None:
    path = opening(tmp_path / "opens")
    words = ("-e", "ia64_inst_retired,loads_retired", f"--outfile={tmp_path}/counts", f"--record={tmp_path}/recording")
    done = limited(files, *words, str(path))
    assert (done.returncode, done.stdout) == (EMFILE, "here\n"), done.stderr
    assert "Traceback" not in done.stderr
    assert ("ulimit -n" in done.stderr) == (files <= LIMIT)
    assert len((tmp_path / "counts").read_text().splitlines()) == 2


@pytest.mark.slow
def test_a_program_may_have_all_files_that_it_is_told(tmp_path: Path) -> None:
    """Where the host allows them: its limit is the only one."""
    loop = ["again:", "adds r4=1,r4", *call("dup", 1), "cmp.eq p6,p7=r10,r0", "(p6) br.cond.sptk.few again"]
    path = write_program(tmp_path / "counts", ["mov r4=r0", *loop, "shr.u r4=r4,2", *call("exit_group", "r4")])
    assert limited(4096, "-e", "nops_retired", str(path)).returncode == (LIMIT - 2) // 4 % 256


@pytest.mark.slow
def test_too_few_descriptors_are_said_before_anything_runs(tmp_path: Path) -> None:
    done = limited(16, "-e", "nops_retired", str(opening(tmp_path / "opens")))
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr == "pfmon: the limit of open files (ulimit -n) is 16; at least 32 are wanted\n"


@pytest.mark.slow
def test_forks_end_where_the_host_has_no_descriptors(tmp_path: Path) -> None:
    """Each child waits for ever; the first that cannot be begun ends all, with the error number."""
    data = Data()
    child = ["waits:", "br.cond.sptk.few waits"]
    fork = [*call("clone2", SIGCHLD, 0, 0, 0, 0, 0), "cmp.eq p6,p7=r8,r0", "(p6) br.cond.sptk.few waits"]
    lines = ["again:", *fork, "cmp.eq p6,p7=r10,r0", "(p6) br.cond.sptk.few again", "adds r4=0,r8"]
    lines += [*call("kill", 0, 15), *call("exit_group", "r4"), *child]
    path = write_program(tmp_path / "forks", lines, data.bytes)
    done = limited(80, "-e", "nops_retired", str(path))
    assert done.returncode in (EAGAIN, 128 + 15), done.stderr
    assert "Traceback" not in done.stderr
