"""Directories of counted processes."""

from pathlib import Path

import pytest

from pfmon.testing import fixed_folders
from pfmon.testing.fixed_folders import folder_for


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixed_folders, "gettempdir", lambda: str(tmp_path))


def test_a_folder_has_the_same_name_each_time_and_goes(tmp_path: Path) -> None:
    names = []
    for _ in range(2):
        with folder_for("test") as folder:
            Path(folder, "file").write_text("")
            names.append(folder)
    assert names[0] == names[1] and list(tmp_path.iterdir()) == []


def test_two_at_once_are_two() -> None:
    with folder_for("test") as one, folder_for("test") as two, folder_for("other") as three:
        assert len({one, two, three}) == 3
