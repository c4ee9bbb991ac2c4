"""The processes of a followed program: each has a ring, an area and a reader thread.

A new process, a child or an executed program, connects and asks for its files (follow.c) before it executes anything.
Its question carries one end of its line; the other end is open as long as the process, or a child of its without a line
yet, exists: when all processes are dead and all lines closed, no process is left.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pfmon.engine import api
from pfmon.engine.api import ExitReport, FollowRules
from pfmon.engine.qemu._qemu import PluginReader
from pfmon.engine.tasks.running_task import RunningTask, TaskEngine
from pfmon.errors import LostError
from pfmon.stream._stream import BlockTable
from pfmon.worker import Worker

QUESTION = struct.Struct("=III")
"""Kind, task and number of a child (follow.c)."""
START, CHILD, LINE = range(3)
"""Kinds of questions (follow.h, enum ask)."""
FOLLOW_FORKS, FOLLOW_EXECS = 1, 2
CREDENTIALS = struct.Struct("=iII")
"""Process, user and group at the other end of a connection."""
MAX_STOP_SECONDS = 0.1
"""Seconds before processes that do not stop are killed."""
UNKNOWN = "?"
"""Stands for an unknown command."""
WAITING = 128
"""Connections that may queue."""


class _TaskConnection(NamedTuple):
    """A connection of an asking process."""

    connection: socket.socket


class _ConnectionEnd(NamedTuple):
    """The end of the line of a process."""

    end: socket.socket


class Tasks:
    """All processes of one run. A thread answers them; `join` raises exceptions of their readers."""

    def __init__(
        self,
        follow: FollowRules,
        engine: TaskEngine,
        first: tuple[BlockTable, PluginReader],
        on_notice: Callable[[str], None],
    ) -> None:
        """``first``: table and reader of the first process, which has a thread already."""
        self._follow = follow
        self._engine = engine
        self._first = first
        self._on_notice = on_notice
        self._tasks: list[RunningTask] = []
        self._live: dict[int, RunningTask] = {}
        self._askers: set[_TaskConnection] = set()
        self._lines: set[_ConnectionEnd] = set()
        self._error: BaseException | None = None
        self._stopping = self._killing = self._first_died = False
        self._deadline: float | None = None
        self._listener: socket.socket | None = None
        self._worker: Worker | None = None
        self._woken = self._wake = -1

    # ------------------------------------------------------------ called by the guest

    def start(self) -> tuple[str, int]:
        """Start the thread before the first process; returns the name of the socket, and what is followed."""
        self._selector = selectors.DefaultSelector()
        self._woken, self._wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._selector.register(self._woken, selectors.EVENT_READ)
        name = f"pfmon-{os.urandom(16).hex()}"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(f"\0{name}")
        self._listener.listen(WAITING)
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._worker = Worker(self._serve)
        what = FOLLOW_FORKS * self._follow.forks + FOLLOW_EXECS * self._follow.execs
        return name, what

    def first_died(self) -> None:
        """The first process is dead."""
        self._first_died = True
        self._notify()

    def stop(self) -> None:
        """End all processes soon, each between two blocks if it writes a stream."""
        self._stopping = True
        self._notify()

    def kill(self) -> None:
        """End all processes at once."""
        self._killing = True
        self._notify()

    def join(self, first: ExitReport | None) -> None:
        """Wait until all processes have ended and all streams are read; raises errors of tasks. ``first``: the first
        task's ending."""
        if self._worker is not None:
            self._worker.wait()
        for task in self._tasks:
            task.join()
        if self._error is not None:
            raise self._error
        if self._tasks:
            self._follow.first_ended(self._tasks[0].task, first)

    def close(self) -> None:
        """End remaining processes, and release host resources."""
        if self._worker is not None:
            self.kill()
            self._worker.wait()
            self._worker = None
        for task in self._tasks:
            task.join()
        if self._wake >= 0:
            self._stop_listening()
            self._selector.close()
            os.close(self._woken)
            os.close(self._wake)
            self._woken = self._wake = -1
        self._tasks, self._live = [], {}  # they refer back to this

    def fail(self, error: BaseException) -> None:
        """Fail the run, without counts, because of a task's error."""
        self._error = self._error or error
        self.kill()

    def _notify(self) -> None:
        if self._wake >= 0:
            with suppress(BlockingIOError):  # it is already notified
                os.write(self._wake, b"\0")

    # ------------------------------------------------------------ the thread

    def _serve(self) -> None:
        try:
            while not self._is_over():
                wait = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
                for key, _ in self._selector.select(wait):
                    self._take(key)
                self._check_guest_end()
        except BaseException as error:  # raised by join
            self._error = self._error or error
            self._kill_all()
            for task in self._live.values():
                task.died()

    def _take(self, key: selectors.SelectorKey) -> None:
        """Handle an event of a selector."""
        if key.fd == self._woken:
            with suppress(BlockingIOError):
                os.read(self._woken, 4096)
        elif isinstance(key.data, RunningTask):
            self._died(key.data)
        elif isinstance(key.data, _TaskConnection):
            self._receive(key.data)
        elif isinstance(key.data, _ConnectionEnd):
            self._hang_up(key.data)
        else:
            self._accept()

    def _accept(self) -> bool:
        """Take a connection; False: there is none."""
        if self._listener is None:
            return False
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return False
        connection.setblocking(False)
        asker = _TaskConnection(connection)
        self._askers.add(asker)
        self._selector.register(connection, selectors.EVENT_READ, asker)
        return True

    def _receive(self, asker: _TaskConnection) -> None:
        """Receive a question, or the end of a connection. The connection ends after one question."""
        if asker not in self._askers:
            return
        try:
            said, ends, _, _ = socket.recv_fds(asker.connection, QUESTION.size, 1)
        except BlockingIOError:
            return
        except ConnectionResetError:
            said, ends = b"", []
        process, user, _ = CREDENTIALS.unpack(
            asker.connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
        )
        line = self._hold(ends[0]) if ends else None
        if len(said) == QUESTION.size and line and os.geteuid() in (0, user):
            answered = self._answer(asker, process, *QUESTION.unpack(said))
        else:
            answered = False
        self._end(asker)
        if line and not answered:
            self._hang_up(line)

    def _end(self, asker: _TaskConnection) -> None:
        """Close a connection."""
        self._askers.discard(asker)
        self._selector.unregister(asker.connection)
        asker.connection.close()

    def _hold(self, end: int) -> _ConnectionEnd:
        """Watch the end of a line."""
        os.set_inheritable(end, False)
        line = _ConnectionEnd(socket.socket(fileno=end))
        self._lines.add(line)
        self._selector.register(line.end, selectors.EVENT_READ, line)
        return line

    def _answer(self, asker: _TaskConnection, pid: int, kind: int, asking: int, number: int) -> bool:
        """Give a process its files. False: it gets none, and ends."""
        known = self._tasks[asking] if asking < len(self._tasks) else None
        if kind == LINE and known:
            return not self._killing
        if self._stopping or self._killing:
            return False
        if kind == CHILD and known:
            return self._begin(asker, pid, (*known.task.process, number), known)
        if kind == START and pid in self._live:
            return self._become(asker, pid, self._live[pid])
        return kind == START and not self._tasks and self._begin(asker, pid, (1,), None)

    def _begin(self, asker: _TaskConnection, pid: int, process: tuple[int, ...], parent: RunningTask | None) -> bool:
        """Start a task for a new process."""
        if len(self._live) >= self._follow.most:
            self.fail(
                LostError(
                    f"the program has more than {self._follow.most} processes at a time: all were ended, and there "
                    "are no counts; --follow-limit=NUMBER allows more"
                )
            )
            return False
        command = parent.task.command if parent else self._command(pid)
        table = getattr(parent, "table", None)  # its thread may have ended
        return self._add(asker, api.Task(process, 0, pid, command, parent is None or parent.task.named), 0, table)

    def _become(self, asker: _TaskConnection, pid: int, before: RunningTask) -> bool:
        """Start a task for a process that executes another program."""
        task, forks = before.task, before.reader.forks
        self._died(before)
        then = api.Task(task.process, task.image + 1, pid, self._command(pid), named=False)
        return self._add(asker, then, forks, None)

    def _add(self, asker: _TaskConnection, task: api.Task, forks: int, parent: BlockTable | None) -> bool:
        try:
            handle = os.pidfd_open(task.pid)
        except ProcessLookupError:  # it was killed at once
            return False
        number = len(self._tasks)
        reader = None if number else self._first
        added = RunningTask(self, task, self._engine, handle, parent, reader)
        added.reader.task, added.reader.forks = number, forks
        self._tasks.append(added)
        self._live[task.pid] = added
        self._selector.register(handle, selectors.EVENT_READ, added)
        if number == 0:
            self._follow.first_begins(task)
        else:
            added.begin(self._follow.watch(task, added), self._on_notice, self._follow.execs)
        with suppress(OSError):  # it is already dead
            socket.send_fds(asker.connection, [b"\0"], [added.reader.ring_file, added.reader.area_file])
        added.reader.close_files()
        return True

    def _died(self, task: RunningTask) -> None:
        """A process is dead, or executes another program."""
        if task.handle < 0:
            return
        self._selector.unregister(task.handle)
        del self._live[task.task.pid]
        task.died()

    def _hang_up(self, line: _ConnectionEnd) -> None:
        """Close a line, which kills its process."""
        if line in self._lines:
            self._lines.discard(line)
            self._selector.unregister(line.end)
            line.end.close()

    # ------------------------------------------------------------ the end

    def _is_over(self) -> bool:
        """Whether no process is left, and none can start."""
        if not (self._tasks or self._first_died) or self._live or self._lines or self._askers:
            return False
        return not self._accept()

    def _check_guest_end(self) -> None:
        """Carry out requests of other threads."""
        now = time.monotonic()
        if self._killing or (self._deadline is not None and now >= self._deadline):
            self._kill_all()
        elif self._stopping and self._deadline is None:
            self._deadline = now + MAX_STOP_SECONDS
            self._stop_listening()
            for task in self._live.values():
                task.stop()

    def _stop_listening(self) -> None:
        """Stop listening: a process that begins now gets no answer, and ends."""
        if self._listener is not None:
            self._selector.unregister(self._listener)
            self._listener.close()
            self._listener = None

    def _kill_all(self) -> None:
        self._deadline = None
        self._stop_listening()
        for task in self._live.values():
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(task.handle, signal.SIGKILL)
        for line in list(self._lines):
            self._hang_up(line)
        for asker in list(self._askers):
            self._end(asker)

    def _command(self, pid: int) -> list[str]:
        """The program that a process executes, with its arguments, as read from the process."""
        try:
            return self._engine.command(pid) or [UNKNOWN]
        except (OSError, ValueError, IndexError):  # it is dead, or has overwritten its arguments
            return [UNKNOWN]


def words_of(pid: int) -> list[bytes]:
    """The words of a process's command line. OSError: it is dead."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]
