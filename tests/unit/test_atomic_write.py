"""Files are written whole or not at all."""

import io
import os
from pathlib import Path

import pytest

from pfmon.atomic_write import WholeFile, write_whole


def test_a_text_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for text in ("first", "second\n"):
        write_whole(str(path), text)
        assert path.read_text() == text
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_when_the_host_refuses_what_was_there_stays(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    path.write_text("mine")
    if call == "write":
        monkeypatch.setattr(os, "fdopen", lambda *_: Full())
    else:
        monkeypatch.setattr(os, call, refuse)
    with pytest.raises(OSError, match="No space"):
        write_whole(str(path), "new")
    monkeypatch.undo()
    assert path.read_text() == "mine"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


class Full(io.BytesIO):
    """A file on a full disk."""

    def write(self, _: object) -> int:
        raise OSError(28, "No space left on device")


def test_two_files_with_names_as_long_as_names_may_be_are_written_at_once(tmp_path: Path) -> None:
    names = ["n" * 254 + last for last in "ab"]
    made = [WholeFile(str(tmp_path / name)) for name in names]
    for one, name in zip(made, names, strict=True):
        one.file.write(name[-1].encode())
    for one in made:
        one.finish()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: name[-1] for name in names}


def test_what_a_killed_run_left_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / f".file.{os.getpid()}").write_text("left")
    write_whole(str(tmp_path / "file"), "new")
    assert (tmp_path / "file").read_text() == "new"


def test_what_is_kept_is_in_the_place_if_nothing_was_there(tmp_path: Path) -> None:
    for name, before in (("there", "mine"), ("empty", ""), ("fresh", None)):
        path = tmp_path / name
        if before is not None:
            path.write_text(before)
        one = WholeFile(str(path))
        one.file.write(b"some")
        where = one.keep()
        assert Path(where).read_text() == "some"
        assert (where == str(path)) == (not before) and (not before or path.read_text() == before)
    one = WholeFile(str(tmp_path / "nothing"))
    assert one.keep() == "" and not (tmp_path / "nothing").exists()


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anything
    with pytest.raises(PermissionError):
        WholeFile(str(path))
    assert path.read_text() == "mine" and list(tmp_path.iterdir()) == [path]


def test_a_file_whose_owner_cannot_be_kept_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    path = tmp_path / "file"
    path.write_text("mine")
    status = os.stat

    def anothers(*of: object, **named: object) -> os.stat_result:
        found = status(*of, **named)  # type: ignore[arg-type]
        values = list(found)
        values[4] += 1
        return os.stat_result(values)

    monkeypatch.setattr(os, "fchown", refuse)
    monkeypatch.setattr(os, "stat", anothers)
    with pytest.raises(PermissionError, match="another user"):
        WholeFile(str(path))
    monkeypatch.undo()
    assert path.read_text() == "mine" and list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder" / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="irectory"):
        write_whole(str(tmp_path / "folder"), "new")
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]


def test_a_device_is_written_itself() -> None:
    write_whole(os.devnull, "new")
    assert not Path(os.devnull).is_file()
