"""Sweeps whose cells are counted in this process, which has its modules already: workers import them first."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self

import pytest

import pfmon
from pfmon.library.sweep.sweep_cell import execute_order
from pfmon.library.sweep.swept_table import SweptTable
from pfmon.library.sweep.worker_pool import SweepTask


class PoolHere:
    """In the place of a pool of workers."""

    def __init__(self, workers: int) -> None:
        pass

    def run(
        self, tasks: Iterable[SweepTask], on_answer: Callable[[str, Any], None], on_tick: Callable[[int], None]
    ) -> None:
        for task in tasks:
            on_answer(task.key, execute_order(task.order))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def swept_here(path: str | Path, output: str | Path = "") -> SweptTable:
    """What `pfmon.sweep` returns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pfmon.library.sweep.sweep_run.Pool", PoolHere)
        return pfmon.sweep(path, output)
