"""Progress of a run, as a line and as tables: by rich on terminals, as plain text elsewhere."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from pfmon.report.count_text import value_text
from pfmon.report.run_snapshot import RunSnapshot
from pfmon.session.run.programmed_pmu import Value

PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
COUNTS_IN_LINE = 4


def short(value: Value) -> str:
    """Format a number with at most four digits and an SI prefix."""
    if value is None:
        return "n/a"
    for size, prefix in PREFIXES:
        if value >= size:
            return f"{value / size:.4g}{prefix}"
    return f"{value:.4g}"


def speed(now: RunSnapshot, before: RunSnapshot | None) -> float:
    """Return instructions per second since the previous moment, or since the beginning."""
    first = (before.seconds, before.instructions) if before else (0.0, 0)
    took = now.seconds - first[0]
    return (now.instructions - first[1]) / took if took > 0 else 0.0


def progress_line(now: RunSnapshot, before: RunSnapshot | None = None) -> Text:
    """Return the line of time, instructions, speed, a system's own time, the first counts, memory. Instructions known
    only at the end are left out."""
    parts = [(f"{now.seconds:.0f} s", "bold")]
    if now.instructions:
        parts += [(f"{short(now.instructions)} instructions", "green"), (f"{short(speed(now, before))}/s", "cyan")]
    if now.system_seconds is not None:
        parts.append((f"system {now.system_seconds:.3f} s", ""))
    parts += [(f"{name} {short(value)}", "") for name, value in now.counts[:COUNTS_IN_LINE]]
    parts += [("...", "")] if len(now.counts) > COUNTS_IN_LINE else []
    parts.append((f"{now.memory >> 20} MB", "dim"))
    line = Text(no_wrap=True, overflow="ellipsis")
    for number, (text, style) in enumerate(parts):
        line.append("  " if number else "").append(text, style)
    return line


def count_table(now: RunSnapshot, style: str = "plain") -> Table:
    """Return the table of counts so far."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("count", justify="right", min_width=20)
    table.add_column("event")
    for name, value in now.counts:
        table.add_row(value_text(value, style), name)
    return table


def function_table(now: RunSnapshot, most: int, style: str = "plain") -> Table:
    """Return the table of the functions with most of the first event, with all counts."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    first = now.counts[0][1] if now.counts else 0
    table.add_column("share", justify="right", style="cyan")
    for name, _ in now.counts:
        table.add_column(name, justify="right")
    table.add_column("function", style="green", no_wrap=True)
    for row in now.functions[:most]:
        share = f"{row.values[0] / first:.1%}" if first and row.values[0] is not None else ""
        table.add_row(share, *(value_text(value, style) for value in row.values), row.shown)
    return table
