"""The machines that come with pfmon, read and checked at build time (setup.py), so that a run need not do it.

Prepared machines are valid for the files that they were made from. If these have changed, the files are read, with the
same result, but slower.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Sequence
from os.path import dirname, join

from pfmon.debug_log import log
from pfmon.machine.catalog import HOST
from pfmon.machine.machine_figures import MachineFigures

HERE = dirname(__file__)
FILE = join(HERE, "machines.bin")
READERS = ("machine_config.py", "figures.py", "figure_checks.py")
"""Modules that read and check figures."""


def load(machine: str, overrides: Sequence[str] = ()) -> MachineFigures:
    """As `config.load`: a machine by name, variant or file, with figures changed. PfmonError: the error in them."""
    if not overrides:
        figures = stored(machine)
        if figures:
            log("cache", "%s: the figures of %s are read from it", FILE, machine)
            return figures
    why = "figures are changed" if overrides else "it does not have them, or files of figures have changed"
    log("cache", "%s: not used for %s: %s", FILE, machine, why)
    from pfmon.machine.machine_config import load as read

    return read(machine, overrides)


def stored(machine: str, path: str = FILE) -> MachineFigures | None:
    """A prepared machine; None: there is none, or its files have changed."""
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
    """Prepares all machines."""
    from pfmon.machine.machine_config import load as read
    from pfmon.machine.machine_config import names

    machines = {}
    for name in names():
        if name != HOST:
            figures = read(name)
            machines[name] = marshal.dumps((dict(figures), figures.sources))
    with open(path, "wb") as file:
        file.write(marshal.dumps((_files(), machines)))


def _files() -> bytes:
    """Contents of all inputs: Python's marshal format, files of figures, their readers."""
    configs = join(HERE, "configs")
    parts = [sys.version.encode()]
    for path in [join(configs, name) for name in sorted(os.listdir(configs))] + [join(HERE, name) for name in READERS]:
        with open(path, "rb") as file:
            parts.append(file.read())
    return b"".join(parts)
