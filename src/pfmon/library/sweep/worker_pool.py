"""Local worker processes. The task of a worker that dies is given to another."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Self

from pfmon.library.sweep.sweep_cell import Answer, Order

TRIES = 3
"""Maximum number of workers that may die of one order."""


class SweepTask(NamedTuple):
    """An order and the key of its answer."""

    key: str
    order: Order


class _Worker:
    """A worker process and its current task."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pfmon.library.sweep.sweep_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        self.task: SweepTask | None = None
        self._read = b""

    def send(self, task: SweepTask) -> None:
        """Send a task. BrokenPipeError: the worker is dead."""
        self.task = task
        assert self.process.stdin
        self.process.stdin.write(json.dumps(task.order).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Answer | None:
        """Return its answer; None: it is dead, or the answer is incomplete (`task` is None then)."""
        assert self.process.stdout
        piece = os.read(self.process.stdout.fileno(), 1 << 16)
        self._read += piece
        if not self._read.endswith(b"\n"):
            return None
        found: Answer = json.loads(self._read)
        self._read = b""
        return found if piece else None

    @property
    def dead(self) -> bool:
        """Whether the process has ended."""
        return self.process.poll() is not None

    def end(self) -> None:
        """End the worker."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue


class Pool:
    """A fixed number of workers."""

    def __init__(self, workers: int) -> None:
        self._count = workers
        self._workers: list[_Worker] = []
        self._ready = selectors.DefaultSelector()

    def run(
        self, tasks: Iterable[SweepTask], on_answer: Callable[[str, Answer], None], on_tick: Callable[[int], None]
    ) -> None:
        """Run all tasks; call ``on_answer`` with each task's key and answer, in any order, and ``on_tick`` at intervals
        with the number of running tasks."""
        waiting = deque(tasks)
        deaths: dict[str, int] = {}
        while len(self._workers) < min(self._count, len(waiting)):
            self._start_worker()
        while waiting or any(worker.task for worker in self._workers):
            for worker in self._workers:
                if worker.task is None and waiting:
                    self._give(worker, waiting.popleft())
            on_tick(sum(worker.task is not None for worker in self._workers))
            for key, _ in self._ready.select(timeout=0.5):
                self._receive(key.data, waiting, deaths, on_answer)

    def _give(self, worker: _Worker, task: SweepTask) -> None:
        try:
            worker.send(task)
        except BrokenPipeError:
            return  # its end is heard

    def _receive(
        self,
        worker: _Worker,
        waiting: deque[SweepTask],
        deaths: dict[str, int],
        on_answer: Callable[[str, Answer], None],
    ) -> None:
        task, answer = worker.task, worker.receive()
        if answer is not None and task:
            worker.task = None
            on_answer(task.key, answer)
        elif answer is None and _has_ended(worker):
            self._replace(worker)
            if task is None:
                return
            deaths[task.key] = deaths.get(task.key, 0) + 1
            if deaths[task.key] < TRIES:
                waiting.append(task)
            else:
                on_answer(task.key, {"error": f"{TRIES} workers died of it", "seconds": 0.0})

    def _start_worker(self) -> None:
        worker = _Worker()
        self._workers.append(worker)
        assert worker.process.stdout
        self._ready.register(worker.process.stdout, selectors.EVENT_READ, worker)

    def _replace(self, worker: _Worker) -> None:
        assert worker.process.stdout
        self._ready.unregister(worker.process.stdout)
        self._workers.remove(worker)
        worker.end()
        self._start_worker()

    @property
    def processes(self) -> Sequence[int]:
        """The workers' process ids."""
        return [worker.process.pid for worker in self._workers]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()
        self._ready.close()


def _has_ended(worker: _Worker) -> bool:
    """Return whether the worker's pipe has ended: reading returned no answer."""
    try:
        worker.process.wait(0.2)
    except subprocess.TimeoutExpired:
        return False
    return True
