"""One task of a followed program, and the thread that reads its stream."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pfmon.engine import api
from pfmon.engine.api import Capabilities, ExitReport, TaskReader
from pfmon.engine.guest_pmu import PerformanceData
from pfmon.engine.qemu._qemu import PluginReader
from pfmon.engine.qemu.qemu_targets import TARGETS
from pfmon.engine.qemu.reader.guest_stream import FAULTS, killed
from pfmon.errors import LostError
from pfmon.program.guest_functions import GuestFunction
from pfmon.program.mapped_files import MappedFile
from pfmon.stream._stream import BlockTable, Consumer, InstructionSet
from pfmon.worker import Worker

if TYPE_CHECKING:

    class TaskFamily(Protocol):
        """The tasks of a run."""

        def fail(self, error: BaseException) -> None:
            """Fail the run because of a task's error."""


class TaskEngine(NamedTuple):
    """The engine that executes the tasks of a run.

    ``traced``: their streams have the addresses of accesses; ``reading`` makes a task's table and reader, from these
    two and its parent's table; ``command``: the program that a process executes, with its arguments; ``trouble``: why a
    stream is not complete (empty: it is); ``killed_by``: the signal that killed a task.
    """

    instruction_set: InstructionSet
    traced: bool
    reading: Callable[[InstructionSet, bool, BlockTable | None], tuple[BlockTable, PluginReader]]
    command: Callable[[int], list[str]]
    trouble: Callable[[PluginReader], str]
    killed_by: Callable[[PluginReader], int]


class RunningTask:
    """A running engine: another one began its process."""

    capabilities = Capabilities(addresses=True, performance_data=False, apart=True, follows=True)

    def __init__(
        self,
        family: TaskFamily,
        task: api.Task,
        engine: TaskEngine,
        handle: int,
        parent: BlockTable | None,
        reader: tuple[BlockTable, PluginReader] | None,
    ) -> None:
        """``handle``: of the process; ``parent``: the parent task's table; ``reader``: a table and a reader with a
        thread already, None: this creates its own."""
        self._family = family
        self.task = task
        self._engine = engine
        self.instruction_set = engine.instruction_set
        self.traced = engine.traced
        self.handle = handle
        self._closing = Lock()
        self.table: BlockTable
        self.reader: PluginReader
        self.table, self.reader = reader or engine.reading(engine.instruction_set, engine.traced, parent)
        self._worker: Worker | None = None

    @property
    def retired(self) -> int:
        """Instructions retired so far."""
        return self.reader.retired

    @property
    def ip(self) -> int:
        """The address of the last block read."""
        return self.reader.ip

    @property
    def mapped(self) -> Sequence[MappedFile]:
        """The files that the program has mapped executable so far."""
        return self.reader.files

    functions: Sequence[GuestFunction] = ()
    threads: Sequence[tuple[int, int]] = ()
    """Not reported."""

    def set_monitoring(self, on: bool, locked: bool) -> None:
        """No effect: the program finds no PMU."""

    def run(self, consumer: Consumer, performance_data: PerformanceData | None = None) -> ExitReport | None:
        """Not supported: it already runs."""
        raise ValueError("a task runs as it is followed")

    def stop(self) -> None:
        """End it between two blocks."""
        if reader := getattr(self, "reader", None):  # its thread may have ended with an error
            reader.request_stop()

    def listing(self, first: int, beyond: int) -> list[tuple[int, str]]:
        """Address and text of the executed instructions in a range of code."""
        from pfmon.engine.qemu.describe.capstone_listing import listing

        return listing(self.table, TARGETS[self.instruction_set], first, beyond)

    def close(self) -> None:
        """No effect: `Tasks` ends it."""

    def begin(self, watch: TaskReader, on_notice: Callable[[str], None], execs: bool) -> None:
        """Start a thread that reads its stream. ``execs``: executed programs are followed. MemoryError."""
        self._worker = Worker(partial(self._read, watch, on_notice, execs))

    @property
    def is_dead(self) -> bool:
        """Whether the process is dead, or executes another program. Any thread may ask."""
        with self._closing:
            if self.handle < 0:
                return True
            ends = select.poll()
            ends.register(self.handle, select.POLLIN)
            return bool(ends.poll(0))

    def died(self) -> None:
        """The process is dead, or executes another program."""
        with self._closing:
            if self.handle >= 0:
                os.close(self.handle)
                self.handle = -1
        if reader := getattr(self, "reader", None):  # as above
            reader.guest_died()

    def join(self) -> None:
        """Wait until the stream is read to its end."""
        if self._worker is not None:
            self._worker.wait()
            self._worker = None

    def _read(self, watch: TaskReader, on_notice: Callable[[str], None], execs: bool) -> None:
        try:
            with watch.running:
                self.reader.read(watch.consumer)
                if self.reader.damaged:
                    raise LostError(f"{self._shown}: cannot be counted: {self._engine.trouble(self.reader)}")
                ending = self._ending()
                faulted = ending is not None and ending.signal in FAULTS
                status = ending.status if ending else None
                self.reader.finish(watch.consumer, faulted, ending.signal if ending else 0, status)
            if why := self._engine.trouble(self.reader):
                raise LostError(f"{self._shown}: cannot be counted: {why}")
            if self.reader.executing == 1:
                on_notice(self._notice(execs))
            watch.ended(ending, self.reader.retired)
        except BaseException as error:  # raised by Tasks.join
            self._family.fail(error)
        finally:
            del self.table, self.reader  # frees memory: many tasks may follow

    def _ending(self) -> ExitReport | None:
        """How the program ended: by its exit status, or by a signal."""
        if self.reader.executing:
            return None
        if self.reader.exit_status is not None:
            return ExitReport(self.reader.exit_status)
        return killed(self._engine.killed_by(self.reader))

    @property
    def _shown(self) -> str:
        return f"task {self.task.name} ({self.task.command[0]})"

    def _notice(self, execs: bool) -> str:
        return native(self._shown, self.reader, execs)


def native(who: str, reader: PluginReader, execs: bool) -> str:
    """The message about a program that continues uncounted."""
    if not execs:
        return f"{who} executed another program, which was not counted; --follow-exec counts it"
    return f"{who} executed {os.fsdecode(reader.executed)}, which cannot be followed and was not counted"
