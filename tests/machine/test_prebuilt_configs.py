"""Machines that were prepared when pfmon was built are those that their files make, and no others are taken."""

import shutil
from pathlib import Path

import pytest

from pfmon.errors import PfmonError
from pfmon.machine import machine_config, prebuilt_configs
from pfmon.machine.catalog import HOST

NAMES = [name for name in machine_config.names() if name != HOST]


@pytest.fixture(name="copy")
def a_copy_of_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files of figures and what reads them, where a test may change them, and machines that were prepared from them."""
    here = Path(prebuilt_configs.HERE)
    shutil.copytree(here / "configs", tmp_path / "configs")
    for name in prebuilt_configs.READERS:
        shutil.copy(here / name, tmp_path / name)
    monkeypatch.setattr(prebuilt_configs, "HERE", str(tmp_path))
    monkeypatch.setattr(prebuilt_configs, "FILE", str(tmp_path / "machines.bin"))
    prebuilt_configs.write(prebuilt_configs.FILE)
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_the_build_left_the_machine_that_its_file_makes(name: str) -> None:
    prepared, read = prebuilt_configs.stored(name), machine_config.load(name)
    assert prepared is not None
    assert (dict(prepared), prepared.sources, prepared.name) == (dict(read), read.sources, read.name)
    assert (prepared.core, prepared.given) == (read.core, read.given)


def test_machines_are_read_as_they_were_written(copy: Path) -> None:
    found = prebuilt_configs.stored("itanium2", prebuilt_configs.FILE)
    assert found is not None
    assert dict(found) == dict(machine_config.load("itanium2"))


@pytest.mark.parametrize("changed", ["configs/itanium2.toml", "configs/figures.csv", "figure_checks.py"])
def test_machines_of_other_files_are_refused(copy: Path, changed: str) -> None:
    with (copy / changed).open("a") as file:
        file.write("# changed\n")
    assert prebuilt_configs.stored("itanium2", prebuilt_configs.FILE) is None
    assert dict(prebuilt_configs.load("itanium2")) == dict(machine_config.load("itanium2"))


def test_without_prepared_machines_the_files_are_read(copy: Path) -> None:
    Path(prebuilt_configs.FILE).unlink()
    assert dict(prebuilt_configs.load("montecito")) == dict(machine_config.load("montecito"))


def test_a_file_that_was_cut_off_is_refused(copy: Path) -> None:
    path = Path(prebuilt_configs.FILE)
    path.write_bytes(path.read_bytes()[:-100])
    assert prebuilt_configs.stored("itanium2", prebuilt_configs.FILE) is None
    path.write_bytes(b"")
    assert prebuilt_configs.stored("itanium2", prebuilt_configs.FILE) is None


def test_changed_figures_are_read() -> None:
    assert prebuilt_configs.load("itanium2", ["l3.size=6M"])["l3.size"] == 6 << 20
    assert prebuilt_configs.load("itanium2")["l3.size"] != 6 << 20


def test_an_unknown_machine_is_said() -> None:
    with pytest.raises(PfmonError, match="itanium3"):
        prebuilt_configs.load("itanium3")
