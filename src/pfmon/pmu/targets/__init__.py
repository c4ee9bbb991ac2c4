"""The PMUs: every folder here is one, described by its `TARGET` (target.py). To add a PMU is to add a folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from os import scandir

from pfmon.errors import UnknownNameError
from pfmon.pmu.target import FOLDER, Target

ARCHITECTURES = ("ia64", "x86", "ppc")
"""The order of lists of PMUs; within an architecture they are in the order of their generations."""


@cache
def targets() -> dict[str, Target]:
    """Return every PMU by name, in the order of lists."""
    with scandir(FOLDER) as entries:
        folders = sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith("_"))
    found: list[Target] = [import_module(f"{__name__}.{folder}").TARGET for folder in folders]
    found.sort(key=lambda target: (ARCHITECTURES.index(target.architecture), target.generation))
    return {target.name: target for target in found}


def names() -> list[str]:
    """Return the names of all PMUs."""
    return list(targets())


def named(name: str) -> Target:
    """Return a PMU by name, ignoring case. UnknownNameError: there is none of that name."""
    if name.lower() not in targets():
        raise UnknownNameError("PMU", name, names())
    return targets()[name.lower()]


def having(wanted: Callable[[Target], object]) -> tuple[str, ...]:
    """Return the names of the PMUs for which a condition is true."""
    return tuple(target.name for target in targets().values() if wanted(target))


def of_architecture(*architectures: str) -> tuple[str, ...]:
    """Return the names of the PMUs of processors of these architectures."""
    return having(lambda target: target.architecture in architectures)


def default_of(instruction_set: str) -> str:
    """Return the name of the PMU of programs of an instruction set (as in `Target.machines`), unless another is asked
    for."""
    return having(lambda target: instruction_set in target.default_of)[0]


DEFAULT_PMU = default_of("ia64")
"""The PMU where no program tells."""
