"""Tables of two programs on a core: cycles and switches of each, and its losses due to the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pfmon.report.count_text import value_text
from pfmon.report.cpi_report import function_table, number_text, ratio, share_text
from pfmon.report.task_report import end_text, shown_command
from pfmon.session.coupled.coupled_run import ThreadCycles, all_cycles, share_one_core
from pfmon.session.profile.cpi_causes import PARTS
from pfmon.session.profile.cpi_stack import CpiStack

CAUSES = {
    "l3": "L3 misses and returns",
    "timer": "time-outs",
    "hint": "hint@pause",
    "low_power": "low power: nothing to do",
}
"""Cause of a thread switch -> its label in the table."""
WIDTH = 20


def thread_line(number: int, command: Sequence[str], status: int, signal: int | None, unit: str = "thread") -> str:
    """Return a line with the thread, or core, its command, and how that ended."""
    return f"# {unit} {number} {shown_command(command)}{end_text(status, signal)}\n"


def core_text(cycles: Sequence[ThreadCycles], style: str) -> str:
    """Return the table of the core's cycles, by thread."""
    whole = all_cycles(cycles)
    if not share_one_core(cycles):
        return two_cores_text(cycles, style)
    rows = [
        ("cycles in the foreground", _values((one.active for one in cycles), style)),
        ("... of these from a switch to the next issue", _values((one.switching for one in cycles), style)),
        ("cycles in the background", _values((one.background for one in cycles), style)),
        ("of the core's cycles", [share_text(one.active, whole) for one in cycles]),
    ]
    rows += [
        (f"switches away by {said}", _values((one.switches[cause] for one in cycles), style))
        for cause, said in CAUSES.items()
    ]
    rows += [
        (f"misses of what the other had evicted: {structure}", _values(found, style))
        for structure, found in _evicted(cycles).items()
    ]
    return f"# core: {value_text(whole, style)} cycles\n" + _table(rows)


def two_cores_text(cycles: Sequence[ThreadCycles], style: str) -> str:
    """Return the table of two cores' cycles, until both programs have ended."""
    whole = all_cycles(cycles)
    rows = [
        ("cycles until its program had ended", _values((one.active for one in cycles), style)),
        ("of all cycles", [share_text(one.active, whole) for one in cycles]),
    ]
    return f"# two cores: {value_text(whole, style)} cycles\n" + _table(rows, "core")


def _evicted(cycles: Sequence[ThreadCycles]) -> dict[str, list[int]]:
    """Return each thread's misses of lines evicted by the other, by structure with such misses."""
    structures = dict.fromkeys(structure for one in cycles for structure in one.evicted)
    found = {structure: [one.evicted.get(structure, 0) for one in cycles] for structure in structures}
    return {structure: misses for structure, misses in found.items() if any(misses)}


def _values(values: Iterable[int], style: str) -> list[str]:
    return [value_text(value, style) for value in values]


def _table(rows: Sequence[tuple[str, Sequence[str]]], unit: str = "thread") -> str:
    head = "".join(f"{f'{unit} {number}':>{WIDTH}} " for number in range(2))
    return f"{head.rstrip()}\n" + "".join(
        f"{first:>{WIDTH}} {second:>{WIDTH}} {name}\n" for name, (first, second) in rows
    )


def cpi_text(cycles: Sequence[ThreadCycles], reports: Sequence[CpiStack], lines: Sequence[str], style: str) -> str:
    """Return --report=cpi of two programs: one table of the cycles of each by cause, each one's share of the core, and
    the functions of each below its `thread_line`."""
    instructions = sum(one.instructions for one in reports)
    head = "".join(f"{'cycles':>20} {'CPI':>8} {'share':>7}   " for _ in reports)
    unit = "thread" if share_one_core(cycles) else "core"
    named = "".join(f"{f'{unit} {number}':>37}   " for number in range(len(reports)))
    table = [f"{reports[0].machine}\n", f"{named.rstrip()}\n", f"{head.rstrip()}\n"]
    table.append(_cpi_line("all cycles", [one.cycles for one in reports], reports, style))
    for part in PARTS:
        table.append(_cpi_line(part, [one.total(part) for one in reports], reports, style))
        inner = [one.parts[part] for one in reports]
        for name in inner[0] if len(inner[0]) > 1 else ():
            if any(of[name] for of in inner):
                table.append(_cpi_line(f"  {name}", [of[name] for of in inner], reports, style))
    whole = all_cycles(cycles)
    rows = [
        ("instructions", _values((one.instructions for one in reports), style)),
        ("cycles per instruction of its own cycles", [_per(one.cycles, one.instructions) for one in reports]),
        ("all cycles per instruction of its own", [_per(whole, one.instructions) for one in reports]),
        *((name, [number_text(one.ratios[name], ".4g") for one in reports]) for name in reports[0].ratios),
    ]
    core = f"{_per(whole, instructions):>{WIDTH}} all cycles per instruction of both\n"
    functions = (
        f"\n{line}{function_table(one, style, one.functions)}" for line, one in zip(lines, reports, strict=True)
    )
    return "".join([*table, "\n", _table(rows, unit), core, "\n", core_text(cycles, style), *functions])


def _cpi_line(name: str, cycles: Sequence[int], reports: Sequence[CpiStack], style: str) -> str:
    cells = [
        f"{value_text(value, style):>20} {_per(value, of.instructions):>8} {share_text(value, of.cycles):>7}   "
        for value, of in zip(cycles, reports, strict=True)
    ]
    return f"{''.join(cells).rstrip()} {name}\n"


def _per(above: int, below: int) -> str:
    return number_text(ratio(above, below), ".3f")
