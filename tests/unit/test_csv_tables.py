"""Tables are read as the module csv reads them."""

import csv
from pathlib import Path

import pytest
from grids import each
from hypothesis import given
from hypothesis import strategies as st

import pfmon
from pfmon.csv_tables import fields, lines, rows

PATHS = sorted(Path(pfmon.__file__).parent.rglob("*.csv"))
TEXT = st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=["Cs"]), max_size=8)


@each("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_table_is_read_as_csv_reads_it(path: Path) -> None:
    with path.open(newline="", encoding="utf-8") as file:
        header, *expected = csv.reader(file)
    assert list(rows(str(path), header)) == expected
    assert len({len(row) for row in expected}) == 1 and len(header) == len(expected[0])


@pytest.mark.slow
@given(st.lists(TEXT, min_size=2, max_size=6))
def test_fields_are_those_that_csv_writes(row: list[str]) -> None:
    class Line(list[str]):
        write = list.append

    written = Line()
    csv.writer(written, lineterminator="").writerow(row)
    assert fields("".join(written)) == row


def test_a_table_with_other_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    assert lines(str(path), ("a", "b")) == ["1,2"]
    with pytest.raises(ValueError, match="columns are not a,c"):
        lines(str(path), ("a", "c"))
