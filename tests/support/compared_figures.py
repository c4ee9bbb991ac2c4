"""The table of docs/fidelity.md for the out-of-order machines (tests/data/machine/compared.csv): published, configured,
measured.

    python tests/support/compared_figures.py

prints it, measured anew.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from published_figures import Figure, figures, measure, table
from x86_code import describer, machine_code, name_of

from pfmon.machine.config.core_timings import ports_of
from pfmon.machine.config.instruction_table import InstructionTable
from pfmon.machine.config.machine_config import load
from pfmon.stream._stream import AccessKind

MACHINES = ("core2", "nehalem", "skylake", "icelake", "zen3", "zen4")
NOTHING = "\N{EN DASH}"


class Compared(NamedTuple):
    """A row: what is configured of a mechanism, and the names of the figures of each machine; empty: none is published.

    ``configured``: names of figures, separated by spaces, or ``latency:`` and ``throughput:`` of an instruction.
    """

    kind: str
    mechanism: str
    configured: str
    core2: str
    nehalem: str
    skylake: str
    icelake: str
    zen3: str
    zen4: str

    def figure(self, machine: str) -> Figure | None:
        """What is published of a machine."""
        name = getattr(self, machine)
        return by_name(machine)[self.kind, name] if name else None


def compared() -> list[Compared]:
    """The rows."""
    return list(map(Compared._make, table("compared", Compared._fields)))


@cache
def by_name(machine: str) -> dict[tuple[str, str], Figure]:
    return {(one.kind, one.name): one for one in figures(machine)}


@cache
def instructions(machine: str) -> InstructionTable:
    return InstructionTable(machine, ports_of(load(machine)))


@cache
def code_of(text: str) -> bytes:
    return machine_code([text])[0]


def instruction_value(machine: str, text: str, column: str) -> str:
    """The latency or throughput of an instruction's row."""
    form = describer().registers_of(code_of(text))[3]
    access = int(AccessKind.FETCH_LINE) if "[" in text and text.startswith("prefetch") else 0
    found = instructions(machine).timing_of(name_of(form), form, access & 3)
    row = next(row for row in instructions(machine).rows if row.line == found.line)
    value = found.latency if column == "latency" else row.throughput
    return NOTHING if value is None else f"{value:g}"


def configured(machine: str, what: str) -> str:
    """What a machine's files have, with names."""
    if ":" not in what:
        of = load(machine)
        return ", ".join(f"`{key}` {str(of[key]).lower() if key in of else NOTHING}" for key in what.split())
    parts = [(column, text) for column, _, text in (one.partition(":") for one in what.split("; "))]
    return ", ".join(f"{column} {instruction_value(machine, text, column)}" for column, text in parts)


def cell(row: Compared, machine: str, measured: Mapping[str, str]) -> str:
    """Published, configured, measured, of a machine."""
    figure = row.figure(machine)
    if figure is None:
        return f"{NOTHING} / {configured(machine, row.configured)} / {NOTHING}"
    published = f"{figure.low} to {figure.high}, {figure.source}"
    return f"{published} / {configured(machine, row.configured)} / {measured[machine]}"


def line(row: Compared, measured: Mapping[str, str]) -> str:
    """A row of the page."""
    cells = [cell(row, machine, measured) for machine in MACHINES]
    return f"| {row.kind} | {row.mechanism} | {' | '.join(cells)} |"


def measure_row(row: Compared) -> dict[str, str]:
    """The cycles of a row's figures, by machine, as the page has them."""
    found = {}
    with tempfile.TemporaryDirectory() as directory:
        for machine in MACHINES:
            figure = row.figure(machine)
            if figure is not None:
                found[machine] = f"{measure(figure, machine, Path(directory)):.2f}"
    return found


def main() -> None:
    """Print the table."""
    for row in compared():
        print(line(row, measure_row(row)), flush=True)


if __name__ == "__main__":
    main()
