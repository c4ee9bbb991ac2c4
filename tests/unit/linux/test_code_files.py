"""Which files code may be from, as the engine is told when a program maps and unmaps them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pfmon.engine.linux.files.code_files import Place
from pfmon.program.mapped_files import MappedFile

PAGE = 1 << 14
PLACE = 0x2000000010000000
READ, READ_EXECUTE = 1, 5
PRIVATE_FIXED, ANONYMOUS = 0x12, 0x20


@pytest.fixture
def told(guest: Any) -> list[Sequence[Place]]:
    """What the engine was told, the latest last."""
    found: list[Sequence[Place]] = []
    guest.process.mappings.code.publish_code = found.append
    return found


@pytest.fixture
def file(guest: Any, tmp_path: Path) -> int:
    """A descriptor of a file of four pages."""
    (tmp_path / "object.so").write_bytes(bytes(4 * PAGE))
    return guest.open(tmp_path / "object.so")


def test_executable_files_have_numbers_by_place_and_offset(
    guest: Any, told: list[Sequence[Place]], file: int, tmp_path: Path
) -> None:
    path = str(tmp_path / "object.so")
    assert guest.call("mmap", PLACE, 4 * PAGE, READ_EXECUTE, PRIVATE_FIXED, file, 0) == PLACE
    assert told[-1] == [(PLACE, PLACE + 4 * PAGE, 1)]
    assert guest.call("munmap", PLACE, 4 * PAGE) == 0
    assert told[-1] == []
    guest.call("mmap", PLACE, PAGE, READ_EXECUTE, PRIVATE_FIXED, file, PAGE)
    assert told[-1] == [(PLACE, PLACE + PAGE, 2)]
    guest.call("mmap", PLACE, 4 * PAGE, READ_EXECUTE, PRIVATE_FIXED, file, 0)
    assert told[-1] == [(PLACE, PLACE + 4 * PAGE, 1)]
    assert guest.process.mappings.code.files == [
        MappedFile(PLACE, PLACE + 4 * PAGE, 0, path),
        MappedFile(PLACE, PLACE + PAGE, PAGE, path),
    ]


def test_parts_of_a_file_keep_its_number(guest: Any, told: list[Sequence[Place]], file: int) -> None:
    guest.call("mmap", PLACE, 4 * PAGE, READ_EXECUTE, PRIVATE_FIXED, file, 0)
    guest.call("mmap", PLACE + PAGE, PAGE, 3, PRIVATE_FIXED | ANONYMOUS, -1, 0)
    assert sorted(told[-1]) == [(PLACE, PLACE + PAGE, 1), (PLACE + 2 * PAGE, PLACE + 4 * PAGE, 1)]
    guest.call("munmap", PLACE, PAGE)
    assert told[-1] == [(PLACE + 2 * PAGE, PLACE + 4 * PAGE, 1)]


def test_files_that_become_executable_are_told(guest: Any, told: list[Sequence[Place]], file: int) -> None:
    guest.call("mmap", PLACE, PAGE, READ, PRIVATE_FIXED, file, PAGE)
    guest.call("mmap", PLACE + PAGE, PAGE, READ_EXECUTE, PRIVATE_FIXED | ANONYMOUS, -1, 0)
    assert told == [] and guest.process.mappings.code.files == []
    assert guest.call("mprotect", PLACE, PAGE, READ_EXECUTE) == 0
    assert told == [[(PLACE, PLACE + PAGE, 1)]]
    guest.call("mprotect", PLACE, PAGE, READ)
    assert told == [[(PLACE, PLACE + PAGE, 1)]]  # it may become executable again
