"""Paths under a sysroot."""

import os
from pathlib import Path

import pytest

from pfmon.program.sysroot import Sysroot


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libc.so").write_text("target's")
    (tmp_path / "alias").symlink_to("/lib")
    (tmp_path / "up").symlink_to("../../../lib")
    (tmp_path / "loop").symlink_to("/loop")
    return tmp_path


@pytest.mark.parametrize(
    "path", [b"/lib/libc.so", b"/alias/libc.so", b"/up/libc.so", b"/../lib/./libc.so", b"//lib//libc.so"]
)
def test_path_inside_goes_to_the_sysroot_whatever_links_it_takes(root: Path, path: bytes) -> None:
    assert Path(os.fsdecode(Sysroot(str(root)).host_path(path))).read_text() == "target's"


def test_path_that_the_sysroot_lacks_stays_as_it_is(root: Path) -> None:
    sysroot = Sysroot(str(root))
    assert sysroot.host_path(b"/no/such/file") == b"/no/such/file"
    assert sysroot.host_path(b"lib/libc.so") == b"lib/libc.so"
    assert sysroot.host_path(b"/loop") == b"/loop"


def test_final_link_is_kept_on_request(root: Path) -> None:
    assert Sysroot(str(root)).host_path(b"/alias", follow=False) == os.fsencode(root / "alias")


def test_guest_name_has_no_sysroot(root: Path) -> None:
    sysroot = Sysroot(str(root))
    assert sysroot.guest_path(os.fsencode(root / "lib")) == b"/lib"
    assert sysroot.guest_path(os.fsencode(root)) == b"/"
    assert sysroot.guest_path(b"/elsewhere") == b"/elsewhere"


def test_no_sysroot_changes_nothing() -> None:
    assert Sysroot(None).host_path(b"/lib") == b"/lib"
    assert Sysroot(None).guest_path(b"/lib") == b"/lib"
