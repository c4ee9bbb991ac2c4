"""What --confine promises holds while somebody renames files, on kernels without openat2, and with devices in the
root."""

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from command import example, refused
from preloaded import preloaded
from renaming import renaming

from pfmon.engine.guest_settings import GuestSettings
from pfmon.program.root import ATTEMPTS, LOOK, Root

CREATE, EXCLUSIVE, NO_FOLLOW, PATH = 0o100, 0o200, 0o400000, 0o10000000
ROUNDS = 4_000
AT_FDCWD = -100


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a file, beside a directory of secrets that a link in it points at."""
    root = tmp_path / "root"
    (root / "here").mkdir(parents=True)
    (tmp_path / "secrets").mkdir()
    (root / "here" / "file").write_text("mine")
    (tmp_path / "secrets" / "file").write_text("secret")
    (tmp_path / "secrets" / "only").write_text("secret")
    (root / "link").symlink_to("../secrets")
    return root


@pytest.fixture
def settings(root: Path) -> GuestSettings:
    return GuestSettings(sysroot=str(root), confined=True)


@pytest.fixture
def swapped(root: Path) -> Iterator[None]:
    """Another process renames in the root all the time."""
    with renaming(root):
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("swapped")
def test_renaming_meanwhile_leads_nowhere_outside(guest: Any, root: Path) -> None:
    ended: dict[int, int] = {}
    buffer = guest.scratch + 0x1000
    for _ in range(ROUNDS):
        found = guest.open("/here/file")
        ended[min(found, 0)] = ended.get(min(found, 0), 0) + 1
        if found >= 0:
            assert guest.call("read", found, buffer, 100) == 4
            guest.call("close", found)
        # Neither is seen, changed nor made what is outside alone.
        assert guest.call("newfstatat", AT_FDCWD, guest.text("/here/only"), buffer, 0) < 0
        guest.call("chmod", guest.text("/here/file"), 0o600)
        made = guest.open("/here/made", CREATE | 1)
        if made >= 0:
            guest.call("close", made)
        guest.call("mkdir", guest.text("/here/folder"), 0o777)
        guest.call("rmdir", guest.text("/here/folder"))
    assert ended.get(0, 0) > ROUNDS // 20  # it was there now and then
    assert set(ended) <= {0, -errno.ENOENT, -errno.EAGAIN}
    outside = root.parent / "secrets"
    assert sorted(path.name for path in outside.iterdir()) == ["file", "only"]
    assert stat.S_IMODE((outside / "file").stat().st_mode) != 0o600


class Answers:
    """A C library whose openat2 gives these error numbers, one after the other, and then does it."""

    def __init__(self, library: Any, numbers: list[int]) -> None:
        self._library, self.numbers = library, numbers

    def syscall(self, *arguments: Any) -> int:
        import ctypes

        if self.numbers:
            ctypes.set_errno(self.numbers.pop())
            return -1
        return int(self._library.syscall(*arguments))


def test_a_name_in_motion_is_looked_for_32_times(root: Path) -> None:
    assert ATTEMPTS == 32
    one = Root(os.fsencode(root))
    library = one._library
    one._library = Answers(library, [errno.EAGAIN] * 31)
    os.close(one.open(b"/here/file", LOOK))
    one._library = Answers(library, [errno.EAGAIN] * 32)
    with pytest.raises(BlockingIOError):
        one.open(b"/here/file", LOOK)


def test_the_program_gets_eagain_after_that(guest: Any) -> None:
    one = guest.process.paths.root
    one._library = Answers(one._library, [errno.EAGAIN] * 32)
    assert guest.open("/here/file") == -errno.EAGAIN
    assert guest.open("/here/file") >= 0


# --- kernels without it

NO_OPENAT2 = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
long syscall(long number, long a, long b, long c, long d, long e, long f)
{
    static long (*real)(long, ...);
    if (!real)
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (number == 437) {
        errno = ANSWER;
        return -1;
    }
    return real(number, a, b, c, d, e, f);
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "why"), [("ENOSYS", "the kernel does not have it"), ("EPERM", "a filter")])
def test_without_openat2_the_option_is_refused(answer: str, why: str, tmp_path: Path) -> None:
    library = preloaded(NO_OPENAT2, tmp_path, f"-DANSWER={answer}")
    words = [sys.executable, "-m", "pfmon", f"--sysroot={tmp_path}", "--confine", example("fib"), "3"]
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2 and done.stdout == "", done
    *_, last = done.stderr.splitlines()
    assert last.startswith("pfmon: --confine wants openat2(2)") and why in last
    assert "Traceback" not in done.stderr
    without = subprocess.run(
        [*words[:3], "-e", "nops_retired", *words[5:]], capture_output=True, text=True, check=False, env=environment
    )
    assert without.returncode == 0


def test_programs_under_qemu_are_refused_as_they_see_all(tmp_path: Path) -> None:
    said = refused("-e", "instructions_retired", "--engine=qemu", f"--sysroot={tmp_path}", "--confine", "/bin/true")
    assert "--confine: this program runs under qemu" in said


# --- devices

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root makes devices")


@pytest.mark.parametrize("kind", [stat.S_IFCHR, stat.S_IFBLK])
def test_confined_programs_make_no_devices(guest: Any, root: Path, kind: int) -> None:
    assert guest.call("mknodat", AT_FDCWD, guest.text("/device"), kind | 0o666, 0x103) == -errno.EPERM
    assert guest.call("mknod", guest.text("/device"), kind | 0o666, 0x103) == -errno.EPERM
    assert not (root / "device").exists()
    assert guest.call("mknod", guest.text("/pipe"), stat.S_IFIFO | 0o666, 0) == 0
    assert guest.call("mknod", guest.text("/plain"), 0o666, 0) == 0
    assert stat.S_ISFIFO((root / "pipe").stat().st_mode) and (root / "plain").is_file()


@needs_root
def test_confined_programs_open_no_devices_of_the_root(guest: Any, root: Path) -> None:
    os.mknod(root / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    (root / "alias").symlink_to("null")
    for name in ("/null", "/alias", "null"):
        for flags in (0, 1, 2, CREATE | 1, PATH, 0o1000 | 1):
            assert guest.open(name, flags) == -errno.EACCES, (name, oct(flags))
    assert guest.call("truncate", guest.text("/null"), 0) == -errno.EINVAL  # as the host's kernel says of a device
    assert guest.call("newfstatat", AT_FDCWD, guest.text("/null"), guest.scratch + 0x1000, 0) == 0
    assert guest.open("/dev/null", 2) > 0  # the one that they have


# --- as without the option


@pytest.mark.slow
def test_files_open_and_are_made_as_the_host_has_it(guest: Any, root: Path) -> None:
    """With expected values from open(2) on the host."""
    (root / "good").symlink_to("/here/file")
    (root / "dangling").symlink_to("here/later")
    names = [
        "/here/file",
        "/here",
        "/here/",
        "/here/file/",
        "/good",
        "/dangling",
        "/missing",
        "/missing/file",
        "/here/.",
    ]
    wanted = [
        0,
        1,
        CREATE | 1,
        CREATE | EXCLUSIVE | 1,
        NO_FOLLOW,
        PATH,
        PATH | NO_FOLLOW,
        0o200000,
        CREATE | NO_FOLLOW | 1,
    ]
    cases = [*product(names, wanted)]
    for (name, flags), expected in zip(cases, _on_the_host(root, cases), strict=True):
        found = guest.open(name, flags)
        assert min(found, 0) == expected, (name, oct(flags))
        _remove_made(root)


def _on_the_host(root: Path, cases: Sequence[tuple[str, int]]) -> list[int]:
    """What open(2) gives in that root, each time anew: 0, or minus the error number."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.chroot(root)
            os.write(writer, bytes(_error_of_open(name, flags) for name, flags in cases))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answers:
        return [-number for number in answers.read()]


def _error_of_open(name: str, flags: int) -> int:
    """In this process, whose root has been changed."""
    own = flags & ~(CREATE | EXCLUSIVE | NO_FOLLOW | PATH | 0o200000) | _host_flags(flags)
    try:
        os.close(os.open(name, own, 0o644))
    except OSError as error:
        return error.errno or 255
    finally:
        _remove_made(Path("/"))
    return 0


def _remove_made(root: Path) -> None:
    for made in ("missing", "here/later"):
        (root / made).unlink(missing_ok=True)


def _host_flags(flags: int) -> int:
    pairs = ((CREATE, os.O_CREAT), (EXCLUSIVE, os.O_EXCL), (NO_FOLLOW, os.O_NOFOLLOW), (PATH, os.O_PATH))
    return sum(host for guests, host in pairs if flags & guests) | (os.O_DIRECTORY if flags & 0o200000 else 0)
