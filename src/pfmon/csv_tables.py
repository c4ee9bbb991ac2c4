"""CSV tables that come with pfmon, read without the module csv, which takes longer to load than the tables to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def fields(line: str) -> list[str]:
    """Return the fields of a line."""
    if '"' not in line:
        return line.split(",")
    found = [""]
    parts = line.split('"')
    for number, part in enumerate(parts):
        if number % 2:  # inside quotes
            found[-1] += part
        elif not part and 0 < number < len(parts) - 1:  # two adjacent quotes mean one
            found[-1] += '"'
        else:
            first, *more = part.split(",")
            found[-1] += first
            found += more
    return found


def table(path: str) -> tuple[list[str], list[str]]:
    """Return the names of a table's columns and its other lines; fields contain no line breaks."""
    with open(path, encoding="utf-8") as file:
        header, *rest = file.read().rstrip("\n").split("\n")
    return header.split(","), rest


def lines(path: str, columns: Sequence[str]) -> list[str]:
    """Return the lines of a table after its header. ValueError: other columns."""
    header, rest = table(path)
    if header != list(columns):
        raise ValueError(f"{path}: columns are not {','.join(columns)}")
    return rest


def rows(path: str, columns: Sequence[str]) -> Iterator[list[str]]:
    """Yield the fields of each line."""
    return map(fields, lines(path, columns))
