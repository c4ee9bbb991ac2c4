"""The cycle breakdown (figure 3-2 of the Montecito manual) as a table with bars."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.program.loaded_objects import shown_name
from pfmon.report.count_text import UNDEFINED, value_text
from pfmon.report.top_down_table import top_down_table
from pfmon.session.profile.cpi_causes import PARTS
from pfmon.session.profile.cpi_lines import LineRow
from pfmon.session.profile.cpi_stack import CpiStack, FunctionRow
from pfmon.session.profile.finding import Finding
from pfmon.session.profile.omissions import omissions_line

BAR = 40
"""Characters of a bar of 100%."""
FUNCTIONS = 20
"""Maximum number of functions, and of lines, listed; the rest are summed in one line."""
SHORT = {
    "inherent execution": "inherent",
    "data access": "data",
    "operations": "operations",
    "branch mispredicts": "mispredict",
    "instruction fetch": "fetch",
    "other stalls": "other",
}


def cpi_text(cpi: CpiStack, style: str = "plain", found: Finding | None = None) -> str:
    """Return the tables as text: the run, what is left out of it, the largest cause, what the slots of an
    out-of-order core went to, the ratios, the functions, and the source lines, if they are wanted."""
    run = _run_table(cpi, style) + omissions_line(cpi.omissions) + (f"\n{found}\n" if found else "")
    lines = "" if cpi.lines is None else f"\n{line_table(cpi, style)}"
    python = f"\n{function_table(cpi, style, cpi.python, 'Python function')}" if cpi.python else ""
    slots = f"\n{top_down_table(cpi.top_down, style)}" if cpi.top_down else ""
    return f"{run}{slots}\n{_ratio_table(cpi, style)}{python}\n{function_table(cpi, style, cpi.functions)}{lines}"


def ratio(above: int, below: int) -> float | None:
    """Return ``above / below``; None if ``below`` is 0."""
    return above / below if below else None


def share_text(part: int, whole: int) -> str:
    """Return a share of the whole, in per cent."""
    return f"{ratio(part, whole) or 0.0:.1%}"


def number_text(value: float | None, form: str) -> str:
    """Return a ratio as text."""
    return UNDEFINED if value is None else format(value, form)


def _run_table(cpi: CpiStack, style: str) -> str:
    """Return a line for each part, and for each of its components if there are several."""
    lines = [f"{cpi.machine}\n", f"{'cycles':>20} {'CPI':>8} {'share':>7}\n"]
    lines.append(_line("all cycles", cpi.cycles, cpi, style, bar=False))
    for part, inner in cpi.parts.items():
        lines.append(_line(part, cpi.total(part), cpi, style))
        if len(inner) > 1:
            lines += [_line(f"  {name}", cycles, cpi, style, bar=False) for name, cycles in inner.items() if cycles]
    return "".join(lines)


def _line(name: str, cycles: int, cpi: CpiStack, style: str, bar: bool = True) -> str:
    share = cycles / cpi.cycles if cpi.cycles else 0.0
    drawn = "#" * round(BAR * share) if bar else ""
    per = number_text(ratio(cycles, cpi.instructions), ".3f")
    return (
        f"{value_text(cycles, style):>20} {per:>8} {share_text(cycles, cpi.cycles):>7} {name:<36} {drawn}".rstrip()
        + "\n"
    )


def _ratio_table(cpi: CpiStack, style: str) -> str:
    rows = {
        "instructions": value_text(cpi.instructions, style),
        "instructions per cycle": number_text(ratio(cpi.instructions, cpi.cycles), ".3f"),
        **{name: number_text(value, ".4g") for name, value in cpi.ratios.items()},
    }
    return "".join(f"{value:>20} {name}\n" for name, value in rows.items())


def function_table(cpi: CpiStack, style: str, functions: Sequence[FunctionRow], what: str = "function") -> str:
    """Return a line for each function with the most cycles: shares of its own cycles, and a bar of its share of all."""
    return _table(what, [(row, row.shown) for row in functions], cpi, style)


def line_table(cpi: CpiStack, style: str) -> str:
    """Return the same for source lines; files by their names without folders."""
    rows = [(row, shown_name(f"{row.file.rpartition('/')[2]}:{row.line}", row.object)) for row in cpi.lines or ()]
    return _table("line", rows, cpi, style)


def _table(what: str, rows: Sequence[tuple[FunctionRow | LineRow, str]], cpi: CpiStack, style: str) -> str:
    head = "".join(f" {SHORT[part]:>10}" for part in PARTS)
    lines = [f"{'cycles':>20} {'CPI':>8} {'share':>7}{head} {what}\n"]
    shown, left = rows[:FUNCTIONS], [row for row, _ in rows[FUNCTIONS:]]
    lines += [_function_line(row, name, cpi, style) for row, name in shown]
    if left:
        rest = FunctionRow("", 0, _sums(left), sum(row.instructions for row in left))
        lines.append(_function_line(rest, f"{len(left)} more", cpi, style))
    return "".join(lines)


def _sums(rows: Sequence[FunctionRow | LineRow]) -> tuple[int, ...]:
    return tuple(sum(column) for column in zip(*(row.cycles for row in rows), strict=True))


def _function_line(row: FunctionRow | LineRow, name: str, cpi: CpiStack, style: str) -> str:
    cycles = sum(row.cycles)
    share = cycles / cpi.cycles if cpi.cycles else 0.0
    per = number_text(ratio(cycles, row.instructions), ".3f")
    parts = "".join(f" {part / cycles if cycles else 0:>10.1%}" for part in row.cycles)
    drawn = "#" * round(BAR * share)
    begin = f"{value_text(cycles, style):>20} {per:>8} {share_text(cycles, cpi.cycles):>7}{parts}"
    return f"{begin} {name:<24} {drawn}".rstrip() + "\n"
