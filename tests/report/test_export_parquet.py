"""parquet, read by pandas: the table that csv has."""

import csv
from pathlib import Path

import pytest
from cpp_program import write_cpp_program
from exported import EVERYTHING, QUEENS, expected, export

pytest.importorskip("pyarrow")
pandas = pytest.importorskip("pandas")

NUMBERS = {"number", "stamp", "last_val", "set", "line"}


@pytest.mark.parametrize("name", ["queens", "shapes"])
def test_it_has_the_table_of_csv(name: str, tmp_path: Path) -> None:
    command = QUEENS if name == "queens" else (str(write_cpp_program(tmp_path / "shapes")),)
    words = ("-e", "ia64_inst_retired,loads_retired,nops_retired", "--long-smpl-periods=5,7")
    table = pandas.read_parquet(export(tmp_path / "parquet", "parquet", *words, command=command))
    with export(tmp_path / "csv", "csv", *words, command=command).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(table.columns) == list(rows[0]) and "pmd6" in rows[0]
    for column in table.columns:
        number = column in NUMBERS or column.startswith("pmd")
        wanted = [int(row[column], 0) if row[column] and (number or column == "iip") else row[column] for row in rows]
        assert [value or "" if value == value else "" for value in table[column]] == [value or "" for value in wanted]


def test_its_rows_are_the_samples(tmp_path: Path) -> None:
    table = pandas.read_parquet(export(tmp_path / "table", "parquet", *EVERYTHING))
    assert [*zip(table.iip, table.stamp, table.last_val, strict=True)] == [
        (one.frames[0], one.stamp, one.period) for one in expected()
    ]
    assert [tuple(reversed(stack.split(";"))) for stack in table["stack"]] == [one.functions for one in expected()]
    assert str(table.iip.dtype) == "uint64" and list(table.number) == [*range(len(expected()))]
