"""Files are written whole or not at all."""

import os
from pathlib import Path

import pytest

from pfmon import whole_files
from pfmon.whole_files import write_whole


def test_a_text_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for text in ("first", "second\n"):
        write_whole(str(path), text)
        assert path.read_text() == text
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_on_a_full_disk_what_was_there_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, partial = tmp_path / "file", tmp_path / "partial"
    path.write_text("mine")
    partial.symlink_to("/dev/full")
    monkeypatch.setattr(whole_files, "partial_of", lambda _: str(partial))
    with pytest.raises(OSError, match="No space"):
        write_whole(str(path), "new")
    assert path.read_text() == "mine"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder" / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="irectory"):
        write_whole(str(tmp_path / "folder"), "new")
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]


def test_a_device_is_written_itself() -> None:
    write_whole(os.devnull, "new")
    assert not Path(os.devnull).is_file()
