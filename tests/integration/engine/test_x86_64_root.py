"""x86-64 programs with --sysroot and --confine find files as after chroot(2), and nothing outside of the root."""

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from confined_roots import TOTALS, make_root, run
from grids import few, first_quick
from renaming import renaming
from x86_64_host import MARKS, PFMON, counted

PYTHON = "/usr/bin/python3"
NEEDS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root changes the root")
pytestmark = MARKS


# ---------------------------------------------------------------- as in a root of its own


@pytest.mark.slow
@NEEDS_ROOT
def test_calls_with_paths_give_what_they_give_after_chroot(programs: Path, tmp_path: Path) -> None:
    """Descriptors, contents, errors, links, rights, times, directories, sockets, scripts and executed programs."""
    one, other = (make_root(tmp_path / name, programs / "root") for name in ("one", "other"))
    native = subprocess.run(["chroot", one, "/program"], capture_output=True, text=True, check=True, timeout=10)
    found = run(other, other / "program")
    assert found.returncode == 0 and found.stdout.splitlines() == native.stdout.splitlines()
    assert len(native.stdout.splitlines()) > 250


@NEEDS_ROOT
@pytest.mark.parametrize("seed", first_quick(few(range(20), 4)))
def test_random_calls_do_what_they_do_after_chroot(programs: Path, tmp_path: Path, seed: int) -> None:
    """The same ones succeed and have the same effects. Of those that fail for two reasons at once some say the other
    one (of 3000 calls less than six)."""
    one, other = tmp_path / "one", tmp_path / "other"
    for root in (one, other):
        root.mkdir()
        shutil.copy(programs / "root_random", root / "program")
    words = [str(seed), "3000"]
    native = subprocess.run(["chroot", one, "/program", *words], capture_output=True, text=True, check=True, timeout=10)
    found = run(other, other / "program", *words)
    pairs = list(zip(native.stdout.splitlines(), found.stdout.splitlines(), strict=True))
    differing = [(wanted, got) for wanted, got in pairs if wanted != got]
    assert len(pairs) == 3000 and len(differing) < 6, differing
    assert not [got for pair in differing for got in pair if "done" in got or " -1, 0 0" not in got]
    assert sum("done" in wanted for wanted, _ in pairs) > 500
    assert tree(one) == tree(other)


def tree(root: Path) -> list[tuple[str, int, int, str]]:
    """All names below a root, with rights and kind, size, and where links lead."""
    found = []
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        size = 0 if path.is_dir() else status.st_size
        target = str(path.readlink()) if path.is_symlink() else ""
        found.append((str(path.relative_to(root)), status.st_mode, size, target))
    return found


# ---------------------------------------------------------------- nothing leads out


def escapes(outside: Path) -> list[str]:
    """Names that would lead out, or are of what a confined program does not have."""
    secret, socket_path = str(outside / "secret"), str(outside / "private" / "socket")
    climbing = "/".join([".."] * 30)
    return [
        *(secret, f"/..{secret}", f"/{climbing}{secret}", f"{climbing}{secret}", "/../secret", "../secret"),
        *("/sub/../../secret", "/sub/deep/../../../secret", "/absolute", "/relative", "/far", "/chain"),
        *("/directory/more", "/up/secret", "/up/../secret", "/proc", f"/proc/self/root{secret}"),
        *(f"/proc/self/cwd/..{secret}", f"/proc/1/root{secret}", f"/proc/{os.getpid()}/root{secret}"),
        *(f"/proc/thread-self/root{secret}", "/proc/self/fd/3/../../secret", f"/proc/self/fd/../root{secret}"),
        *("/proc/self/exe", "/proc/self/root", "/proc/self/mem", "/proc/1/environ", "/proc/1000/root/etc"),
        *("/etc/passwd", "/dev/mem", "/dev/fd/0/../../secret", f"//{secret}", f"/./..{secret}", "/sys/kernel"),
        socket_path,
    ]


@pytest.mark.slow
def test_no_name_leads_out(outside: Path) -> None:
    """By calls of all kinds (``finds`` of x86_64_root.c)."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(outside / "private" / "socket"))
        server.listen()
        found = run(outside / "root", outside / "root" / "program", "finds", *escapes(outside))
    assert (found.returncode, found.stdout) == (0, "")
    assert (outside / "secret").read_bytes() == (outside / "private" / "more").read_bytes() == b"outside"
    assert (outside / "secret").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in (outside / "private").iterdir()) == ["more", "socket"]


def test_names_that_are_found_natively_are_those_that_are_tried(outside: Path) -> None:
    """The same calls without pfmon find the secret in all ways but by its socket and its attribute."""
    done = subprocess.run(
        [outside / "root" / "program", "finds", outside / "secret"], capture_output=True, text=True, check=True
    )
    assert int(done.stdout.split()[-1], 16) & 0b1001_1011_1101_1111 == 0b1001_1011_1101_1111


@pytest.mark.slow
def test_renaming_meanwhile_leads_nowhere_outside(outside: Path) -> None:
    root = outside / "root"
    (root / "here").mkdir()
    (root / "here" / "file").write_text("inside")
    (root / "link").symlink_to("../private")
    with renaming(root):
        found = run(root, root / "program", "finds", *["/here/more"] * 2000)
    assert (found.returncode, found.stdout) == (0, "")
    assert (outside / "private" / "more").read_bytes() == b"outside"


# ---------------------------------------------------------------- with --sysroot alone


@pytest.mark.slow
def test_program_with_its_libraries_counts_the_same_with_a_root(linked: Path, tmp_path: Path) -> None:
    """Named as in its root, with the same files; and in a root that holds nothing."""
    (tmp_path / "empty").mkdir()
    program = [str(linked / "bin" / "cat"), str(linked / "etc" / "mine")]
    counts = {
        counted(program),
        counted(program, "-e", "instructions_retired", f"--sysroot={tmp_path / 'empty'}"),
        counted(program, "-e", "instructions_retired", "--slow"),
    }
    assert len(counts) == 1
    inside = [program[0], "/etc/mine"]
    wanted = ("-e", "instructions_retired", f"--sysroot={linked}")
    assert counted(inside, *wanted) == counted(inside, *wanted, "--slow")


@pytest.mark.slow
def test_confined_counts_are_the_same_each_time(linked: Path) -> None:
    words = ("-e", "instructions_retired", f"--sysroot={linked}", "--confine")
    program = [str(linked / "bin" / "sh"), "-c", "cd /etc; echo *; read x < mine; exit 0"]
    assert counted(program, *words) == counted(program, *words) == counted(program, *words, "--slow")


@pytest.mark.slow
def test_files_are_found_below_the_root_first_and_else_where_the_user_has_them(linked: Path, tmp_path: Path) -> None:
    (tmp_path / "own").write_text("own\n")
    words = [str(linked / "bin" / "cat"), "/etc/mine", str(tmp_path / "own"), "own"]
    command = [*PFMON, *TOTALS, f"--sysroot={linked}", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "mine\nown\nown\n")


FOLDER = "/pfmon-test-folder"
"""Which is not on the host, so that nothing is made there."""
IN_ROOT = f"""
import os, socket
os.chmod('{FOLDER}/one', 0o600)
os.rename('{FOLDER}/one', '{FOLDER}/two')
os.truncate('{FOLDER}/link', 7)
os.utime('{FOLDER}/two', (1, 2))
print(open('{FOLDER}/link').read(), os.readlink('{FOLDER}/link'))
print(os.listdir('{FOLDER}'), os.stat('{FOLDER}/two').st_mtime)
client = socket.socket(socket.AF_UNIX)
client.connect('{FOLDER}/socket')
datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
print(datagrams.sendto(b'one', '{FOLDER}/datagrams'), datagrams.sendmsg([b'two'], [], 0, '{FOLDER}/datagrams'))
os.chdir('{FOLDER}')
print(os.getcwd(), os.readlink('/proc/self/cwd'), os.path.exists('/usr/bin'))
try:
    os.link('{FOLDER}/two', '{FOLDER}/three')
except FileNotFoundError:
    print('not there')
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"there is no {PYTHON}")
def test_names_of_all_kinds_are_those_below_the_root_that_are_there(tmp_path: Path) -> None:
    """Both names of a call, links, sockets, the working directory; a name that is not there is the host's."""
    place = tmp_path / FOLDER[1:]
    place.mkdir()
    (place / "one").write_text("content")
    (place / "two").write_text("")
    (place / "link").symlink_to(f"{FOLDER}/two")
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams:
        server.bind(str(place / "socket"))
        server.listen()
        datagrams.bind(str(place / "datagrams"))
        words = [*PFMON, *TOTALS, f"--sysroot={tmp_path}", PYTHON, "-S", "-I", "-c", IN_ROOT]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.stdout.splitlines() == [
            f"content {FOLDER}/two",
            "['datagrams', 'link', 'socket', 'two'] 2.0",
            "3 3",
            f"{FOLDER} {FOLDER} True",
            "not there",
        ]
        assert (datagrams.recv(9), datagrams.recv(9)) == (b"one", b"two")


@pytest.mark.slow
def test_executed_programs_have_the_root_too(linked: Path, tmp_path: Path) -> None:
    """The shell's child and a script find their interpreter, their libraries and their files below the root."""
    script = linked / "script"
    script.write_text("#!/bin/sh\ncat /etc/mine /proc/self/maps\n")
    script.chmod(0o755)
    words = [linked / "bin" / "sh", "-c", "cat /etc/mine; PATH=/bin /script"]
    done = subprocess.run(
        [*PFMON, *TOTALS, f"--sysroot={linked}", "--env=PATH=/bin", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and done.stdout.startswith("mine\nmine\n")
    assert re.search(r" /bin/cat$", done.stdout, re.MULTILINE) and str(linked) not in done.stdout


@pytest.mark.parametrize("confine", [(), ("--confine",)], ids=["sysroot", "confine"])
def test_script_as_the_program_has_its_interpreter_and_its_name_in_the_root(
    linked: Path, confine: tuple[str, ...]
) -> None:
    script = linked / "named"
    script.write_text("#!/bin/sh -e\necho $0 $*\nreadlink /proc/self/exe || cat /etc/mine\n")
    script.chmod(0o755)
    words = [*PFMON, *TOTALS, f"--sysroot={linked}", *confine, "--env=PATH=/bin", script, "x"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.splitlines()[0] == "/named x"


@pytest.mark.slow
def test_names_are_those_in_the_root(linked: Path) -> None:
    """Of the program, the working directory and mappings."""
    script = "cd /etc; pwd; cat /proc/self/maps; ls /proc/self/exe -l 2>&1"
    found = run(linked, linked / "bin" / "sh", "-c", script, options=("--env=PATH=/bin",))
    assert found.stdout.startswith("/etc\n") and str(linked) not in found.stdout
    assert re.search(r" /bin/cat$", found.stdout, re.MULTILINE)
