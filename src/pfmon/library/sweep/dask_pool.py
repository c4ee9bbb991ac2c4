"""Workers of a Dask cluster. Dask gives what a worker that died was doing to another one."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from pfmon.errors import PfmonError
from pfmon.library.sweep.cell import obey
from pfmon.library.sweep.pool import TRIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Self

    from pfmon.library.sweep.cell import Answer
    from pfmon.library.sweep.pool import Task

PATIENCE = 10
"""Seconds until there must be an answer from the scheduler."""


class DaskPool:
    """The workers behind a scheduler. PfmonError: there is no Dask, or no scheduler."""

    def __init__(self, address: str) -> None:
        try:
            self._dask: Any = import_module("distributed")
        except ImportError:
            raise PfmonError(
                "--scheduler needs dask.distributed, which is not installed: pip install 'pfmon[dask]'"
            ) from None
        try:
            self._client: Any = self._dask.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            reason = " ".join(str(error).split()) or "no answer"
            raise PfmonError(f"--scheduler={address}: {reason}") from None

    def run(
        self, tasks: Iterable[Task], on_answer: Callable[[str, Answer], None], on_tick: Callable[[int], None]
    ) -> None:
        """As Pool.run; what cannot be seen from the workers is sent to them, once each."""
        given = list(tasks)
        sent = self._sent({path for task in given for path in _paths(task) if path})
        futures = {
            self._client.submit(obey, task.order, *map(sent.get, _paths(task)), pure=False, retries=TRIES): task
            for task in given
        }
        left = len(futures)
        on_tick(left)
        for future in self._dask.as_completed(futures, loop=self._client.loop):
            left -= 1
            on_answer(futures[future].key, self._answer(future))
            on_tick(left)

    def _sent(self, paths: set[str]) -> dict[str, Any]:
        """The contents of files that some worker cannot see, by path, on the cluster."""
        sizes = {path: Path(path).stat().st_size for path in paths}
        seen = self._client.run(_sizes, sorted(paths))
        hidden = [path for path in paths if any(there[path] != sizes[path] for there in seen.values())]
        return {path: self._client.scatter(Path(path).read_bytes(), broadcast=True, hash=False) for path in hidden}

    def _answer(self, future: Any) -> Answer:
        """What came of an order; why nothing did, if too many workers died of it or the scheduler went away."""
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


def _paths(task: Task) -> tuple[str, str]:
    """The recordings that it takes."""
    return str(task.order["path"]), str(task.order.get("beside", ""))


def _sizes(paths: list[str]) -> dict[str, int]:
    """How long files are, as a worker sees them; -1: it does not."""
    found = {}
    for path in paths:
        try:
            found[path] = Path(path).stat().st_size
        except OSError:
            found[path] = -1
    return found
