"""The processors of a system whose tasks are watched: each stops where it changes its task (mov to ar.k6)."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.engine.ia64._ia64 import SystemProcessor
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
        for one in processors:
            one.processor.watch_tasks()

    def switch(self, processor: LogicalProcessor, consumer: Consumer) -> None:
        """The next instruction of a processor changes its task, unless it is interrupted first."""
        own = processor.processor
        if own.interrupt_due:
            return
        task = own.pmu_access[2]
        before = self.switches.current_task(processor.number)
        value = self.switches.switch(processor.number, task)
        own.emit_mark(consumer, Mark.TASK, value)
        self._change_pp(own, before, task)
        own.answer_pmd(0)

    def resume(self, processors: Sequence[LogicalProcessor]) -> None:
        """The processors go on from a snapshot, in the tasks that ar.k6 says."""
        for one in processors:
            self.switches.resume(one.number, one.processor.kr(CURRENT))

    def mark(self, processor: LogicalProcessor, consumer: Consumer) -> None:
        """Put the task that a processor executes into the stream."""
        processor.processor.emit_mark(consumer, Mark.TASK, self.switches.value(processor.number))

    def _change_pp(self, processor: SystemProcessor, before: int | None, task: int) -> None:
        """PSR.pp goes with the task, as if the kernel switched it."""
        if not self._keeps_pp:
            return
        handling = self.switches.handling
        if before is not None:
            (handling.add if processor.psr & PSR_PP else handling.discard)(before)
        processor.set_psr(processor.psr & ~PSR_PP | PSR_PP * (task in handling))
