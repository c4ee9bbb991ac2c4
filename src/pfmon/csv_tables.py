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


def lines(path: str, columns: Sequence[str]) -> list[str]:
    """Return the lines of a table after its header; fields contain no line breaks. ValueError: other columns."""
    with open(path, encoding="utf-8") as table:
        header, *rest = table.read().rstrip("\n").split("\n")
    if header != ",".join(columns):
        raise ValueError(f"{path}: columns are not {','.join(columns)}")
    return rest


def rows(path: str, columns: Sequence[str]) -> Iterator[list[str]]:
    """Yield the fields of each line."""
    return map(fields, lines(path, columns))
