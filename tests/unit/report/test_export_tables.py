"""csv, and parquet as pandas reads it: the same table, with the rows of the samples."""

import csv
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from command import EXAMPLES
from cpp_program import write_cpp_program
from exported import EVERYTHING, QUEENS, expected, export
from grids import first_quick

import pfmon as library
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.report.exports.csv_table import CsvTable
from pfmon.report.exports.parquet import Parquet
from pfmon.report.exports.sample_export import ExportSubject
from pfmon.session.profile.code_profile import FunctionNames
from pfmon.session.sampling.sampling_period import Sample

NUMBERS = {"number", "stamp", "last_val", "set", "line"}


@pytest.fixture(autouse=True)
def optional_packages() -> None:
    """Imported when a test runs: they take a second and 80 MB of every process that collects tests."""
    pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("pandas")


def pandas_table(path: Path) -> Any:
    import pandas

    return pandas.read_parquet(path)


@pytest.mark.parametrize("name", first_quick(["queens", "shapes"]))
def test_it_has_the_table_of_csv(name: str, tmp_path: Path) -> None:
    command = QUEENS if name == "queens" else (str(write_cpp_program(tmp_path / "shapes")),)
    words = ("-e", "ia64_inst_retired,loads_retired,nops_retired", "--long-smpl-periods=5,7")
    table = pandas_table(export(tmp_path / "parquet", "parquet", *words, command=command))
    with export(tmp_path / "csv", "csv", *words, command=command).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(table.columns) == list(rows[0]) and "pmd6" in rows[0]
    for column in table.columns:
        number = column in NUMBERS or column.startswith("pmd")
        wanted = [int(row[column], 0) if row[column] and (number or column == "iip") else row[column] for row in rows]
        assert [value or "" if value == value else "" for value in table[column]] == [value or "" for value in wanted]


def test_samples_with_different_registers_have_them_in_their_columns() -> None:
    samples = [
        Sample(0x4000, 1, (4,), 100, 0, ((2, 22), (3, 33))),
        Sample(0x4001, 2, (5,), 100, 0, ()),
        Sample(0x4002, 3, (6,), 100, 0, ((8, 1 << 63), (2, 23))),
    ]
    subject = ExportSubject(FunctionNames(LoadedObjects(None)), ["p"], 1000, {}, [2, 3, 8])
    wanted = {"pmd2": [22, None, 23], "pmd3": [33, None, None], "pmd8": [None, None, 1 << 63]}
    for table_file, read in ((Parquet(subject), parquet_columns), (CsvTable(subject), csv_columns)):
        table = read(table_file.take(samples[:2]) + table_file.take(samples[2:]) + table_file.finish())
        assert {name: table[name] for name in table if name.startswith("pmd")} == wanted


def parquet_columns(data: bytes) -> dict[str, list[int | None]]:
    from pyarrow import parquet

    return dict(parquet.read_table(BytesIO(data)).to_pydict())


def csv_columns(data: bytes) -> dict[str, list[int | None]]:
    rows = list(csv.DictReader(data.decode().splitlines()))
    return {name: [int(row[name]) if row[name] else None for row in rows] for name in rows[0] if name.startswith("pmd")}


@pytest.mark.slow
def test_captures_have_columns(tmp_path: Path) -> None:
    words = ("-e", "data_ear_cache_lat4,loads_retired", "--long-smpl-periods=3")
    hashmap = (str(EXAMPLES / "ia64" / "hashmap"), "100")
    table = pandas_table(export(tmp_path / "table", "parquet", *words, command=hashmap))
    taken = library.run(hashmap, events=words[1], long_smpl_periods=3, smpl_stacks=True, stdout=library.DEVNULL).samples
    assert taken is not None and len(taken) > 5
    registers = [f"pmd{number}" for number, _ in taken[0].pmds]
    assert [name for name in table.columns if name.startswith("pmd")] == registers and len(registers) == 4
    rows = table[registers].to_numpy().tolist()
    assert rows == [[value for _, value in sample.pmds] for sample in taken]


@pytest.mark.slow
def test_its_rows_are_the_samples(tmp_path: Path) -> None:
    table = pandas_table(export(tmp_path / "table", "parquet", *EVERYTHING))
    assert [*zip(table.iip, table.stamp, table.last_val, strict=True)] == [
        (one.frames[0], one.stamp, one.period) for one in expected()
    ]
    assert [tuple(reversed(stack.split(";"))) for stack in table["stack"]] == [one.functions for one in expected()]
    assert str(table.iip.dtype) == "uint64" and list(table.number) == [*range(len(expected()))]
