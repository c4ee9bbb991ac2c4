"""Gives the system's first program the system calls that it is to make, one at a time (program_setup.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from pfmon.engine.ia64.system.platform.guest_calls import PAGE, RETRY, CallingProcessor
from pfmon.engine.ia64.system.platform.guest_files import GuestFiles
from pfmon.engine.ia64.system.platform.program_setup import Calls, SetupAnswer, SetupCall, preparing, writing
from pfmon.engine.system_settings import PackedProgram

NO_MORE = 0
"""An answer, beside RETRY and the number of a call."""
RESULT, FAILED = 16, 17
"""General registers with what the last call has returned, and whether it failed."""
FIRST_ARGUMENT = 52


class SetupHost(Protocol):
    """The system, when it is ready for a program."""

    def is_between_calls(self) -> bool:
        """Whether no processor is in a call of firmware."""

    def ready(self) -> bool:
        """The system is ready: whether the run goes on."""


class SetupCalls:
    """``write``: writes physical memory; ``program``: its files, and its path in the system; None: there is none;
    ``is_ready``: the system comes from a snapshot; ``seed``: of the system's random numbers."""

    def __init__(
        self,
        host: SetupHost,
        write: Callable[[int, bytes], bool],
        program: tuple[GuestFiles, PackedProgram, str] | None,
        is_ready: bool,
        seed: int = 0,
    ) -> None:
        self._host, self._write, self._program = host, write, program
        self._is_ready, self._ended = is_ready, False
        self._calls = self._of_program() if is_ready else preparing(seed)
        self._begun = False
        """Whether a call of these was given, so that a request has its answer."""
        self._next: SetupCall | None = None

    def take(self, processor: CallingProcessor) -> int:
        """Answer the request for a call: its number, with its arguments in registers. SetupFailed: the system refuses
        what a program needs."""
        if self._next is None and not self._ended:
            self._advance(processor)
        if self._next is None:
            return NO_MORE if self._ended else RETRY
        if not all(self._store(processor, *one) for one in self._next.stores):
            return RETRY
        call, self._next = self._next, None
        for place, value in enumerate(call.arguments, FIRST_ARGUMENT):
            processor.set_gr(place, value & (1 << 64) - 1)
        return call.number

    def _advance(self, processor: CallingProcessor) -> None:
        """Have the next call, if there is one now."""
        try:
            if self._begun:
                self._next = self._calls.send(SetupAnswer(processor.gr(RESULT), processor.gr(FAILED) != 0))
            else:
                self._next = next(self._calls)
            self._begun = True
        except StopIteration:
            if self._is_ready:
                self._ended = True
            elif self._host.is_between_calls():
                self._become_ready(processor)

    def _become_ready(self, processor: CallingProcessor) -> None:
        self._is_ready = True
        if self._host.ready():
            self._calls, self._begun = self._of_program(), False
            self._advance(processor)
        else:
            self._ended = True

    def _of_program(self) -> Calls:
        if self._program is not None:
            yield from writing(*self._program)

    def _store(self, processor: CallingProcessor, address: int, content: bytes) -> bool:
        """Put content into the first program's memory. False: a page has no translation now."""
        for place, part in _pieces(address, content):
            physical = processor.translate(place)
            if physical is None or not self._write(physical, part):
                return False
        return True


def _pieces(address: int, content: bytes) -> Iterator[tuple[int, bytes]]:
    """Parts of a content that lie within a page each."""
    at = 0
    while at < len(content):
        length = min(len(content) - at, PAGE - (address + at) % PAGE)
        yield address + at, content[at : at + length]
        at += length
