"""The decoder's tables of the build are those that the rows make, and no others are loaded."""

import subprocess
import sys
from pathlib import Path

import pytest
from grids import each

from pfmon import build_snapshot
from pfmon.isa.ia64.decode import decoder_snapshot
from pfmon.isa.ia64.decode.decoder_tables import computed

OBSERVED = """
import os, sys
seen = set()
def observe(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        seen.add(arguments[0])
    if event == "import" and arguments[1]:
        seen.add(arguments[1])
sys.addaudithook(observe)
from pfmon.isa.ia64.decode.decoder_tables import computed
computed()
print(*seen, sep="\\n")
"""
"""Prints the files that Python opens, and the extension modules that it loads, while the tables are computed."""


def test_the_build_left_the_tables_that_the_rows_make():
    assert build_snapshot.load(decoder_snapshot.FILE, decoder_snapshot.INPUTS) == computed()


@pytest.mark.slow
def test_the_inputs_are_all_files_that_are_read_when_tables_are_computed(tmp_path):
    command = [sys.executable, "-X", f"pycache_prefix={tmp_path}", "-c", OBSERVED]
    seen = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    package = Path(decoder_snapshot.PACKAGE)
    files = {path for path in map(Path, seen) if path.is_relative_to(package)}
    assert files == {Path(path) for path in decoder_snapshot.INPUTS}


@each("number", range(len(decoder_snapshot.INPUTS)))
def test_tables_of_another_input_are_refused(tmp_path, number):
    inputs = list(decoder_snapshot.INPUTS)
    content = Path(inputs[number]).read_bytes()
    other = tmp_path / Path(inputs[number]).name
    head = content.find(build_snapshot.BUILD_ID) + len(build_snapshot.BUILD_ID)
    other.write_bytes(content[:head] + bytes(20) + content[head + 20 :] if other.suffix == ".so" else content + b"#")
    inputs[number] = str(other)
    assert build_snapshot.load(decoder_snapshot.FILE, inputs) is None


def test_without_a_snapshot_the_rows_are_asked(tmp_path):
    assert decoder_snapshot.table_bytes(str(tmp_path / "none")) == computed()
