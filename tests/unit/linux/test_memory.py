"""brk, mmap and their relatives; mapped files are compared with the host's."""

import errno
import os
import struct
from pathlib import Path
from typing import Any

import pytest
from example_counts import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from pfmon.engine.guest_memory import GuestMemoryFault
from pfmon.engine.linux import kernel
from pfmon.engine.linux.process import process_exit

PAGE = 1 << 14
READ, WRITE = 1, 2
SHARED, PRIVATE, FIXED, ANONYMOUS, NOREPLACE = 1, 2, 0x10, 0x20, 0x100000
ANY = PRIVATE | ANONYMOUS
MAP_BASE = 0x2000000000000000
DATA_RIGHTS_FAULT, NOT_PRESENT_FAULT = 9, 8


def test_break_moves_up_and_down_by_bytes_and_new_memory_is_zero(guest: Any) -> None:
    start = guest.call("brk", 0)
    assert start == guest.call("brk", 1)
    assert start % PAGE == 0
    assert guest.call("brk", start + 100) == start + 100
    guest.memory.write(start, b"x" * PAGE)
    assert guest.call("brk", start + 3 * PAGE) == start + 3 * PAGE
    assert guest.memory.read(start + PAGE, 2 * PAGE) == bytes(2 * PAGE)
    assert guest.call("brk", start + 10) == start + 10
    assert not guest.memory.is_mapped(start + PAGE, 1)
    assert guest.memory.read(start, 3) == b"xxx"


def test_break_does_not_run_into_a_mapping_or_out_of_memory(guest: Any) -> None:
    start = guest.call("brk", 0)
    assert guest.call("mmap", start + 4 * PAGE, PAGE, READ, ANY | FIXED, -1, 0) == start + 4 * PAGE
    assert guest.call("brk", start + 5 * PAGE) == start
    assert guest.call("brk", start + 4 * PAGE) == start + 4 * PAGE
    assert guest.call("brk", start + (8 << 30)) == start + 4 * PAGE
    assert guest.call("brk", (1 << 64) - 1) == start + 4 * PAGE


def test_mmap_gives_the_lowest_free_place_and_honours_hints(guest: Any) -> None:
    first = guest.call("mmap", 0, 100, READ | WRITE, ANY, -1, 0)
    assert first == MAP_BASE
    assert guest.call("mmap", 0, PAGE, READ | WRITE, ANY, -1, 0) == first + PAGE
    hint = first + 100 * PAGE
    assert guest.call("mmap", hint + 5, PAGE, READ, ANY, -1, 0) == hint + PAGE
    assert guest.call("mmap", first, PAGE, READ, ANY, -1, 0) == first + 2 * PAGE
    assert guest.call("munmap", first, PAGE) == 0
    assert guest.call("mmap", 0, PAGE, READ, ANY, -1, 0) == first


def test_bad_mappings_are_refused(guest: Any) -> None:
    assert guest.call("mmap", 0, 0, READ, ANY, -1, 0) == -errno.EINVAL
    assert guest.call("mmap", 0, PAGE, READ, ANONYMOUS, -1, 0) == -errno.EINVAL
    assert guest.call("mmap", 5, PAGE, READ, ANY | FIXED, -1, 0) == -errno.EINVAL
    assert guest.call("mmap", 0, PAGE, READ, PRIVATE, 77, 0) == -errno.EBADF
    assert guest.call("mmap", 0, PAGE, READ, PRIVATE, 77, 5) == -errno.EINVAL
    assert guest.call("mmap", 0, 2 << 30, READ, ANY, -1, 0) == -errno.ENOMEM  # over the test's limit
    for length in (1 << 44, 1 << 60, (1 << 64) - 1):
        assert guest.call("mmap", 0, length, READ, ANY, -1, 0) == -errno.ENOMEM
    for address in (0xA000000000000000, 0xE000000000000000, MAP_BASE + (1 << 44) - PAGE, 1 << 60):
        assert guest.call("mmap", address, PAGE, READ, ANY | FIXED, -1, 0) == -errno.ENOMEM
    assert guest.call("munmap", 3, PAGE) == -errno.EINVAL
    assert guest.call("munmap", 0, 0) == -errno.EINVAL
    assert guest.call("munmap", 0, (1 << 64) - 1) == -errno.EINVAL
    guest.call("mmap", MAP_BASE, PAGE, READ, ANY | FIXED, -1, 0)
    assert guest.call("mmap", MAP_BASE, PAGE, READ, ANY | NOREPLACE, -1, 0) == -errno.EEXIST


def test_protection_takes_effect_and_writable_pages_can_be_read(guest: Any) -> None:
    at = guest.call("mmap", 0, 2 * PAGE, WRITE, ANY, -1, 0)
    guest.memory.write(at, b"abc")
    assert guest.memory.read(at, 3) == b"abc"
    assert guest.call("mprotect", at + PAGE, PAGE, 0) == 0
    assert guest.call("getrandom", at + PAGE, 8, 0) == -errno.EFAULT
    assert guest.call("getrandom", at + PAGE - 4, 8, 0) == 4
    assert guest.call("mprotect", at, 3 * PAGE, READ) == -errno.ENOMEM
    assert guest.call("mprotect", at, PAGE, 64) == -errno.EINVAL
    assert guest.call("mprotect", at + 1, PAGE, READ) == -errno.EINVAL
    assert guest.call("mprotect", at, 0, READ) == 0


def test_private_file_mapping_shows_the_file_and_keeps_changes_to_itself(guest: Any, tmp_path: Path) -> None:
    data = os.urandom(PAGE + 100)
    (tmp_path / "f").write_bytes(data)
    fd = guest.open(tmp_path / "f")
    at = guest.call("mmap", 0, 2 * PAGE, READ | WRITE, PRIVATE, fd, 0)
    guest.call("close", fd)
    assert guest.memory.read(at, 2 * PAGE) == data + bytes(PAGE - 100)
    guest.memory.write(at, b"changed")
    assert guest.call("madvise", at, PAGE, 4) == 0
    assert guest.memory.read(at, 7) == data[:7]
    guest.memory.write(at, b"changed")
    process_exit.close(guest.process)
    assert (tmp_path / "f").read_bytes() == data


def test_shared_mapping_writes_back_at_msync_munmap_and_the_end(guest: Any, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(bytes(3 * PAGE + 10))
    fd = guest.open(path, 2)
    at = guest.call("mmap", 0, 4 * PAGE, READ | WRITE, SHARED, fd, 0)
    guest.memory.write(at, b"first")
    assert guest.call("msync", at, PAGE, 4) == 0
    assert path.read_bytes()[:5] == b"first"
    guest.memory.write(at + PAGE, b"second")
    assert guest.call("munmap", at + PAGE, PAGE) == 0
    assert path.read_bytes()[PAGE : PAGE + 6] == b"second"
    guest.memory.write(at + 3 * PAGE, b"0123456789beyond")
    guest.call("exit_group", 0)
    assert path.read_bytes()[3 * PAGE :] == b"0123456789"
    assert path.stat().st_size == 3 * PAGE + 10


def test_shared_mapping_and_read_and_write_see_each_other(guest: Any, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a" * 100)
    fd = guest.open(tmp_path / "f", 2)
    at = guest.call("mmap", 0, PAGE, READ | WRITE, SHARED, fd, 0)
    guest.memory.write(at + 10, b"mapped")
    assert guest.call("pread64", fd, guest.scratch, 6, 10) == 6
    assert guest.get(6) == b"mapped"
    guest.call("pwrite64", fd, guest.put(b"written"), 7, 50)
    assert guest.memory.read(at + 50, 7) == b"written"
    assert guest.memory.read(at + 10, 6) == b"mapped"


def test_mapping_needs_a_file_that_allows_it(guest: Any, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    for_reading, for_writing = guest.open(tmp_path / "f"), guest.open(tmp_path / "f", 1)
    assert guest.call("mmap", 0, PAGE, READ | WRITE, SHARED, for_reading, 0) == -errno.EACCES
    assert guest.call("mmap", 0, PAGE, READ, PRIVATE, for_writing, 0) == -errno.EACCES
    at = guest.call("mmap", 0, PAGE, READ, SHARED, for_reading, 0)
    assert guest.call("mprotect", at, PAGE, READ | WRITE) == -errno.EACCES
    directory = guest.open(tmp_path)
    assert guest.call("mmap", 0, PAGE, READ, PRIVATE, directory, 0) == -errno.ENODEV
    assert guest.call("mmap", 0, PAGE, READ | WRITE, PRIVATE, guest.open("/dev/zero"), 0) > 0


def test_touching_a_mapping_beyond_its_file_is_sigbus_until_the_file_grows(guest: Any, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    fd = guest.open(tmp_path / "f", 2)
    at = guest.call("mmap", 0, 3 * PAGE, READ | WRITE, SHARED, fd, 0)
    assert guest.call("read", fd, at + PAGE, 1) == -errno.EFAULT
    with (tmp_path / "f").open("r+b") as file:
        file.truncate(2 * PAGE)
        file.seek(PAGE)
        file.write(b"grown")
    assert kernel.fault(guest.process, DATA_RIGHTS_FAULT, at + PAGE, 0) is None
    assert guest.memory.read(at + PAGE, 5) == b"grown"
    death = kernel.fault(guest.process, DATA_RIGHTS_FAULT, at + 2 * PAGE, 0)
    assert death.signal == 7


def test_mremap_shrinks_grows_and_moves_contents(guest: Any) -> None:
    at = guest.call("mmap", 0, 2 * PAGE, READ | WRITE, ANY, -1, 0)
    guest.memory.write(at, b"one")
    guest.memory.write(at + PAGE, b"two")
    assert guest.call("mremap", at, 2 * PAGE, 4 * PAGE, 0) == at
    assert guest.memory.read(at + 3 * PAGE, 4) == bytes(4)
    wall = guest.call("mmap", at + 4 * PAGE, PAGE, READ, ANY | FIXED, -1, 0)
    assert guest.call("mremap", at, 4 * PAGE, 6 * PAGE, 0) == -errno.ENOMEM
    moved = guest.call("mremap", at, 4 * PAGE, 6 * PAGE, 1)
    assert moved == wall + PAGE
    assert guest.memory.read(moved, 3) + guest.memory.read(moved + PAGE, 3) == b"onetwo"
    assert not guest.memory.is_mapped(at, 1)
    assert guest.call("mremap", moved, 6 * PAGE, PAGE, 0) == moved
    assert not guest.memory.is_mapped(moved + PAGE, 1)
    target = MAP_BASE + 1000 * PAGE
    assert guest.call("mremap", moved, PAGE, 2 * PAGE, 3, target) == target
    assert guest.memory.read(target, 3) == b"one"
    assert guest.call("mremap", moved, PAGE, PAGE, 1) == -errno.EFAULT
    assert guest.call("mremap", target, 0, PAGE, 1) == -errno.EINVAL


def test_madvise_dontneed_zeroes_and_others_do_nothing(guest: Any) -> None:
    at = guest.call("mmap", 0, 2 * PAGE, READ | WRITE, ANY, -1, 0)
    guest.memory.write(at, b"x" * (2 * PAGE))
    assert guest.call("madvise", at, PAGE, 3) == 0
    assert guest.call("madvise", at + PAGE, PAGE, 4) == 0
    assert guest.memory.read(at, 2 * PAGE) == b"x" * PAGE + bytes(PAGE)
    assert guest.call("madvise", at, 3 * PAGE, 4) == -errno.ENOMEM
    assert guest.call("mincore", at, 2 * PAGE, guest.scratch) == 0
    assert guest.get(2) == b"\1\1"


steps = st.lists(
    st.tuples(
        st.sampled_from(["map", "unmap", "protect", "write"]),
        st.integers(0, 7),
        st.integers(1, 4),
        st.sampled_from([0, READ, READ | WRITE]),
    ),
    max_size=25,
)


@pytest.mark.slow
@examples(80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_any_sequence_of_mappings_is_as_in_a_page_table(guest: Any, what: list[tuple[str, int, int, int]]) -> None:
    base = MAP_BASE + 5000 * PAGE
    guest.call("munmap", base, 16 * PAGE)
    table: dict[int, tuple[int, bytes]] = {}
    for kind, first, count, rights in what:
        pages = range(first, first + count)
        address = base + first * PAGE
        if kind == "map":
            assert guest.call("mmap", address, count * PAGE, rights, ANY | FIXED, -1, 0) == address
            table.update(dict.fromkeys(pages, (rights, b"\x00")))
        elif kind == "unmap":
            assert guest.call("munmap", address, count * PAGE) == 0
            for page in pages:
                table.pop(page, None)
        elif kind == "protect":
            complete = all(page in table for page in pages)
            assert guest.call("mprotect", address, count * PAGE, rights) == (0 if complete else -errno.ENOMEM)
            if complete:
                table.update({page: (rights, table[page][1]) for page in pages})
        else:
            expected = bool(table.get(first, (0, b""))[0] & WRITE)
            assert (guest.call("getcwd", address, 4096) > 0) == expected
            if expected:
                table[first] = (table[first][0], b"/")
    for page, (rights, content) in table.items():
        if rights & READ:
            assert guest.memory.read(base + page * PAGE, 1) == content
        assert guest.memory.is_mapped(base + page * PAGE, PAGE)
    assert sum(guest.memory.is_mapped(base + page * PAGE, PAGE) for page in range(16)) == len(table)


def test_initial_process_has_its_stack_backing_store_and_gate_page(guest: Any) -> None:
    top = 0x60000FFFFFFFC000
    assert guest.memory.is_mapped(top - (8 << 20), 8 << 20)
    assert not guest.memory.is_mapped(top, 1)
    r = guest.registers
    assert guest.memory.is_mapped(r.ar("bspstore"), 8 << 20)
    assert r.gr(12) % 16 == 0
    assert struct.unpack("<Q", guest.memory.read(r.gr(12) + 16, 8)) == (2,)
    assert r.ip == 0x40000000000002C0
    assert r.ar("fpsr") == 0x9804C0270033F
    assert guest.memory.is_mapped(0xA000000000000000, PAGE)


def test_shared_mappings_of_one_file_have_the_same_pages(guest: Any, tmp_path: Path) -> None:
    """Whatever parts of it they show, before and behind those that are mapped already, and whoever goes first."""
    (tmp_path / "file").write_bytes(bytes(range(6)) * PAGE)
    fd = guest.open(tmp_path / "file", 2)
    middle = guest.call("mmap", 0, 2 * PAGE, 3, SHARED, fd, 2 * PAGE)
    guest.memory.write(middle + 5, b"first")
    whole = guest.call("mmap", 0, 8 * PAGE, 3, SHARED, fd, 0)
    again = guest.open(tmp_path / "file", 2)
    end = guest.call("mmap", 0, PAGE, 1, SHARED, again, 3 * PAGE)
    own = guest.call("mmap", 0, 6 * PAGE, 3, PRIVATE, fd, 0)
    assert guest.memory.read(whole + 2 * PAGE + 5, 5) == guest.memory.read(own + 2 * PAGE + 5, 5) == b"first"
    guest.memory.write(whole + 3 * PAGE + 7, b"second")
    guest.memory.write(whole + PAGE, b"third")
    assert guest.memory.read(middle + PAGE + 7, 6) == guest.memory.read(end + 7, 6) == b"second"
    assert guest.memory.read(own + 3 * PAGE + 7, 6) != b"second"
    assert guest.memory.place(whole + 3 * PAGE) == guest.memory.place(end)
    assert guest.call("munmap", whole, 8 * PAGE) == 0
    guest.memory.write(middle + PAGE + 7, b"fourth")
    assert guest.memory.read(end + 7, 6) == b"fourth"
    assert guest.call("pread64", fd, guest.scratch, 6, 3 * PAGE + 7) == 6 and guest.get(6) == b"fourth"
    assert guest.call("munmap", middle, 2 * PAGE) == guest.call("munmap", end, PAGE) == 0
    held = (tmp_path / "file").read_bytes()
    expected = bytearray(bytes(range(6)) * PAGE)
    for at, text in ((2 * PAGE + 5, b"first"), (3 * PAGE + 7, b"fourth"), (PAGE, b"third")):
        expected[at : at + len(text)] = text
    assert held == expected


def test_pages_behind_the_end_of_a_file_that_is_mapped_twice(guest: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * (PAGE + 10))
    fd = guest.open(tmp_path / "file", 2)
    first, second = (guest.call("mmap", 0, 4 * PAGE, 3, SHARED, fd, 0) for _ in range(2))
    guest.memory.write(first + PAGE + 20, b"behind")
    assert guest.memory.read(second + PAGE, 30) == b"x" * 10 + bytes(10) + b"behind" + bytes(4)
    for start in (first, second):
        with pytest.raises(GuestMemoryFault):
            guest.memory.read(start + 2 * PAGE, 1)
