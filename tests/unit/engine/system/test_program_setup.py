"""System calls that pfmon has a kernel's first program make: what they leave, and what is refused."""

import errno
import os
import struct
from pathlib import Path

import pytest

from pfmon.engine.ia64.system.platform.guest_files import GuestFiles
from pfmon.engine.ia64.system.platform.program_setup import SetupFailed
from pfmon.engine.ia64.system.platform.setup_calls import SetupCalls
from pfmon.engine.linux.abi.ia64.syscall_numbers import NAMES
from pfmon.engine.system_settings import PackedProgram

DATA, END = 0x6000_0000_0000_0000, 0x6000_0000_0001_4000
RETRY = -1
MOST_CALLS = 10_000


def _IOW(kind: str, number: int, size: int) -> int:  # noqa: N802 - Linux' name
    """asm-generic/ioctl.h: bits 30 the direction, 16 to 29 the size of the argument, 8 to 15 the kind."""
    return 1 << 30 | size << 16 | ord(kind) << 8 | number


class Guest:
    """The first program on a kernel that knows files, and what its calls do to them."""

    def __init__(
        self, wanted: PackedProgram | None = None, files: GuestFiles | None = None, seed: int = 0, **given: bool
    ) -> None:
        self.memory = bytearray(END - DATA)
        self.missing: set[int] = set()
        """Pages without a translation, until the program touches all."""
        self.registers = {16: 0, 17: 0}
        self.files: dict[bytes, tuple[int, bytes | None]] = {b"/tmp": (0o1777, None)}
        self.links: dict[bytes, bytes] = {}
        self.mounted: dict[bytes, bytes] = {}
        self.entropy = b""
        self.descriptors: dict[int, bytes] = {}
        self.refused: dict[str, int] = {}
        self.mapped = b""
        self.masks: list[int] = []
        self.retries = 0
        self.was_ready = 0
        self.goes_on, self.between = given.get("goes_on", True), given.get("between", True)
        program = (files or GuestFiles(), wanted, "/bin/it") if wanted else None
        self.calls = SetupCalls(self, self.store, program, given.get("is_ready", False), seed)

    def is_between_calls(self) -> bool:
        return self.between

    def ready(self) -> bool:
        self.was_ready += 1
        return self.goes_on

    def gr(self, number: int) -> int:
        return self.registers[number]

    def set_gr(self, number: int, value: int) -> None:
        assert 0 <= value < 1 << 64
        self.registers[number] = value

    def translate(self, address: int) -> int | None:
        assert DATA <= address < END
        return None if address >> 12 in self.missing else address - DATA

    def store(self, physical: int, content: bytes) -> bool:
        assert physical % 4096 + len(content) <= 4096
        self.memory[physical : physical + len(content)] = content
        return True

    def ask(self) -> int:
        """What init.S does: ask, touch all pages if that is wanted, make the call, and tell its result."""
        number = self.calls.take(self)
        if number == RETRY:
            self.missing.clear()
            self.retries += 1
        elif number:
            name = NAMES[number]
            result = -self.refused[name] if name in self.refused else getattr(self, name)()
            self.registers[16], self.registers[17] = abs(result), (1 << 64) - 1 if result < 0 else 0
        return number

    def run(self) -> None:
        for _ in range(MOST_CALLS):
            if self.ask() == 0:
                return
        raise AssertionError("no end")

    def text(self, place: int) -> bytes:
        start = self.registers[place] - DATA
        return bytes(self.memory[start : self.memory.index(b"\0", start)])

    def mount(self) -> int:
        self.mounted[self.text(53)] = self.text(54)
        return 0

    def umask(self) -> int:
        self.masks.append(self.registers[52])
        return 0

    def mkdir(self) -> int:
        path = self.text(52)
        if path in self.files:
            return -errno.EEXIST
        self.files[path] = (self.registers[53], None)
        return 0

    def unlink(self) -> int:
        return 0 if self.files.pop(self.text(52), None) else -errno.ENOENT

    def open(self) -> int:
        path = self.text(52)
        if path == b"/dev/random":
            assert self.registers[53] == os.O_RDWR
        elif path in self.files:
            return -errno.EEXIST
        else:
            self.files[path] = (self.registers[54], b"")
        number = next(number for number in range(3, 9) if number not in self.descriptors)
        self.descriptors[number] = path
        return number

    def write(self) -> int:
        path = self.descriptors[self.registers[52]]
        start, length = self.registers[53] - DATA, self.registers[54]
        part = bytes(self.memory[start : start + min(length, 50_000)])
        mode, content = self.files[path]
        assert content is not None
        self.files[path] = (mode, content + part)
        return len(part)

    def ioctl(self) -> int:
        """Of random(4): struct rand_pool_info."""
        assert self.descriptors[self.registers[52]] == b"/dev/random"
        assert self.registers[53] == _IOW("R", 0x03, 2 * 4)
        start = self.registers[54] - DATA
        bits, length = struct.unpack_from("<2i", self.memory, start)
        self.entropy = bytes(self.memory[start + 8 : start + 8 + length])
        return 0 if bits == 8 * length else -errno.EINVAL

    def close(self) -> int:
        del self.descriptors[self.registers[52]]
        return 0

    def symlink(self) -> int:
        self.links[self.text(53)] = self.text(52)
        return 0

    def mmap(self) -> int:
        content = self.files[self.descriptors[self.registers[56]]][1]
        assert content is not None and len(content) == self.registers[53]
        self.mapped = content
        return self.registers[52]

    def mapped_text(self, address: int) -> bytes:
        start = address - 0x6000_0000_1000_0000
        return self.mapped[start : self.mapped.index(b"\0", start)]

    def mapped_array(self, address: int) -> list[bytes]:
        start = address - 0x6000_0000_1000_0000
        words = (place for (place,) in struct.iter_unpack("<Q", self.mapped[start : len(self.mapped) // 8 * 8]))
        return [self.mapped_text(place) for place in iter(lambda: next(words), 0)]


def program(folder: Path) -> PackedProgram:
    return PackedProgram(
        "it", [b"it", b"10"], [b"A=B", b"C=\xff"], str(folder), outputs=[("/a", "x"), ("relative", "y")]
    )


def test_files_are_written_when_the_file_systems_are_mounted(tmp_path: Path) -> None:
    files = GuestFiles()
    files.add_file("/tmp/deep/file", bytes(range(256)) * 1000, 0o751)
    files.add_file("/empty", b"")
    files.add_link("/link", "tmp/deep")
    guest = Guest(program(tmp_path), files)
    guest.files[b"/empty"] = (0o600, b"of the kernel's own")
    guest.run()
    assert guest.mounted == {b"/proc": b"proc", b"/sys": b"sysfs", b"/dev": b"devtmpfs"}
    assert guest.was_ready == 1
    assert guest.files == {
        b"/tmp": (0o1777, None),
        b"/tmp/deep": (0o755, None),
        b"/tmp/deep/file": (0o751, bytes(range(256)) * 1000),
        b"/empty": (0o644, b""),
    }
    assert guest.links == {b"/link": b"tmp/deep"}
    assert guest.descriptors == {}
    assert guest.masks == [0, 0o22]


def test_first_program_knows_what_to_run(tmp_path: Path) -> None:
    guest = Guest(program(tmp_path))
    guest.run()
    path, arguments, environment, directory, outputs = struct.unpack_from("<5Q", guest.memory)
    assert (guest.mapped_text(path), guest.mapped_text(directory)) == (b"/bin/it", os.fsencode(tmp_path))
    assert guest.mapped_array(arguments) == [b"it", b"10"]
    assert guest.mapped_array(environment) == [b"A=B", b"C=\xff"]
    assert guest.mapped_array(outputs) == [b"/a", os.fsencode(tmp_path / "relative")]


def test_pages_without_a_translation_are_asked_for_again(tmp_path: Path) -> None:
    files = GuestFiles()
    files.add_file("/file", b"x" * 70_000)
    guest = Guest(program(tmp_path), files)
    answer = 1
    while answer:
        if answer != RETRY:
            guest.missing = {DATA + 0x5000 >> 12, DATA + 0x2000 >> 12}
        answer = guest.ask()
    assert guest.retries > 3
    assert guest.files[b"/file"][1] == b"x" * 70_000


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("open", "the system cannot write /file: No space left on device"),
        ("write", "the system cannot write /file: No space left on device"),
        ("symlink", "the system cannot write /link: No space left on device"),
        ("mkdir", "the system cannot write /folder: No space left on device"),
    ],
)
def test_what_the_kernel_refuses_is_said(tmp_path: Path, name: str, message: str) -> None:
    files = GuestFiles()
    files.add_directory("/folder")
    files.add_file("/file", b"x")
    files.add_link("/link", "to")
    guest = Guest(program(tmp_path), files, is_ready=True)
    guest.refused[name] = errno.ENOSPC
    with pytest.raises(SetupFailed, match=message):
        guest.run()


def test_random_numbers_have_a_seed_of_32_bytes_that_repeats(tmp_path: Path) -> None:
    guests = [Guest(program(tmp_path), seed=seed) for seed in (0, 0, 1)]
    for guest in guests:
        guest.run()
    first, again, other = (guest.entropy for guest in guests)
    assert len(first) == len(other) == 32 and first == again != other


def test_kernel_without_random_numbers_goes_on(tmp_path: Path) -> None:
    guest = Guest(program(tmp_path))
    guest.refused["ioctl"] = errno.ENOTTY
    guest.run()
    assert guest.was_ready == 1 and guest.mapped and not guest.descriptors


def test_kernel_without_a_file_system_goes_on(tmp_path: Path) -> None:
    guest = Guest(program(tmp_path))
    guest.refused["mount"] = errno.ENODEV
    guest.run()
    assert guest.was_ready == 1 and guest.mapped


def test_system_is_ready_when_no_processor_is_in_firmware(tmp_path: Path) -> None:
    guest = Guest(program(tmp_path), between=False)
    while guest.ask() != RETRY:
        pass
    assert guest.ask() == RETRY
    before = guest.was_ready
    guest.between = True
    guest.run()
    assert (before, guest.was_ready) == (0, 1) and guest.mapped


def test_nothing_follows_a_snapshot_without_a_program() -> None:
    guest = Guest(goes_on=False)
    guest.run()
    assert guest.was_ready == 1
    assert guest.ask() == 0 and not guest.masks


def test_system_of_a_snapshot_has_its_file_systems(tmp_path: Path) -> None:
    guest = Guest(program(tmp_path), is_ready=True)
    guest.registers.update({16: 77, 17: 1})  # of a request before
    guest.run()
    assert not guest.was_ready and not guest.mounted and guest.mapped
    for _ in range(3):
        assert guest.ask() == 0
