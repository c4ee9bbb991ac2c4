"""The processors of a system whose tasks are watched: each stops where it changes its task (mov to ar.k6)."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.engine.ia64.system.logical_processor import LogicalProcessor
from pfmon.engine.ia64.system.tasks.task_switches import TaskSwitches
from pfmon.stream._stream import Consumer, Mark

PSR_PP = 1 << 21
CURRENT = 6
"""The kernel register with the address of the current task."""


class WatchedTasks:
    """``keeps_pp``: PSR.pp says whether a handler runs. Linux switches tasks without it; each task gets its own."""

    def __init__(self, switches: TaskSwitches, processors: Sequence[LogicalProcessor], *, keeps_pp: bool) -> None:
        self.switches = switches
        self._keeps_pp = keeps_pp
        self._running: dict[int, int] = {}
        for one in processors:
            one.processor.watch_tasks()

    def switch(self, processor: LogicalProcessor, consumer: Consumer) -> None:
        """The next instruction of a processor changes its task, unless it is interrupted first."""
        own = processor.processor
        if own.interrupt_due:
            return
        task = own.pmu_access[2]
        value = self.switches.switch(processor.number, task)
        own.emit_mark(consumer, Mark.TASK, value)
        self._change_pp(processor, task)
        own.answer_pmd(0)

    def resume(self, processors: Sequence[LogicalProcessor]) -> None:
        """The processors go on from a snapshot, in the tasks that ar.k6 says."""
        for one in processors:
            self._running[one.number] = task = one.processor.kr(CURRENT)
            self.switches.resume(one.number, task)

    def mark(self, processor: LogicalProcessor, consumer: Consumer) -> None:
        """Put the task that a processor executes into the stream."""
        processor.processor.emit_mark(consumer, Mark.TASK, self.switches.value(processor.number))

    def _change_pp(self, processor: LogicalProcessor, task: int) -> None:
        """PSR.pp goes with the task, as if the kernel switched it."""
        if not self._keeps_pp:
            return
        own, handling = processor.processor, self.switches.handling
        before = self._running.get(processor.number)
        if before is not None:
            (handling.add if own.psr & PSR_PP else handling.discard)(before)
        self._running[processor.number] = task
        own.set_psr(own.psr & ~PSR_PP | PSR_PP * (task in handling))
