"""A program in a host process of its own: what the engines of such programs share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from importlib import import_module
from threading import Lock, Timer
from typing import TYPE_CHECKING

from pfmon.engine.api import ExitReport, StartRequest
from pfmon.engine.qemu._qemu import PluginReader
from pfmon.engine.qemu.guest_process import GuestProcess
from pfmon.engine.qemu.qemu_targets import TARGETS
from pfmon.engine.qemu.reader.guest_stream import FAULTS, killed
from pfmon.errors import PfmonError
from pfmon.program.guest_functions import GuestFunction
from pfmon.program.mapped_files import MappedFile
from pfmon.stream._stream import BlockTable, Consumer, InstructionSet
from pfmon.worker import Worker

if TYPE_CHECKING:
    from pfmon.engine.tasks.running_task import TaskEngine
    from pfmon.engine.tasks.tasks import Tasks

FOLLOWED = 2
"""The executed program is followed (layout.h, enum executing)."""

LISTING = "pfmon.engine.qemu.describe.capstone_listing"
"""The module that lists code."""

MAX_STOP_SECONDS = 0.1
"""Seconds before a guest that does not stop is killed."""


class ProcessWatch:
    """Waits for a process's end in a thread of its own, and then calls the one that waits for it last."""

    def __init__(self, process: GuestProcess) -> None:
        self._process = process
        self._on_end: Callable[[], None] | None = None
        self._lock = Lock()
        self._status: int | None = None
        self._worker = Worker(self._wait)

    def _wait(self) -> None:
        status = self._process.wait()
        with self._lock:
            self._status = status
            if self._on_end:
                self._on_end()
            self._on_end = None

    def tell(self, on_end: Callable[[], None]) -> None:
        """Call this function at the end, and none before."""
        with self._lock:
            if self._status is None:
                self._on_end = on_end
            else:
                on_end()

    def wait(self) -> int:
        """Wait for the end; returns the exit status, or the signal as a negative number."""
        self._worker.wait()
        assert self._status is not None
        return self._status


class ProcessGuest(ABC):
    """One host process that executes the program and writes its stream into memory that `reader` reads."""

    def __init__(
        self, wanted: StartRequest, instruction_set: InstructionSet, reading: tuple[BlockTable, PluginReader]
    ) -> None:
        """Prepare the run; the process starts with `run`."""
        self._wanted = wanted
        self.instruction_set = instruction_set
        self.traced = wanted.addresses
        self.table, self._reader = reading
        if wanted.listing:
            import_module(LISTING)
        self._process: GuestProcess | None = None
        self._watch: ProcessWatch | None = None
        self._status = 0
        self._stopping = False
        self._killer: Timer | None = None
        self._tasks: Tasks | None = None

    def _follow(self, engine: TaskEngine) -> None:
        """Follow what the program starts."""
        from pfmon.engine.tasks.tasks import Tasks

        assert self._wanted.follow
        self._tasks = Tasks(self._wanted.follow, engine, (self.table, self._reader), self._wanted.on_notice)

    @property
    def retired(self) -> int:
        """Instructions retired so far."""
        return self._reader.retired

    @property
    def ip(self) -> int:
        """The address of the last block read; after a fatal fault, that of the faulting instruction."""
        return self._reader.ip or self._wanted.program.entry

    @property
    def mapped(self) -> Sequence[MappedFile]:
        """The files that the program has mapped executable so far."""
        return self._reader.files

    @property
    def functions(self) -> Sequence[GuestFunction]:
        """The Python functions that were called so far."""
        return self._reader.functions

    by: str
    """The name of what executes the program, in messages."""
    threads: Sequence[tuple[int, int]] = ()
    """Not reported."""

    def set_monitoring(self, on: bool, locked: bool) -> None:
        """PfmonError when the program is to read counters: no PMU is emulated."""
        if not locked:
            raise PfmonError(f"--insecure: a program under {self.by} has no counters to read")

    @abstractmethod
    def _check(self) -> None:
        """PfmonError: the counts are not those of the program. Also prints what was not counted."""

    def _finish(self, consumer: Consumer) -> ExitReport | None:
        """Give the consumer the rest of the stream, and return how the ended process ended."""
        killed_by = max(0, -self._status)
        ending = None if self._stopping else self._ending(killed_by)
        faulted = killed_by in FAULTS
        self._reader.finish(consumer, faulted, killed_by, None if ending is None else ending.status)
        self._check()
        return ending if ending is None or not faulted else ending._replace(where=self._where())

    def _end(self, consumer: Consumer) -> ExitReport | None:
        """Return how the program ended, when all that is followed has ended. A process that executed another program
        ends as that one."""
        if self._tasks and self._reader.executing == FOLLOWED:
            self._reader.finish(consumer, False, 0, None)
            self._is_counted(False)
            self._tasks.join(None)
            return None if self._stopping else self._ending(max(0, -self._status))
        ending = self._finish(consumer)
        self._is_counted(True)
        if self._tasks:
            self._tasks.join(ending)
        return ending

    def _is_counted(self, ended: bool) -> None:  # noqa: B027  # engines without a PMU need not
        """The first process has ``ended``, or executes another program, and its stream is read."""

    def _ending(self, killed_by: int) -> ExitReport:
        return killed(killed_by) if killed_by else ExitReport(self._status)

    def _read(self, consumer: Consumer, process: GuestProcess) -> None:
        """Read the stream until the process has ended."""
        watch = self._watch = self._watch or ProcessWatch(process)
        watch.tell(self._died)
        try:
            self._reader.read(consumer)
            if self._reader.damaged:
                self._kill()
        except BaseException:
            self._kill()
            raise
        finally:
            if not self._is_waiting:
                self._status = watch.wait()

    def _died(self) -> None:
        """Wake the reader: the process has ended."""
        self._reader.guest_died()
        if self._tasks:
            self._tasks.first_died()

    def _tell_executed(self) -> None:
        """Say that the program continues uncounted, as another one."""
        if self._wanted.follow is None:
            self._wanted.on_notice("the program executed another one, which was not counted")
            return
        from pfmon.engine.tasks.running_task import native

        self._wanted.on_notice(native("the program", self._reader, self._wanted.follow.execs))

    @property
    def _is_waiting(self) -> bool:
        """Whether the process waits for another reader, which counts what it executes."""
        return self._wanted.anew and not self._stopping and not self._reader.damaged and self._reader.waits_for_reader

    def _end_the_rest(self, process: GuestProcess) -> None:
        """End remaining descendants of the program."""
        ended = process.end()
        if ended:
            when = "when the run was stopped" if self._stopping else "at the program's end"
            rest = "1 process" if ended == 1 else f"{ended} processes"
            self._wanted.on_notice(
                f"killed {when}: {rest} that it had started; --detach-children leaves such processes running"
            )

    def _where(self) -> str:
        """``0x401136 (main+0x10)``; empty where it is unknown: totals have no order of blocks."""
        if not self._reader.ip:
            return ""
        from pfmon.program.loaded_objects import LoadedObjects, place_of

        place = place_of(LoadedObjects(self._wanted.program, lambda: self.mapped), self.ip)
        return f"{self.ip:#x} ({place})" if place else f"{self.ip:#x}"

    def stop(self) -> None:
        """End the guest: ``run`` returns None soon. From any thread, or from a signal handler. The guest ends between
        two blocks, so that counted instructions are those retired, unless it writes no stream for a while, such as in a
        wait."""
        self._stopping = True
        self._reader.request_stop()
        if self._process and self._killer is None:
            killer = Timer(MAX_STOP_SECONDS, self._kill)
            killer.daemon = True
            killer.start()
            self._killer = killer
        if tasks := self._tasks:
            tasks.stop()

    def _kill(self) -> None:
        if tasks := self._tasks:  # another thread may close this
            tasks.kill()
        if self._process:
            self._process.kill()

    def listing(self, first: int, beyond: int) -> list[tuple[int, str]]:
        """Address and text of the executed instructions in a range of code."""
        from pfmon.engine.qemu.describe.capstone_listing import listing

        return listing(self.table, TARGETS[self.instruction_set], first, beyond)

    def close(self) -> None:
        """End the guest if it still runs, and break reference cycles, so that memory is freed at once."""
        if self._process is not None:
            self._process.close()
        self._wanted = self._wanted._replace(on_notice=_nobody, follow=None)
        if self._killer is not None:
            self._killer.cancel()
        if self._tasks:
            self._tasks.close()
            self._tasks = None


def _nobody(_: str) -> None:
    pass
