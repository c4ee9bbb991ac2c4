"""Workers of a Dask cluster. Dask reassigns the tasks of a worker that died."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from pfmon.errors import PfmonError
from pfmon.library.sweep.sweep_cell import Answer, execute_order
from pfmon.library.sweep.worker_pool import TRIES, SweepTask

MAX_CONNECT_SECONDS = 10
"""Timeout in seconds for the scheduler's answer."""


class DaskPool:
    """The workers of a scheduler. PfmonError: Dask is not installed, or the scheduler does not answer."""

    def __init__(self, address: str) -> None:
        try:
            self._dask: Any = import_module("distributed")
        except ImportError:
            raise PfmonError(
                "--scheduler needs dask.distributed, which is not installed: pip install 'pfmon[dask]'"
            ) from None
        try:
            self._client: Any = self._dask.Client(address, timeout=MAX_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            reason = " ".join(str(error).split()) or "no answer"
            raise PfmonError(f"--scheduler={address}: {reason}") from None

    def run(
        self, tasks: Iterable[SweepTask], on_answer: Callable[[str, Answer], None], on_tick: Callable[[int], None]
    ) -> None:
        """Run tasks as Pool.run does; files that workers cannot read are sent to them once."""
        given = list(tasks)
        sent = self._sent({path for task in given for path in _paths(task) if path})
        futures = {
            self._client.submit(
                execute_order, task.order, *map(sent.get, _paths(task)), pure=False, retries=TRIES
            ): task
            for task in given
        }
        left = len(futures)
        on_tick(left)
        for future in self._dask.as_completed(futures, loop=self._client.loop):
            left -= 1
            on_answer(futures[future].key, self._answer(future))
            on_tick(left)

    def _sent(self, paths: set[str]) -> dict[str, Any]:
        """Scatter the contents of files that some worker cannot read; return them by path."""
        sizes = {path: Path(path).stat().st_size for path in paths}
        seen = self._client.run(_sizes, sorted(paths))
        hidden = [path for path in paths if any(there[path] != sizes[path] for there in seen.values())]
        return {path: self._client.scatter(Path(path).read_bytes(), broadcast=True, hash=False) for path in hidden}

    def _answer(self, future: Any) -> Answer:
        """Return the answer to an order, or an error if too many workers died of it or the scheduler disappeared."""
        if future.cancelled():
            return {"error": "the scheduler has dropped it", "seconds": 0.0}
        error = future.exception()
        if error is None:
            found: Answer = future.result()
            return found
        return {"error": f"{type(error).__name__}: {' '.join(str(error).split())}", "seconds": 0.0}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()


def _paths(task: SweepTask) -> tuple[str, str]:
    """Return the recordings that a task reads."""
    return str(task.order["path"]), str(task.order.get("beside", ""))


def _sizes(paths: list[str]) -> dict[str, int]:
    """Return the sizes of files on a worker; -1: not readable there."""
    found = {}
    for path in paths:
        try:
            found[path] = Path(path).stat().st_size
        except OSError:
            found[path] = -1
    return found
