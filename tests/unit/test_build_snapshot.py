"""A snapshot is loaded only with the inputs that it was computed from."""

import shutil
import subprocess
from pathlib import Path

import pytest

from pfmon import build_snapshot
from pfmon.stream import _stream

CONTENT = bytes(range(256)) * 40


@pytest.fixture(name="inputs")
def copies_of_inputs(tmp_path):
    """A source, data and an extension module."""
    (tmp_path / "source.py").write_text("STATES = 4\n")
    (tmp_path / "table.csv").write_bytes(b"")
    shutil.copy(_stream.__file__, tmp_path / "extension.so")
    return [str(tmp_path / name) for name in ("source.py", "table.csv", "extension.so")]


@pytest.fixture(name="path")
def path_of_a_snapshot(tmp_path, inputs):
    path = str(tmp_path / "snapshot.bin")
    build_snapshot.write(path, inputs, CONTENT)
    return path


def test_a_snapshot_is_loaded_as_it_was_written(path, inputs):
    assert build_snapshot.load(path, inputs) == CONTENT


@pytest.mark.parametrize("number", [0, 1])
def test_a_changed_file_is_refused(path, inputs, number):
    with Path(inputs[number]).open("ab") as file:
        file.write(b"#")
    assert build_snapshot.load(path, inputs) is None


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_missing_input_is_refused(path, inputs, number):
    Path(inputs[number]).unlink()
    assert build_snapshot.load(path, inputs) is None


@pytest.mark.parametrize("number", [0, 1, 2])
def test_an_input_more_or_less_is_refused(path, inputs, number):
    assert build_snapshot.load(path, inputs[:number] + inputs[number + 1 :]) is None
    assert build_snapshot.load(path, [*inputs, inputs[number]]) is None


def test_text_that_moved_from_one_file_to_the_next_is_refused(path, inputs):
    text = Path(inputs[0]).read_bytes()
    Path(inputs[0]).write_bytes(text[:-1])
    Path(inputs[1]).write_bytes(text[-1:])
    assert build_snapshot.load(path, inputs) is None


def build_id(path):
    """The build id of an ELF file, by binutils."""
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    return bytes.fromhex(notes.partition("Build ID: ")[2].split()[0])


def test_an_extension_module_of_another_build_is_refused(path, inputs):
    content = Path(inputs[2]).read_bytes()
    found = build_id(inputs[2])
    assert content.count(found) == 1
    Path(inputs[2]).write_bytes(content.replace(found, bytes(20)))
    assert build_snapshot.load(path, inputs) is None


def test_a_stripped_extension_module_is_the_same_build(path, inputs):
    before = Path(inputs[2]).read_bytes()
    subprocess.run(["strip", inputs[2]], check=True)
    assert Path(inputs[2]).read_bytes()[: build_snapshot.PAGE] != before[: build_snapshot.PAGE]
    assert build_snapshot.load(path, inputs) == CONTENT


def test_without_a_build_id_the_whole_extension_module_decides(path, inputs):
    content = Path(inputs[2]).read_bytes()
    Path(inputs[2]).write_bytes(content.replace(build_snapshot.BUILD_ID, bytes(len(build_snapshot.BUILD_ID))))
    assert build_snapshot.load(path, inputs) is None
    build_snapshot.write(path, inputs, CONTENT)
    assert build_snapshot.load(path, inputs) == CONTENT
    with Path(inputs[2]).open("ab") as file:
        file.write(b"#")
    assert build_snapshot.load(path, inputs) is None


@pytest.mark.parametrize("left", [0, 1, -1])
def test_a_snapshot_that_was_cut_off_is_refused(path, inputs, left):
    Path(path).write_bytes(Path(path).read_bytes()[:left])
    assert build_snapshot.load(path, inputs) is None


def test_no_snapshot_is_none(tmp_path, inputs):
    assert build_snapshot.load(str(tmp_path / "none"), inputs) is None
