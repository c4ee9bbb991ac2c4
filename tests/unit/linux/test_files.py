"""Files, directories and descriptors: what a program does shows on the host, and the reverse."""

import errno
import os
import struct
from pathlib import Path
from typing import Any

import pytest
from example_counts import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND = 1, 2, 0o100, 0o200, 0o1000, 0o2000
O_NONBLOCK, O_DIRECTORY, O_CLOEXEC = 0o4000, 0o200000, 0o2000000
AT_FDCWD = -100


def test_written_file_holds_the_bytes_and_reads_back(guest: Any, tmp_path: Path) -> None:
    fd = guest.open(tmp_path / "f", O_RDWR | O_CREAT, 0o640)
    assert fd == 3
    assert guest.call("write", fd, guest.put(b"hello world"), 11) == 11
    assert (tmp_path / "f").read_bytes() == b"hello world"
    assert guest.call("lseek", fd, -5, 1) == 6
    assert guest.call("read", fd, guest.scratch + 100, 50) == 5
    assert guest.get(5, 100) == b"world"
    assert guest.call("read", fd, guest.scratch + 100, 50) == 0
    assert guest.call("close", fd) == 0
    assert guest.call("close", fd) == -errno.EBADF


def test_large_file_is_read_whole_in_one_call(guest: Any, tmp_path: Path) -> None:
    data = os.urandom(5 << 20)
    (tmp_path / "big").write_bytes(data)
    guest.memory.map(0x2000000200000000, 8 << 20, 3)
    fd = guest.open(tmp_path / "big")
    assert guest.call("read", fd, 0x2000000200000000, 8 << 20) == len(data)
    assert guest.memory.read(0x2000000200000000, len(data)) == data


def test_open_flags_mean_what_they_mean_on_ia64(guest: Any, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    assert guest.open(tmp_path / "f", O_WRONLY | O_CREAT | O_EXCL) == -errno.EEXIST
    assert guest.open(tmp_path / "f", O_DIRECTORY) == -errno.ENOTDIR
    fd = guest.open(tmp_path / "f", O_WRONLY | O_APPEND)
    guest.call("write", fd, guest.put(b"def"), 3)
    assert (tmp_path / "f").read_bytes() == b"abcdef"
    guest.open(tmp_path / "f", O_WRONLY | O_TRUNC)
    assert (tmp_path / "f").read_bytes() == b""
    assert guest.open(tmp_path / "none") == -errno.ENOENT
    assert guest.call("fcntl", fd, 3, 0) == O_WRONLY | O_APPEND
    assert guest.call("fcntl", fd, 4, O_NONBLOCK) == 0
    assert guest.call("fcntl", fd, 3, 0) & (O_NONBLOCK | O_APPEND) == O_NONBLOCK


def test_bad_buffers_fail_with_efault_and_nothing_is_consumed(guest: Any, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abcdef")
    fd = guest.open(tmp_path / "f")
    for wild in (0, 8, 0x1234567890, 0xFFFFFFFFFFFFFFF8, 0x6000080000000000):
        assert guest.call("read", fd, wild, 4) == -errno.EFAULT
        assert guest.call("openat", AT_FDCWD, wild, 0) == -errno.EFAULT
        assert guest.call("fstat", fd, wild) == -errno.EFAULT
    assert guest.call("read", fd, 0x4000000000000000, 4) == -errno.EFAULT  # text is not writable
    assert guest.call("read", fd, guest.scratch, 100) == 6


def test_transfers_end_where_memory_ends(guest: Any, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(bytes(100))
    fd = guest.open(tmp_path / "f", O_RDWR)
    end = guest.scratch + (1 << 20)
    assert guest.call("read", fd, end - 10, 100) == 10
    assert guest.call("write", fd, end - 7, 1 << 60) == 7


def test_scattered_transfers_keep_their_order(guest: Any, tmp_path: Path) -> None:
    fd = guest.open(tmp_path / "f", O_RDWR | O_CREAT)
    guest.put(b"abcdefghij")
    vectors = struct.pack("<6Q", guest.scratch + 5, 3, guest.scratch, 0, guest.scratch, 5)
    assert guest.call("writev", fd, guest.put(vectors, 0x100), 3) == 8
    assert (tmp_path / "f").read_bytes() == b"fghabcde"
    assert guest.call("pread64", fd, guest.scratch + 0x200, 3, 3) == 3
    assert guest.get(3, 0x200) == b"abc"
    assert guest.call("pwrite64", fd, guest.put(b"XY"), 2, 6) == 2
    vectors = struct.pack("<4Q", guest.scratch + 0x300, 2, guest.scratch + 0x400, 100)
    assert guest.call("preadv", fd, guest.put(vectors, 0x100), 2, 0) == 8
    assert guest.get(2, 0x300) + guest.get(6, 0x400) == b"fghabcXY"
    assert guest.call("writev", fd, guest.scratch, -1) == -errno.EINVAL
    assert guest.call("pread64", fd, guest.scratch, 1, -1) == -errno.EINVAL


def test_duplicates_share_the_position_and_standard_output_survives_its_close(guest: Any, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abcdef")
    fd = guest.open(tmp_path / "f")
    copy = guest.call("dup", fd)
    guest.call("read", fd, guest.scratch, 2)
    guest.call("close", fd)
    assert guest.call("read", copy, guest.scratch, 2) == 2
    assert guest.get(2) == b"cd"
    assert guest.call("dup3", copy, copy, 0) == -errno.EINVAL
    assert guest.call("dup2", copy, copy) == copy
    assert guest.call("dup2", copy, 5000) == -errno.EBADF
    assert guest.call("fcntl", copy, 0, 50) == 50
    assert guest.call("fcntl", copy, 1030, 0) == 3
    assert guest.call("fcntl", 3, 1, 0) == 1
    for number in (0, 1, 2):
        guest.call("close", number)
        os.fstat(number)  # the host's is open as before
    assert guest.open(tmp_path / "f") == 0


def test_descriptors_run_out_with_emfile(guest: Any, tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    assert guest.call("setrlimit", 7, guest.put(struct.pack("<2Q", 8, 8))) == 0
    assert [guest.open(tmp_path / "f") for _ in range(6)] == [3, 4, 5, 6, 7, -errno.EMFILE]
    assert guest.call("pipe2", guest.scratch, 0) == -errno.EMFILE
    assert guest.call("close_range", 4, 100, 0) == 0
    assert guest.open(tmp_path / "f") == 4


STAT = struct.Struct("<3Q4I9Qq3Q")  # arch/ia64 struct stat, by the field


def test_stat_has_the_layout_of_ia64(guest: Any, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x" * 5000)
    os.utime(path, ns=(1_000_000_001, 2_000_000_002))
    (tmp_path / "l").symlink_to("f")
    host = path.stat()
    assert guest.call("stat", guest.text(tmp_path / "l"), guest.scratch + 512) == 0
    fields = STAT.unpack(guest.get(144, 512))
    assert fields[:4] == (host.st_dev, host.st_ino, 1, host.st_mode)
    assert fields[4:6] == (1000, 1000)  # the user's own file belongs to the user that the program sees
    assert fields[8:13] == (5000, 1, 1, 2, 2)
    assert fields[15:17] == (host.st_blksize, host.st_blocks)
    assert guest.call("lstat", guest.text(tmp_path / "l"), guest.scratch + 512) == 0
    assert STAT.unpack(guest.get(144, 512))[3] & 0o170000 == 0o120000
    fd = guest.open(path)
    assert guest.call("newfstatat", fd, guest.text(""), guest.scratch + 512, 0x1000) == 0
    assert STAT.unpack(guest.get(144, 512))[8] == 5000
    assert guest.call("newfstatat", fd, guest.text(""), guest.scratch + 512, 0) == -errno.ENOENT


def test_statx_agrees_with_stat(guest: Any, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x" * 77)
    assert guest.call("statx", AT_FDCWD, guest.text(path), 0, 0x7FF, guest.scratch + 512) == 0
    data = guest.get(256, 512)
    assert struct.unpack_from("<Q", data, 0x28)[0] == 77
    assert struct.unpack_from("<H", data, 0x1C)[0] == path.stat().st_mode
    assert struct.unpack_from("<q", data, 0x70)[0] == int(path.stat().st_mtime)


def names(data: bytes) -> list[tuple[str, int]]:
    """(name, type) of the records of getdents64."""
    found = []
    while data:
        length, kind = struct.unpack_from("<HB", data, 16)
        assert length % 8 == 0
        found.append((data[19:length].split(b"\0")[0].decode(), kind))
        data = data[length:]
    return found


def test_directory_is_read_in_order_of_names_and_again_after_rewinding(guest: Any, tmp_path: Path) -> None:
    for name in ("zebra", "ant", "mule"):
        (tmp_path / name).touch()
    (tmp_path / "dir").mkdir()
    (tmp_path / "link").symlink_to("ant")
    expected = [(".", 4), ("..", 4), ("ant", 8), ("dir", 4), ("link", 10), ("mule", 8), ("zebra", 8)]
    fd = guest.open(tmp_path, O_DIRECTORY)
    for _ in range(2):
        found = []
        while (size := guest.call("getdents64", fd, guest.scratch, 80)) > 0:
            found += names(guest.get(size))
        assert found == expected
        assert guest.call("lseek", fd, 0, 0) == 0
    assert guest.call("getdents64", fd, guest.scratch, 10) == -errno.EINVAL
    assert guest.call("read", fd, guest.scratch, 10) == -errno.EISDIR


def test_names_are_made_renamed_linked_and_removed(guest: Any, tmp_path: Path) -> None:
    a, b, d = tmp_path / "a", tmp_path / "b", tmp_path / "d"
    assert guest.call("mkdir", guest.text(d), 0o755) == 0
    assert guest.call("symlink", guest.text("target"), guest.text(d / "s", 4096)) == 0
    assert (d / "s").readlink() == Path("target")
    assert guest.call("readlink", guest.text(d / "s"), guest.scratch + 4096, 3) == 3
    assert guest.get(3, 4096) == b"tar"
    a.write_text("A")
    assert guest.call("link", guest.text(a), guest.text(b, 4096)) == 0
    assert b.stat().st_nlink == 2
    assert guest.call("renameat2", AT_FDCWD, guest.text(a), AT_FDCWD, guest.text(b, 4096), 1) == -errno.EEXIST
    fd = guest.open(d, O_DIRECTORY)
    assert guest.call("renameat", AT_FDCWD, guest.text(b), fd, guest.text("c", 4096)) == 0
    assert (d / "c").read_text() == "A"
    assert guest.call("unlinkat", fd, guest.text("c"), 0) == 0
    assert guest.call("rmdir", guest.text(d)) == -errno.ENOTEMPTY
    assert guest.call("unlink", guest.text(d / "s")) == 0
    assert guest.call("unlinkat", AT_FDCWD, guest.text(d), 0x200) == 0
    assert not d.exists()


def test_working_directory_is_the_programs_own(guest: Any, tmp_path: Path) -> None:
    before = Path.cwd()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "f").write_text("hi")
    assert guest.call("chdir", guest.text(tmp_path / "sub")) == 0
    assert Path.cwd() == before
    length = guest.call("getcwd", guest.scratch, 4096)
    assert guest.get(length) == str(tmp_path / "sub").encode() + b"\0"
    assert guest.call("getcwd", guest.scratch, 3) == -errno.ERANGE
    fd = guest.open("f")
    assert guest.call("read", fd, guest.scratch, 10) == 2
    assert guest.call("chdir", guest.text("f")) == -errno.ENOTDIR
    assert guest.call("fchdir", guest.open("..", O_DIRECTORY)) == 0
    assert guest.call("access", guest.text("sub/f"), 4) == 0
    assert guest.call("faccessat", AT_FDCWD, guest.text("sub/g"), 0) == -errno.ENOENT


def test_modes_times_and_lengths_change(guest: Any, tmp_path: Path) -> None:
    f = tmp_path / "f"
    f.write_bytes(b"0123456789")
    assert guest.call("chmod", guest.text(f), 0o604) == 0
    assert f.stat().st_mode & 0o7777 == 0o604
    times = struct.pack("<4q", 5, 6, 0, (1 << 30) - 2)  # UTIME_OMIT keeps the modification time
    kept = f.stat().st_mtime_ns
    assert guest.call("utimensat", AT_FDCWD, guest.text(f), guest.put(times, 4096), 0) == 0
    assert (f.stat().st_atime_ns, f.stat().st_mtime_ns) == (5_000_000_006, kept)
    assert guest.call("utimensat", AT_FDCWD, guest.text(f), 0, 0) == 0
    assert 1_767_225_600 <= f.stat().st_mtime < 1_767_225_700  # the program's clock, not the host's
    assert guest.call("truncate", guest.text(f), 4) == 0
    fd = guest.open(f, O_RDWR)
    assert guest.call("ftruncate", fd, 6) == 0
    assert f.read_bytes() == b"0123\0\0"
    assert guest.call("truncate", guest.text(f), -1) == -errno.EINVAL


def test_umask_holds_for_the_program_and_not_for_the_host(guest: Any, tmp_path: Path) -> None:
    old = os.umask(0o022)
    os.umask(old)
    assert guest.call("umask", 0o077) == old
    guest.open(tmp_path / "f", O_WRONLY | O_CREAT, 0o666)
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o600
    guest.call("umask", 0o002)
    guest.call("mkdirat", -100, guest.text(tmp_path / "d"), 0o777)
    assert (tmp_path / "d").stat().st_mode & 0o777 == 0o775
    assert guest.call("umask", 0) == 0o002
    assert os.umask(old) == old


def test_pipes_carry_bytes_and_a_write_without_reader_is_a_broken_pipe(guest: Any) -> None:
    reader = guest.call("pipe")
    writer = guest.registers.gr(9)
    assert (reader, writer) == (3, 4)
    assert guest.call("write", writer, guest.put(b"abc"), 3) == 3
    assert guest.call("read", reader, guest.scratch + 64, 10) == 3
    assert guest.get(3, 64) == b"abc"
    guest.call("rt_sigaction", 13, guest.put(struct.pack("<3Q", 1, 0, 0)), 0, 8)  # ignore SIGPIPE
    guest.call("close", reader)
    assert guest.call("write", writer, guest.scratch, 1) == -errno.EPIPE
    assert guest.end is None
    guest.call("rt_sigaction", 13, guest.put(bytes(24)), 0, 8)
    guest.call("write", writer, guest.scratch, 1)
    assert guest.end.signal == 13
    assert guest.end.status == 141


def test_pipe2_flags(guest: Any) -> None:
    assert guest.call("pipe2", guest.scratch, O_NONBLOCK | O_CLOEXEC) == 0
    reader, _ = struct.unpack("<2i", guest.get(8))
    assert guest.call("read", reader, guest.scratch, 1) == -errno.EAGAIN
    assert guest.call("fcntl", reader, 1, 0) == 1
    assert guest.call("pipe2", guest.scratch, 1) == -errno.EINVAL
    assert guest.call("lseek", reader, 0, 0) == -errno.ESPIPE


def test_terminal_requests_fail_on_files_and_fionread_counts(guest: Any) -> None:
    reader = guest.call("pipe")
    assert guest.call("ioctl", reader, 0x5401, guest.scratch) == -errno.ENOTTY
    guest.call("write", guest.registers.gr(9), guest.scratch, 5)
    assert guest.call("ioctl", reader, 0x541B, guest.scratch) == 0
    assert struct.unpack("<i", guest.get(4)) == (5,)
    assert guest.call("ioctl", reader, 0xDEAD, guest.scratch) == -errno.ENOTTY


def test_terminal_shows_its_modes_and_size(guest: Any) -> None:
    master, slave = os.openpty()
    name = os.ttyname(slave)
    fd = guest.open(name, O_RDWR | 0o400)
    assert guest.call("ioctl", fd, 0x5401, guest.scratch) == 0
    flags = struct.unpack("<4I", guest.get(16))
    assert flags[3] & 0o12 == 0o12  # ICANON and ECHO
    guest.put(struct.pack("<4I", *flags[:3], flags[3] & ~0o10) + guest.get(20, 16))
    assert guest.call("ioctl", fd, 0x5402, guest.scratch) == 0
    guest.call("ioctl", fd, 0x5401, guest.scratch)
    assert struct.unpack("<4I", guest.get(16))[3] & 0o10 == 0
    assert guest.call("ioctl", fd, 0x5414, guest.put(struct.pack("<4H", 30, 90, 0, 0))) == 0
    assert guest.call("ioctl", fd, 0x5413, guest.scratch + 64) == 0
    assert struct.unpack("<2H", guest.get(4, 64)) == (30, 90)
    os.close(master)
    os.close(slave)


def test_own_proc_files_show_the_program_not_pfmon(guest: Any) -> None:
    fd = guest.open("/proc/self/cmdline")
    assert guest.get(guest.call("read", fd, guest.scratch, 100)) == b"./fib\x007\0"
    length = guest.call("readlink", guest.text("/proc/self/exe"), guest.scratch + 512, 500)
    assert guest.get(length, 512).endswith(b"examples/ia64/fib")
    fd = guest.open("/proc/1000/maps")
    maps = guest.get(guest.call("read", fd, guest.scratch, 9000)).decode()
    assert "[stack]" in maps
    assert "4000000000000000-4000000000004000 r-xp" in maps
    fd = guest.open("/proc/cpuinfo")
    assert b"IA-64" in guest.get(guest.call("read", fd, guest.scratch, 9000))


def test_random_device_repeats(guest: Any) -> None:
    fd = guest.open("/dev/urandom")
    assert guest.call("read", fd, guest.scratch, 32) == 32
    first = guest.get(32)
    guest.call("read", fd, guest.scratch, 32)
    assert guest.get(32) != first


def test_file_system_status(guest: Any, tmp_path: Path) -> None:
    assert guest.call("statfs", guest.text(tmp_path), guest.scratch + 512) == 0
    assert guest.words(2, 512)[1] == os.statvfs(tmp_path).f_bsize


def test_sendfile_copies_from_the_position(guest: Any, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123456789")
    source, target = guest.open(tmp_path / "a"), guest.open(tmp_path / "b", O_WRONLY | O_CREAT)
    guest.call("lseek", source, 2, 0)
    assert guest.call("sendfile", target, source, 0, 4) == 4
    assert guest.call("sendfile", target, source, guest.put(struct.pack("<Q", 8)), 100) == 2
    assert (tmp_path / "b").read_bytes() == b"234589"
    assert guest.words(1) == (10,)
    assert guest.call("lseek", source, 0, 1) == 6


class Model:
    """What a file and its position are, in Python."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.position = 0

    def write(self, data: bytes) -> int:
        if data and len(self.data) < self.position:
            self.data += bytes(self.position - len(self.data))
        self.data[self.position : self.position + len(data)] = data
        self.position += len(data)
        return len(data)

    def read(self, count: int) -> bytes:
        data = bytes(self.data[self.position : self.position + count])
        self.position += len(data)
        return data


operations = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.binary(max_size=40)),
        st.tuples(st.just("read"), st.integers(0, 60)),
        st.tuples(st.just("lseek"), st.integers(0, 100)),
    ),
    max_size=20,
)


@pytest.mark.slow
@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations)
def test_any_sequence_of_reads_writes_and_seeks_is_as_on_a_plain_file(
    guest: Any, tmp_path: Path, steps: list[tuple[str, Any]]
) -> None:
    fd = guest.open(tmp_path / "model", O_RDWR | O_CREAT | O_TRUNC)
    model = Model()
    for what, value in steps:
        if what == "write":
            assert guest.call("write", fd, guest.put(value) if value else guest.scratch, len(value)) == model.write(
                value
            )
        elif what == "read":
            count = guest.call("read", fd, guest.scratch, value)
            assert guest.get(count) == model.read(value)
        else:
            assert guest.call("lseek", fd, value, 0) == value
            model.position = value
    assert (tmp_path / "model").read_bytes() == bytes(model.data)
    guest.call("close", fd)


@pytest.mark.parametrize("name", ["swapon", "init_module", "bpf", 5000, 0, (1 << 64) - 1])
def test_unsupported_calls_return_enosys_and_say_so_once(guest: Any, name: str | int) -> None:
    assert guest.call(name) == -errno.ENOSYS
    assert guest.call(name) == -errno.ENOSYS
    (said,) = guest.said
    assert "is not supported" in said
    assert str(name) in said
