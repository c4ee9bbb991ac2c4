"""The decoder's tables: those made when pfmon was built are those that the rows make, and no others are taken."""

import subprocess
import sys
from pathlib import Path

import pytest

from pfmon.engine.ia64.encodings import decoder_snapshot
from pfmon.engine.ia64.encodings.decoder_tables import ROW_SIZE, computed


@pytest.fixture(name="path")
def path_of_a_snapshot(tmp_path: Path) -> str:
    path = str(tmp_path / "tables.bin")
    decoder_snapshot.write(path)
    return path


def test_the_build_left_the_tables_that_the_rows_make() -> None:
    assert decoder_snapshot.stored(ROW_SIZE) == computed()


def test_a_snapshot_is_read_as_it_was_written(path: str) -> None:
    assert decoder_snapshot.stored(ROW_SIZE, path) == computed()


def test_another_process_takes_a_snapshot_for_its_own(path: str) -> None:
    code = (
        f"from pfmon.engine.ia64.encodings import decoder_snapshot; "
        f"print(decoder_snapshot.stored({ROW_SIZE}, {path!r}) is not None)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "True\n"


def test_no_snapshot_is_none(tmp_path: Path) -> None:
    assert decoder_snapshot.stored(ROW_SIZE, str(tmp_path / "tables.bin")) is None


def test_a_snapshot_of_another_build_is_refused(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = bytearray(Path(decoder_snapshot.ENGINE).read_bytes())
    content[content.index(decoder_snapshot.BUILD_ID) + len(decoder_snapshot.BUILD_ID)] ^= (
        1  # as any change of a unit would
    )
    other = tmp_path / "other.so"
    other.write_bytes(content)
    monkeypatch.setattr(decoder_snapshot, "ENGINE", str(other))
    assert decoder_snapshot.stored(ROW_SIZE, path) is None


def test_without_a_build_id_the_whole_file_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = bytearray(Path(decoder_snapshot.ENGINE).read_bytes().replace(decoder_snapshot.BUILD_ID, b"none"))
    other = tmp_path / "other.so"
    other.write_bytes(content)
    monkeypatch.setattr(decoder_snapshot, "ENGINE", str(other))
    before = decoder_snapshot.identity(ROW_SIZE)
    content[-1] ^= 1
    other.write_bytes(content)
    assert decoder_snapshot.identity(ROW_SIZE) != before


def test_the_extension_file_was_linked_with_a_build_id() -> None:
    assert decoder_snapshot.BUILD_ID in Path(decoder_snapshot.ENGINE).read_bytes()[: decoder_snapshot.PAGE]


def test_a_snapshot_of_another_structure_is_refused(path: str) -> None:
    assert decoder_snapshot.stored(ROW_SIZE + 8, path) is None


def test_a_snapshot_of_other_sources_is_refused(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in decoder_snapshot.SOURCES:
        content = Path(decoder_snapshot.HERE, name).read_bytes()
        (tmp_path / name).write_bytes(content + (b"# changed" if name == "formats.py" else b""))
    monkeypatch.setattr(decoder_snapshot, "HERE", str(tmp_path))
    assert decoder_snapshot.stored(ROW_SIZE, path) is None


def test_without_a_snapshot_the_rows_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder_snapshot, "FILE", str(tmp_path / "none"))
    monkeypatch.setattr(decoder_snapshot.stored, "__defaults__", (decoder_snapshot.FILE,))
    assert decoder_snapshot.table_bytes(ROW_SIZE) == computed()
