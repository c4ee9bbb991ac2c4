"""The machines that come with pfmon, read and checked when it was built (setup.py), so that a run need not do it.

What was prepared belongs to the files that it was made of. If it does not fit them, the files are read, which gives the
same and takes longer.
"""

from __future__ import annotations

import marshal
import os
import sys
from os.path import dirname, join

from pfmon.machine.machine_figures import MachineFigures
from pfmon.machine.names import HOST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = dirname(__file__)
FILE = join(HERE, "machines.bin")
READERS = ("config.py", "figures.py", "geometry.py")
"""What figures are read and checked with."""


def load(machine: str, overrides: Sequence[str] = ()) -> MachineFigures:
    """As `config.load`: a machine by name, variant or file, with figures changed. PfmonError: what is wrong."""
    if not overrides:
        figures = stored(machine)
        if figures:
            return figures
    from pfmon.machine.config import load as read  # what is not prepared: files and overrides

    return read(machine, overrides)


def stored(machine: str, path: str = FILE) -> MachineFigures | None:
    """A machine as it was prepared; None: it was not, or not from the files that are there now."""
    try:
        with open(path, "rb") as file:
            made_of, machines = marshal.loads(file.read())
    except (OSError, ValueError, EOFError, TypeError):
        return None
    if machine not in machines or made_of != _files():
        return None
    values, sources = marshal.loads(machines[machine])
    return MachineFigures(machine, values, sources, ())


def write(path: str) -> None:
    """Prepare all machines."""
    from pfmon.machine.config import load as read
    from pfmon.machine.config import names

    machines = {}
    for name in names():
        if name != HOST:
            figures = read(name)
            machines[name] = marshal.dumps((dict(figures), figures.sources))
    with open(path, "wb") as file:
        file.write(marshal.dumps((_files(), machines)))


def _files() -> bytes:
    """What everything was made of: Python's marshal format, files of figures, their readers."""
    configs = join(HERE, "configs")
    parts = [sys.version.encode()]
    for path in [join(configs, name) for name in sorted(os.listdir(configs))] + [join(HERE, name) for name in READERS]:
        with open(path, "rb") as file:
            parts.append(file.read())
    return b"".join(parts)


if __name__ == "__main__":
    write(sys.argv[1])
