"""The figures of a machine, as a table."""

from __future__ import annotations

from pfmon.machine.config.figures import figures
from pfmon.machine.config.machine_figures import MachineFigures


def machine_text(machine: MachineFigures) -> str:
    """Return a line for each figure: name, value, description, source."""
    known = figures(machine.core)
    tables = list(dict.fromkeys(name.partition(".")[0] for name in known))
    order = sorted((name for name in known if name in machine), key=lambda name: tables.index(name.partition(".")[0]))
    rows = [(name, known[name].show(machine[name])) for name in order]
    names, values = (max(len(row[column]) for row in rows) for column in (0, 1))
    lines = [f"machine  : {machine.name} ({machine['machine.name']})"]
    for name, value in rows:
        note = " (changed)" if name in machine.given else ""
        lines.append(f"  {name:<{names}} {value:<{values}} {known[name].meaning}{note} [{machine.sources[name]}]")
    return "\n".join(lines) + "\n"
