"""Files that a user names are read whole, up to a limit, with memory for what they hold."""

import tracemalloc
from pathlib import Path

import pytest
from grids import each

from pfmon.bounded_files import PIECE, read_bounded


def test_a_short_file_takes_little_memory(tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(b"x" * 100)
    tracemalloc.start()
    try:
        assert read_bounded(tmp_path / "short") == b"x" * 100
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * PIECE


@each("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
def test_a_file_is_read_whole(tmp_path: Path, size: int) -> None:
    content = bytes(range(256)) * (size // 256) + b"y" * (size % 256)
    (tmp_path / "file").write_bytes(content)
    assert read_bounded(tmp_path / "file", 3 * PIECE) == content


@pytest.mark.parametrize("size", [101, PIECE, 2 * PIECE + 1])
def test_a_file_beyond_the_limit_is_refused(tmp_path: Path, size: int) -> None:
    (tmp_path / "file").write_bytes(bytes(size))
    with pytest.raises(OSError, match="larger than"):
        read_bounded(tmp_path / "file", 100)


def test_a_file_without_end_is_refused() -> None:
    with pytest.raises(OSError, match="larger than 2 MiB"):
        read_bounded("/dev/zero", 2 * PIECE)
