"""Requests of the system's first program (init.S): the program's output and input, its end, files that it leaves.

A guest is hostile: any of its programs can make them. They reach the program's standard files and the files that the
user named, and no others; every address and length is checked.
"""

from __future__ import annotations

import os
import select
import signal
import stat
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from pfmon.atomic_write import WholeFile
from pfmon.engine.api import ExitReport
from pfmon.errors import reason

if TYPE_CHECKING:
    from pfmon.engine.ia64.system.platform.setup_calls import SetupCalls

BREAK = 0x1F50A4
"""Honoured at level 3; beside those of the firmware (pal_entry.py)."""
RETRY, NOTHING_YET, NOBODY_READS, INVALID = -1, -2, -3, -4
TAKE_OUTPUT, GIVE_INPUT, CANNOT_START, ENDED, TAKE_FILE, FILE_ENDED, BEGINS, PROGRAM_ENDED = range(1, 9)
NEXT_CALL = 9
PAGE = 4096
"""A buffer lies within one such page."""
USER_REGIONS = 5
"""Regions of programs; those of the kernel are above."""
NOT_EXECUTED = 126
SIGNAL = 0x7F
MOST_ERRORS = 4095
"""Of error numbers (Linux, MAX_ERRNO)."""


class CallingProcessor(Protocol):
    """The registers and translations of the processor that executed the break."""

    def gr(self, number: int) -> int: ...

    def set_gr(self, number: int, value: int) -> None: ...

    def translate(self, address: int) -> int | None: ...


class GuestMemory(Protocol):
    """Physical memory."""

    def read(self, address: int, length: int) -> bytes | None:
        """Bytes; None: there is no memory at one of them."""

    def write(self, address: int, content: bytes) -> bool:
        """Write bytes; False: there is no memory at one of them."""


class GuestCalls:
    """Answers the requests. ``files``: the host's descriptors of the program's standard files; ``outputs``: host's
    paths of the files to be handed over; ``end``: ends the run; ``on_program``: called when the program begins (True)
    and has ended."""

    def __init__(
        self,
        memory: GuestMemory,
        files: tuple[int, int, int],
        outputs: Sequence[str],
        end: Callable[[ExitReport], None],
        on_program: Callable[[bool], None],
        on_notice: Callable[[str], None],
    ) -> None:
        self._memory, self._files, self._outputs = memory, files, outputs
        self._end, self._on_notice, self._on_program = end, on_notice, on_program
        self._begun = False
        self._taken: dict[int, WholeFile] = {}
        self._failed: set[int] = set()
        self.awaits_input = False
        """Input was asked for, and there was none yet."""
        self.setup: SetupCalls | None = None
        """The first program's system calls before it starts the program; None: there are none."""

    def take(self, processor: CallingProcessor) -> None:
        """Answer a request."""
        answer = REQUESTS.get(processor.gr(15), _unknown)(self, processor)
        processor.set_gr(8, answer & (1 << 64) - 1)

    def abandon(self) -> None:
        """The run has ended: files that are not whole are none."""
        for whole in self._taken.values():
            whole.abandon()
        self._taken.clear()

    def wait(self, seconds: float) -> None:
        """Wait until there is input, if it was asked for, so long at most."""
        if self.awaits_input:
            select.select([self._files[0]], [], [], seconds)

    def take_output(self, processor: CallingProcessor) -> int:
        """Write a part of the program's standard output or error. Return its length."""
        number, address, length = (processor.gr(place) for place in (16, 17, 18))
        if number not in (1, 2):
            return INVALID
        content = self._read(processor, address, length)
        if isinstance(content, int):
            return content
        left = memoryview(content)
        try:
            while left:
                left = left[os.write(self._files[number], left) :]
        except OSError:
            return NOBODY_READS
        return length

    def give_input(self, processor: CallingProcessor) -> int:
        """Give a part of the program's standard input; 0: it has ended."""
        address, length = processor.gr(16), processor.gr(17)
        place = _place(processor, address, length)
        if place < 0:
            return place
        source = self._files[0]
        try:
            self.awaits_input = not _is_ready(source)
            if self.awaits_input:
                return NOTHING_YET
            content = os.read(source, length)
        except BlockingIOError:
            return NOTHING_YET
        except OSError:
            return 0
        return len(content) if self._memory.write(place, content) else INVALID

    def cannot_start(self, processor: CallingProcessor) -> int:
        """The program cannot be executed, with an error number."""
        text = f"the system cannot execute the program: {_error(processor.gr(16))}"
        self._on_notice(text)
        self._end(ExitReport(NOT_EXECUTED, 0, text))
        return 0

    def begins(self, processor: CallingProcessor) -> int:
        """The task is about to execute the program; only the first one can."""
        if not self._begun:
            self._begun = True
            self._on_program(True)
        return 0

    def program_ended(self, processor: CallingProcessor) -> int:
        """The program has ended; what is to be handed over comes then."""
        if self._begun:
            self._on_program(False)
        return 0

    def ended(self, processor: CallingProcessor) -> int:
        """The program has ended, with a status of wait4(2): the run ends."""
        status = processor.gr(16)
        number = status & SIGNAL
        if number:
            self._end(ExitReport(128 + number, number, signal.strsignal(number) or f"signal {number}"))
        else:
            self._end(ExitReport(status >> 8 & 0xFF))
        return 0

    def take_file(self, processor: CallingProcessor) -> int:
        """Write a part of a file. Return its length."""
        number, address, length = (processor.gr(place) for place in (16, 17, 18))
        if number >= len(self._outputs):
            return INVALID
        content = self._read(processor, address, length)
        if isinstance(content, int):
            return content
        if number not in self._failed:
            try:
                self._file(number).file.write(content)
            except OSError as error:
                self._fail(number, reason(error))
        return length

    def file_ended(self, processor: CallingProcessor) -> int:
        """A file is whole, or the system could not read it, with an error number."""
        number, error = processor.gr(16), processor.gr(17)
        if number >= len(self._outputs):
            return INVALID
        if error:
            self._fail(number, f"in the system: {_error(error)}")
        elif number not in self._failed:
            try:
                self._file(number).finish()
                self._taken.pop(number)
            except OSError as problem:
                self._fail(number, reason(problem))
        return 0

    def next_call(self, processor: CallingProcessor) -> int:
        """The next system call that the first program is to make; 0: there is none."""
        return self.setup.take(processor) if self.setup else 0

    def _file(self, number: int) -> WholeFile:
        if number not in self._taken:
            self._taken[number] = WholeFile(self._outputs[number])
        return self._taken[number]

    def _fail(self, number: int, why: str) -> None:
        self._failed.add(number)
        whole = self._taken.pop(number, None)
        if whole:
            whole.abandon()
        self._on_notice(f"--guest-output: {self._outputs[number]} is not written: {why}")

    def _read(self, processor: CallingProcessor, address: int, length: int) -> bytes | int:
        place = _place(processor, address, length)
        if place < 0:
            return place
        content = self._memory.read(place, length)
        return INVALID if content is None else content


def _place(processor: CallingProcessor, address: int, length: int) -> int:
    """The physical address of a buffer, RETRY without a translation, or INVALID."""
    if address >> 61 >= USER_REGIONS or not 0 < length <= PAGE or address % PAGE + length > PAGE:
        return INVALID
    found = processor.translate(address)
    return RETRY if found is None else found


def _is_ready(descriptor: int) -> bool:
    """Whether reading would not wait. A file never waits, and a pipe's end is read at once."""
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return True
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def _error(number: int) -> str:
    return os.strerror(number) if 0 < number <= MOST_ERRORS else f"error {number}"


def _unknown(_: GuestCalls, __: CallingProcessor) -> int:
    return INVALID


REQUESTS: dict[int, Callable[[GuestCalls, CallingProcessor], int]] = {
    TAKE_OUTPUT: GuestCalls.take_output,
    GIVE_INPUT: GuestCalls.give_input,
    CANNOT_START: GuestCalls.cannot_start,
    ENDED: GuestCalls.ended,
    TAKE_FILE: GuestCalls.take_file,
    FILE_ENDED: GuestCalls.file_ended,
    BEGINS: GuestCalls.begins,
    PROGRAM_ENDED: GuestCalls.program_ended,
    NEXT_CALL: GuestCalls.next_call,
}
"""By number."""
