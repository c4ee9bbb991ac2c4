"""Profiles as tables: a column for each event, then what the row is about."""

from collections.abc import Sequence

from pfmon.report.counts import value_text
from pfmon.session.counting import Value
from pfmon.session.profile import Profile, Row

GAP = "  "


def function_table(profile: Profile, style: str = "plain") -> str:
    """The counts by function, the largest first."""
    return _table(profile, "function", profile.by_function(), style)


def block_table(profile: Profile, style: str = "plain") -> str:
    """The counts by basic block, the largest first."""
    return _table(profile, "block", profile.by_block(), style)


def annotated(profile: Profile, name: str, lines: Sequence[tuple[int, str]], style: str = "plain") -> str:
    """A function's instructions in order, with what each counted."""
    rows = [(_cells(profile.values_at(address), profile, style), f"{address:x} {text}") for address, text in lines]
    return _aligned(profile, f"instructions of {name}", rows)


def _table(profile: Profile, what: str, rows: Sequence[Row], style: str) -> str:
    return _aligned(
        profile, what, [(_cells(row.values, profile, style), f"{row.address:#x} {row.name}") for row in rows]
    )


def _cells(values: Sequence[Value] | None, profile: Profile, style: str) -> list[str]:
    """Texts of the values; none where nothing was counted."""
    if values is None:
        return [""] * len(profile.names)
    return [value_text(value, style) for value in values]


def _aligned(profile: Profile, what: str, rows: Sequence[tuple[list[str], str]]) -> str:
    """Columns as wide as what is in them, numbers to the right."""
    table = [(list(profile.names), what), *rows]
    widths = [max(len(cells[column]) for cells, _ in table) for column in range(len(profile.names))]
    lines = []
    for cells, text in table:
        columns = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
        lines.append(GAP.join([*columns, text]) + "\n")
    return "".join(lines)
