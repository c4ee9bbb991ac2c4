"""With --confine a program neither sees nor touches what is outside of its sysroot, whatever way it tries."""

import errno
import os
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.linux.process import process_exit

AT_FDCWD = -100
DIRECTORY, PATH = 0o200000, 0o10000000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A sysroot beside a secret, with links that point at it in several ways."""
    (tmp_path / "secret").write_bytes(b"outside")
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "more").write_bytes(b"outside")
    root = tmp_path / "root"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "file").write_bytes(b"inside")
    secret = str(tmp_path / "secret")
    for name, target in {
        "absolute": secret,
        "relative": "../secret",
        "far": "../../../../../../../../../.." + secret,
        "chain": "sub/next",
        "sub/next": "../../secret",
        "directory": str(tmp_path / "private"),
        "up": "..",
        "loop": "loop",
        "self": "/file",
        "proc": "/proc/self/root" + secret,
    }.items():
        (root / name).symlink_to(target)
    return root


@pytest.fixture
def settings(root: Path) -> GuestSettings:
    return GuestSettings(sysroot=str(root), confined=True)


@pytest.fixture
def inside(guest: Any, tmp_path: Path) -> Iterator[Any]:
    """The program; afterwards everything outside is as it was."""
    before = sorted(path.name for path in tmp_path.iterdir())
    yield guest
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert (tmp_path / "secret").read_bytes() == (tmp_path / "private" / "more").read_bytes() == b"outside"
    assert [path.name for path in (tmp_path / "private").iterdir()] == ["more"]


def escapes(tmp_path: Path) -> list[str]:
    secret = str(tmp_path / "secret")
    climbing = "/".join([".."] * 30)
    return [
        secret,
        "/.." + secret,
        f"/{climbing}{secret}",
        f"{climbing}{secret}",
        "/../secret",
        "../secret",
        "/sub/../../secret",
        "/sub/deep/../../../secret",
        "/absolute",
        "/relative",
        "/far",
        "/chain",
        "/directory/more",
        "/up/secret",
        "/up/../secret",
        "/proc",
        f"/proc/self/root{secret}",
        f"/proc/self/cwd/..{secret}",
        f"/proc/1/root{secret}",
        f"/proc/{os.getpid()}/root{secret}",
        f"/proc/{os.getpid()}/cwd/../secret",
        f"/proc/thread-self/root{secret}",
        "/proc/self/fd/3/../../secret",
        "/proc/self/fd/../root" + secret,
        "/proc/self/exe",
        "/etc/passwd",
        "/dev/mem",
        "/dev/fd/0/../../secret",
        "//" + secret,
        "/./.." + secret,
    ]


def test_no_name_leads_out(inside: Any, tmp_path: Path) -> None:
    assert inside.open("/sub", DIRECTORY) == 3
    for name in escapes(tmp_path):
        for flags in (0, 1, 2, 0o1000 | 1):  # reading, writing, both, O_TRUNC
            assert inside.open(name, flags) < 0, name
        assert inside.call("newfstatat", AT_FDCWD, inside.text(name), inside.scratch + 0x1000, 0) < 0, name
        assert inside.call("faccessat", AT_FDCWD, inside.text(name), 4) < 0, name
        assert inside.call("execve", inside.text(name), 0, 0) < 0, name
        assert inside.call("truncate", inside.text(name), 0) < 0, name
        assert inside.call("chmod", inside.text(name), 0o777) < 0, name
        assert inside.call("statfs", inside.text(name), inside.scratch + 0x1000) < 0, name
        inside.call("unlinkat", AT_FDCWD, inside.text(name), 0)  # removes links that are inside


@pytest.mark.parametrize("start", ["", "/sub", "/sub/deep"])
def test_directories_do_not_lead_out(inside: Any, tmp_path: Path, start: str) -> None:
    at = AT_FDCWD if not start else inside.open(start, DIRECTORY | PATH)
    for name in ("../secret", "../../secret", "../../../secret", "../../../private/more"):
        assert inside.call("openat", at, inside.text(name), 0, 0) == -errno.ENOENT
    for name in ("../..", "../../..", "../../../.."):
        here = inside.call("openat", at, inside.text(name), DIRECTORY, 0)
        assert inside.call("openat", here, inside.text("file"), 0, 0) >= 0  # / is above itself
    assert inside.call("chdir", inside.text("../../../../..")) == 0
    assert inside.call("getcwd", inside.scratch, 100) == 2 and inside.get(2) == b"/\0"
    assert inside.call("chdir", inside.text(str(tmp_path))) == -errno.ENOENT
    assert inside.call("chdir", inside.text("/directory")) == -errno.ENOENT


def test_nothing_is_made_or_moved_outside(inside: Any, tmp_path: Path) -> None:
    out = str(tmp_path / "made")
    create = 0o100 | 1
    for name in (out, "../made", "/sub/../../made", "/up/../made", "/directory/made"):
        found = inside.open(name, create)
        assert found < 0 or not (tmp_path / "made").exists()
        inside.call("mkdir", inside.text(name), 0o777)
        inside.call("symlink", inside.text("/file"), inside.text(name, 0x200))
        inside.call("link", inside.text("/file"), inside.text(name, 0x200))
        inside.call("rename", inside.text("/file"), inside.text(name, 0x200))
        inside.call("rename", inside.text(name), inside.text("/file", 0x200))
    for name in ("../secret", str(tmp_path / "secret"), "/relative"):
        inside.call("link", inside.text(name), inside.text("/stolen", 0x200))
        found = inside.open("/stolen")
        assert found < 0 or inside.call("read", found, inside.scratch, 10) != 7
        inside.call("unlinkat", AT_FDCWD, inside.text("/stolen"), 0)


def test_a_link_that_is_made_inside_stays_inside(inside: Any, tmp_path: Path) -> None:
    assert inside.call("symlink", inside.text(str(tmp_path / "secret")), inside.text("/new", 0x200)) == 0
    assert inside.open("/new") == -errno.ENOENT
    assert inside.open("/new", 0o100 | 1) == -errno.ENOENT  # its target would be below the root, in no directory
    assert inside.open("/loop") == -errno.ELOOP
    assert inside.open("/self") >= 0  # to /file, which is there


def test_sockets_are_found_inside_alone(inside: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as hidden:
        server.bind("private/s")
        server.listen()
        hidden.bind(b"\0pfmon-test-outside")
        hidden.listen()
        fd = inside.call("socket", 1, 1, 0)
        for name in (str(tmp_path / "private/s"), "../private/s", "/directory/s", "\0pfmon-test-outside"):
            address = struct.pack("<H", 1) + name.encode() + (b"" if name.startswith("\0") else b"\0")
            assert inside.call("connect", fd, inside.put(address[:110]), len(address[:110])) < 0, name
    (tmp_path / "private" / "s").unlink()


def test_what_is_inside_is_there(inside: Any, root: Path) -> None:
    fd = inside.open("/file")
    assert inside.call("read", fd, inside.scratch, 100) == 6 and inside.get(6) == b"inside"
    assert inside.open("/sub/new", 0o100 | 1) > 0 and (root / "sub" / "new").exists()
    null = inside.open("/dev/null", 2)
    assert inside.call("write", null, inside.scratch, 10) == 10
    again = inside.open(f"/proc/self/fd/{fd}")
    assert inside.call("read", again, inside.scratch, 100) == 6
    sub = inside.open("/sub", DIRECTORY)
    assert inside.open(f"/proc/self/fd/{sub}/../file") > 0
    assert inside.open("/proc/self/maps") > 0 and inside.open("/proc/cpuinfo") > 0


def test_the_option_needs_a_directory() -> None:
    import pfmon

    with pytest.raises(pfmon.PfmonError, match=r"--confine.*--sysroot"):
        pfmon.run("anything", confine=True)


def test_guests_are_independent(new_guest: Callable[[], Any], tmp_path: Path) -> None:
    """Without the option a path that is not below the sysroot is the host's, as the user's own files are."""
    guest = new_guest()
    (tmp_path / "mine").write_bytes(b"mine")
    assert guest.open(tmp_path / "mine") > 0
    process_exit.close(guest.process)
