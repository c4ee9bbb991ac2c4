"""Requests of a kernel's programs to pfmon, which come from hostile code."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pfmon.engine.api import ExitReport
from pfmon.engine.ia64.system.platform.guest_calls import GuestCalls

RETRY, NOTHING_YET, NOBODY_READS, INVALID = ((1 << 64) - number for number in (1, 2, 3, 4))
OUTPUT, INPUT, CANNOT_START, ENDED, FILE, FILE_ENDED, BEGINS, PROGRAM_ENDED = range(1, 9)
BUFFER, PLACE = 0x6000_0000_0000_2000, 0x8000
MEMORY = 0x10000
ENOENT = 2


class Guest:
    """A processor with one page, the memory, and the host's files."""

    def __init__(self, folder: Path) -> None:
        self.memory = bytearray(MEMORY)
        self.registers: dict[int, int] = {}
        self.mapped = {BUFFER >> 12: PLACE}
        self.ends: list[ExitReport] = []
        self.notices: list[str] = []
        self.changes: list[bool] = []
        self.paths = [str(folder / "first"), str(folder / "none" / "second")]
        self.given, self.into = os.pipe()
        self.shown = [folder / "output", folder / "error"]
        numbers = [os.open(one, os.O_WRONLY | os.O_CREAT) for one in self.shown]
        self.files = (self.given, numbers[0], numbers[1])
        self.calls = GuestCalls(
            self, self.files, self.paths, self.ends.append, self.changes.append, self.notices.append
        )

    def close(self) -> None:
        self.calls.abandon()
        for number in self.files:
            os.close(number)

    def gr(self, number: int) -> int:
        return self.registers[number]

    def set_gr(self, number: int, value: int) -> None:
        assert 0 <= value < 1 << 64
        self.registers[number] = value

    def translate(self, address: int) -> int | None:
        place = self.mapped.get(address >> 12)
        return None if place is None else place + (address & 0xFFF)

    def read(self, address: int, length: int) -> bytes | None:
        return bytes(self.memory[address : address + length]) if address + length <= MEMORY else None

    def write(self, address: int, content: bytes) -> bool:
        if address + len(content) > MEMORY:
            return False
        self.memory[address : address + len(content)] = content
        return True

    def ask(self, request: int, *arguments: int) -> int:
        self.registers.update({15: request, 16: 0, 17: 0, 18: 0, **dict(enumerate(arguments, 16))})
        self.calls.take(self)
        return self.registers[8]


@pytest.fixture
def guest(tmp_path: Path) -> Iterator[Guest]:
    made = Guest(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("number", [1, 2])
def test_output_goes_to_its_file(guest: Guest, number: int) -> None:
    guest.memory[PLACE : PLACE + 5] = b"a\0\r\nb"
    assert guest.ask(OUTPUT, number, BUFFER, 5) == 5
    assert guest.shown[number - 1].read_bytes() == b"a\0\r\nb"
    assert guest.shown[2 - number].read_bytes() == b""


BAD = [
    ("no length", BUFFER, 0),
    ("more than a page", BUFFER, 4097),
    ("over the end of its page", BUFFER + 4095, 2),
    ("all there is", BUFFER, (1 << 64) - 1),
    ("the kernel's region 5", 0xA000_0000_0000_0000, 8),
    ("the kernel's region 7", 0xE000_0000_0000_0000, 8),
]


@pytest.mark.parametrize(("address", "length"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_buffer_must_be_in_one_page_of_a_program(guest: Guest, address: int, length: int) -> None:
    os.write(guest.into, b"x")
    assert guest.ask(OUTPUT, 1, address, length) == INVALID
    assert guest.ask(INPUT, address, length) == INVALID
    assert guest.ask(FILE, 0, address, length) == INVALID
    assert not any(guest.memory)


def test_page_without_a_translation_is_asked_for_again(guest: Guest) -> None:
    assert guest.ask(OUTPUT, 1, BUFFER + 0x1000, 4) == RETRY
    assert guest.ask(INPUT, BUFFER + 0x1000, 4) == RETRY


def test_page_outside_of_the_memory_is_invalid(guest: Guest) -> None:
    guest.mapped[BUFFER >> 12] = MEMORY - 2
    os.write(guest.into, b"four")
    assert guest.ask(OUTPUT, 1, BUFFER, 4) == INVALID
    assert guest.ask(INPUT, BUFFER, 4) == INVALID


@pytest.mark.parametrize("number", [0, 3, 1 << 63])
def test_output_has_no_other_files(guest: Guest, number: int) -> None:
    assert guest.ask(OUTPUT, number, BUFFER, 1) == INVALID


@pytest.mark.parametrize("request_", [0, 10, 1 << 40])
def test_unknown_request_is_invalid(guest: Guest, request_: int) -> None:
    assert guest.ask(request_) == INVALID


def test_input_comes_as_it_is_there(guest: Guest) -> None:
    assert guest.ask(INPUT, BUFFER, 4096) == NOTHING_YET
    assert guest.calls.awaits_input
    os.write(guest.into, b"one\n")
    assert guest.ask(INPUT, BUFFER, 3) == 3
    assert not guest.calls.awaits_input
    assert guest.memory[PLACE : PLACE + 4] == b"one\0"
    os.close(guest.into)
    assert [guest.ask(INPUT, BUFFER, 4096) for _ in range(2)] == [1, 0]


def test_output_that_nobody_reads_is_said(guest: Guest) -> None:
    from_, into = os.pipe()
    os.close(from_)
    calls = GuestCalls(guest, (0, into, into), [], guest.ends.append, guest.changes.append, guest.notices.append)
    guest.registers = {15: OUTPUT, 16: 1, 17: BUFFER, 18: 4}
    calls.take(guest)
    os.close(into)
    assert guest.registers[8] == NOBODY_READS


@pytest.mark.parametrize(
    ("status", "shell", "signal"), [(0, 0, 0), (7 << 8, 7, 0), (255 << 8, 255, 0), (11, 139, 11), (0x89, 137, 9)]
)
def test_status_of_wait_is_that_of_a_shell(guest: Guest, status: int, shell: int, signal: int) -> None:
    guest.ask(ENDED, status)
    assert [(one.status, one.signal) for one in guest.ends] == [(shell, signal)]


def test_program_that_cannot_start_is_said(guest: Guest) -> None:
    guest.ask(CANNOT_START, 8)
    assert guest.ends[0].status == 126
    assert guest.notices == ["the system cannot execute the program: Exec format error"]


def test_file_is_there_when_it_is_whole(guest: Guest) -> None:
    place = Path(guest.paths[0])
    place.write_bytes(b"old")
    guest.memory[PLACE : PLACE + 4] = b"abcd"
    assert guest.ask(FILE, 0, BUFFER, 3) == 3
    assert guest.ask(FILE, 0, BUFFER + 3, 1) == 1
    assert place.read_bytes() == b"old"
    guest.ask(FILE_ENDED, 0, 0)
    assert place.read_bytes() == b"abcd"


def test_empty_file_is_written(guest: Guest) -> None:
    guest.ask(FILE_ENDED, 0, 0)
    assert Path(guest.paths[0]).read_bytes() == b""


def test_file_that_is_not_whole_leaves_what_was_there(guest: Guest) -> None:
    Path(guest.paths[0]).write_bytes(b"old")
    guest.ask(FILE, 0, BUFFER, 3)
    guest.calls.abandon()
    assert {one.name for one in Path(guest.paths[0]).parent.iterdir()} == {"first", "output", "error"}
    assert Path(guest.paths[0]).read_bytes() == b"old"


def test_file_that_the_system_lacks_is_said_and_not_written(guest: Guest) -> None:
    guest.ask(FILE, 0, BUFFER, 3)
    guest.ask(FILE_ENDED, 0, ENOENT)
    assert not Path(guest.paths[0]).exists()
    assert guest.notices == [
        f"--guest-output: {guest.paths[0]} is not written: in the system: No such file or directory"
    ]


def test_file_that_cannot_be_written_is_said_once(guest: Guest) -> None:
    for _ in range(2):
        assert guest.ask(FILE, 1, BUFFER, 3) == 3
    guest.ask(FILE_ENDED, 1, 0)
    assert guest.notices == [f"--guest-output: {guest.paths[1]} is not written: no such file or directory"]


@pytest.mark.parametrize("number", [2, (1 << 64) - 1])
def test_no_file_but_those_of_the_user(guest: Guest, number: int) -> None:
    assert guest.ask(FILE, number, BUFFER, 1) == guest.ask(FILE_ENDED, number, 0) == INVALID


def test_no_call_is_given_where_nothing_is_set_up(guest: Guest) -> None:
    assert guest.ask(9) == 0


def test_program_begins_once_whoever_asks(guest: Guest) -> None:
    guest.ask(PROGRAM_ENDED)
    assert guest.changes == []
    for _ in range(2):
        assert guest.ask(BEGINS) == 0
    guest.ask(PROGRAM_ENDED)
    assert guest.changes == [True, False]
