"""x86-64 programs with --confine: the kernel holds hostile ones, and what it cannot hold is refused."""

import ctypes
import os
import re
import shlex
import shutil
import socket
import struct
import subprocess
from pathlib import Path

import pytest
from command import refused
from confined_roots import TOTALS, run
from preloaded import preloaded
from x86_64_host import ENGINE, HAS_KEYS, MARKS, PFMON

pytestmark = MARKS


# ---------------------------------------------------------------- a hostile program


def hostile_results(text: str) -> list[tuple[str, int]]:
    """The calls that code behind the engine's back has made, and what the kernel has answered."""
    return [(name, int(result)) for name, result in re.findall(r"^(\w+) (-?\d+)$", text, re.MULTILINE)]


def with_socket(place: Path) -> socket.socket:
    (place / "secret").write_bytes(b"outside")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(place / "socket"))
    server.listen()
    return server


def test_hostile_program_without_the_engine_does_what_it_tries(programs: Path, tmp_path: Path) -> None:
    """Its attempts succeed without confinement, but for those that need a prepared place."""
    with with_socket(tmp_path):
        done = subprocess.run(
            [programs / "hostile", "native", tmp_path], capture_output=True, text=True, check=False, timeout=10
        )
    results = dict(hostile_results(done.stdout))
    expected = {"open", "openat2", "stat", "chmod", "utimensat", "truncate", "chdir", "renameat2", "connect", "ptrace"}
    assert expected <= {name for name, result in results.items() if result >= 0}


def test_kernel_holds_a_hostile_program(programs: Path, outside: Path) -> None:
    """Its own system calls are refused: also in a process of the runtime that it has executed without the option. The
    pages of the names that the filter takes are sealed."""
    root = outside / "root"
    shutil.copy(programs / "hostile", root / "hostile")
    folder = outside / "private"
    with with_socket(folder):
        done = run(root, root / "hostile", "engine", folder)
    results = hostile_results(done.stdout)
    if HAS_KEYS:  # its first store into the runtime's memory ends it
        assert done.returncode == 139 and all(result < 0 for name, result in results if name != "inside")
        assert (folder / "secret").read_bytes() == b"outside" and not (folder / "made").exists()
        return
    assert [result for name, result in results if name == "sealed"] == [25, 25, 25, 25]
    succeeded = {name for name, result in results if result >= 0 and name not in ("sealed", "inside")}
    assert not succeeded and len(results) > 70
    assert "replaced" not in dict(results)
    assert (folder / "secret").read_bytes() == b"outside" and not (folder / "made").exists()
    assert done.returncode == 125 and "pfmon's memory" in done.stderr


WAITS = """
#include <stdio.h>
#include <unistd.h>
int main(int count, char **words) {
    char input;
    if (count < 2)
        execl("/wait", "wait", "x", NULL);
    puts("ready");
    fflush(stdout);
    return read(0, &input, 1) != 0;
}
"""


def runtime_status(process: Path, program: Path) -> str:
    """The status of a process of the runtime that executes the program; empty: another one, or one that has ended."""
    try:
        if os.fsencode(program) in (process / "cmdline").read_bytes() and "x86_64-runtime" in str(
            (process / "exe").readlink()
        ):
            return (process / "status").read_text()
    except OSError:
        pass
    return ""


def test_every_process_of_a_confined_run_has_the_filter(outside: Path) -> None:
    """Landlock is not in /proc, but the filter and no_new_privs are; here of a program that a script has executed."""
    root = outside / "root"
    (root / "wait").write_text("#!/program child\n")
    (root / "wait").chmod(0o755)
    source = outside / "wait.c"
    source.write_text(WAITS)
    subprocess.run(["cc", "-w", "-static", "-o", root / "program", source], check=True)
    command = [*PFMON, *TOTALS, f"--sysroot={root}", "--confine", root / "program"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin and process.stdout and process.stdout.readline() == b"ready\n"
        found = [text for one in Path("/proc").glob("[0-9]*") if (text := runtime_status(one, root / "program"))]
        process.stdin.close()
    assert len(found) == 1 and "Seccomp:\t2\n" in found[0] and "NoNewPrivs:\t1\n" in found[0]


# ---------------------------------------------------------------- refusals


def test_follow_is_refused_with_confine(linked: Path) -> None:
    said = refused(
        "-e", "instructions_retired", f"--sysroot={linked}", "--confine", "--follow-fork", str(linked / "bin/ls")
    )
    assert "--confine" in said


KERNEL_WITHOUT = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
long syscall(long number, long a, long b, long c, long d, long e, long f)
{
    static long (*real)(long, ...);
    if (!real)
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (number == MISSING) {
        errno = ENOSYS;
        return -1;
    }
    return real(number, a, b, c, d, e, f);
}
"""


@pytest.mark.parametrize(
    ("missing", "said"), [(444, "Landlock with ABI 6 (Linux 6.12)"), (317, "seccomp"), (462, "mseal"), (437, "openat2")]
)
def test_kernel_that_holds_no_program_refuses_the_option(
    missing: int, said: str, tmp_path: Path, programs: Path
) -> None:
    library = preloaded(KERNEL_WITHOUT, tmp_path, f"-DMISSING={missing}")
    words = [*PFMON[:-1], *TOTALS, f"--sysroot={tmp_path}", "--confine", programs / "root"]
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("pfmon: --confine wants") and said in done.stderr


def without_landlock() -> None:
    """Let landlock_restrict_self fail with EPERM, here and in all that begins here (seccomp(2))."""
    load, equal, end, refused_call, allowed = (0x20, 0), (0x15, 446), 0x06, 0x0005_0001, 0x7FFF_0000
    steps = [(load[0], 0, 0, load[1]), (equal[0], 0, 1, equal[1]), (end, 0, 0, refused_call), (end, 0, 0, allowed)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("=H6xQ", len(steps), ctypes.addressof(code)))
    library = ctypes.CDLL(None, use_errno=True)
    assert library.prctl(38, 1, 0, 0, 0) == 0 and library.prctl(22, 2, program) == 0


def test_run_ends_where_the_kernel_does_not_restrict_the_process(outside: Path) -> None:
    """Though it said that it could: the program does not begin."""
    root = outside / "root"
    words = [*PFMON, *TOTALS, f"--sysroot={root}", "--confine", root / "program", "child"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, preexec_fn=without_landlock)
    assert (done.returncode, done.stdout) == (125, "")
    assert "the kernel does not keep it below --sysroot (--confine)" in done.stderr


def test_root_with_what_leads_out_is_refused(programs: Path) -> None:
    """The memory of processes in /proc, and pfmon's own program."""
    for root, said in (("/", "pfmon in it"), ("/proc", "mounted /proc, which is at /proc")):
        words = (ENGINE, "-e", "instructions_retired", f"--sysroot={root}", "--confine", str(programs / "root"))
        assert said in refused(*words)


def test_limit_of_descriptors_that_is_too_low_refuses_the_option(tmp_path: Path, programs: Path) -> None:
    command = shlex.join(map(str, [*PFMON, *TOTALS, f"--sysroot={tmp_path}", "--confine", programs / "root"]))
    done = subprocess.run(["sh", "-c", f"ulimit -n 500; {command}"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "1024 descriptors, and the limit is 500" in done.stderr


@pytest.mark.parametrize(("options", "family"), [((), socket.AF_UNIX), (("--net",), socket.AF_INET)])
def test_sockets_are_of_one_kind(options: tuple[str, ...], family: int, tmp_path: Path) -> None:
    """UNIX sockets without --net, those of IPv4 and IPv6 with it; none of the other families."""
    source = tmp_path / "sockets.c"
    source.write_text(SOCKETS)
    (tmp_path / "root").mkdir()
    program = tmp_path / "root" / "sockets"
    subprocess.run(["cc", "-w", "-static", "-o", program, source], check=True)
    found = run(tmp_path / "root", program, options=options)
    kinds = {(family, kind) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET)}
    kinds -= {(socket.AF_UNIX, socket.SOCK_DGRAM), (socket.AF_INET, socket.SOCK_SEQPACKET)}
    made = {tuple(map(int, line.split())) for line in found.stdout.splitlines()}
    assert {(one, kind) for one, kind in made if one != socket.AF_INET6} == kinds
    assert found.stderr == ""


SOCKETS = """
#include <stdio.h>
#include <sys/socket.h>
int main(void) {
    static const int kinds[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
    for (int family = 0; family < 45; family++)
        for (int i = 0; i < 3; i++)
            if (socket(family, kinds[i] | SOCK_CLOEXEC, 0) >= 0)
                printf("%d %d\\n", family, kinds[i]);
}
"""
