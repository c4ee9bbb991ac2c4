"""Run a sweep: record programs and count cells, skipping those already done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from pfmon.errors import PfmonError
from pfmon.library.sweep.dask_pool import DaskPool
from pfmon.library.sweep.sweep_cell import Answer
from pfmon.library.sweep.sweep_plan import Cell, Sweep
from pfmon.library.sweep.sweep_store import Store
from pfmon.library.sweep.worker_pool import Pool, SweepTask


class SweepProgress(NamedTuple):
    """Progress of a sweep: cells done, all cells, cells done before it began, tasks running; the current activity."""

    doing: str
    done: int
    cells: int
    before: int
    running: int


class SweepResult(NamedTuple):
    """A cell and its answer (library/sweep/sweep_cell.py)."""

    cell: Cell
    answer: Answer


def sweep(
    wanted: Sweep, store: Store, workers: int, cluster: DaskPool | None, on_progress: Callable[[SweepProgress], None]
) -> list[SweepResult]:
    """Return all cells in order. Local workers record programs; they or the cluster's count cells. PfmonError: a
    program cannot be recorded, or an answer cannot be stored."""
    with Pool(workers) as pool:
        _record(wanted, store, pool, on_progress)
        recordings = {name: store.recording(program) for name, program in wanted.programs.items()}
        taken = [_recordings(cell, recordings) for cell in wanted.cells]
        keys = [store.cell_key(cell, *of) for cell, of in zip(wanted.cells, taken, strict=True)]
        answers = {key: answer for key in keys if (answer := store.answer(key)) is not None}
        before = len([key for key in keys if key in answers])
        tasks: dict[str, SweepTask] = {}
        for cell, key, of in zip(wanted.cells, keys, taken, strict=True):
            if key not in answers:
                tasks.setdefault(key, SweepTask(key, store.cell_order(cell, *of)))

        def show_progress(running: int) -> None:
            done = sum(key in answers for key in keys)
            on_progress(SweepProgress("counting", done, len(keys), before, running))

        def take(key: str, answer: Answer) -> None:
            answers[key] = answer
            if answer["error"] is None:  # failed cells are retried by the next sweep
                store.keep(key, answer)

        (cluster or pool).run(tasks.values(), take, show_progress)
        show_progress(0)
        return [one for cell, key in zip(wanted.cells, keys, strict=True) for one in _swept(cell, answers[key])]


def _recordings(cell: Cell, recordings: Mapping[str, str]) -> tuple[str, str]:
    """Return the recordings of the program and of the one beside it ("": none)."""
    return recordings[cell.run], recordings[cell.beside] if cell.beside else ""


def _swept(cell: Cell, answer: Answer) -> list[SweepResult]:
    """Return a cell with its answer; for a pair, one for each thread's program, naming the other beside it."""
    if not cell.beside:
        return [SweepResult(cell, answer)]
    found = []
    for thread, (program, beside) in enumerate(((cell.program, cell.beside), (cell.beside, cell.program))):
        own = cell._replace(
            program=program, beside=beside, figures=(("beside", beside), ("thread", thread), *cell.figures)
        )
        of_both = {**answer, "seconds": 0.0} if thread else answer
        parts = answer.get("threads")
        found.append(SweepResult(own, {**of_both, **parts[thread]} if parts else of_both))
    return found


def _record(wanted: Sweep, store: Store, pool: Pool, on_progress: Callable[[SweepProgress], None]) -> None:
    """Record the programs without a recording."""
    orders = {name: store.recording_order(one) for name, one in wanted.programs.items() if one.command}
    missing = [SweepTask(name, order) for name, order in orders.items() if not Path(order["path"]).exists()]
    failed: list[str] = []

    def take(key: str, answer: Answer) -> None:
        if answer["error"] is not None:
            failed.append(f"{key}: {answer['error']}")

    pool.run(missing, take, lambda running: on_progress(SweepProgress("recording", 0, len(wanted.cells), 0, running)))
    if failed:
        raise PfmonError(failed[0])
