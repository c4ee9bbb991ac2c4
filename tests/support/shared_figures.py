"""Figures of prebuilt machines are read once in a process: to check them takes longer than what many tests run."""

from collections.abc import Sequence
from functools import lru_cache

from pfmon.machine.config import machine_config
from pfmon.machine.config.machine_figures import FILES, MachineFigures

LOAD = machine_config.load
MACHINES = 64
"""With figures changed, so many at most."""


def share_figures() -> None:
    """Before other modules import the function that loads them."""
    machine_config.load = load


def load(machine: str, overrides: Sequence[str] = (), option: str = machine_config.COMMAND_LINE) -> MachineFigures:
    """As machine_config.load: nobody can change the figures that it returns."""
    if machine in FILES:
        return _prebuilt(machine, tuple(overrides), option)
    return LOAD(machine, overrides, option)


_prebuilt = lru_cache(MACHINES)(LOAD)
