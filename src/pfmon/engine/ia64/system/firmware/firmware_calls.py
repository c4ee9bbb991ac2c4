"""Calls of SAL and of EFI's runtime services: they come from their entry points by two reserved breaks (services.S).

A procedure is a generator. It yields each access that it makes to its caller's memory, which the entry point does by
the caller's own translations, and returns its results.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple, Protocol

BEGIN_BREAK, GO_ON_BREAK = 0x1F50A2, 0x1F50A3
"""Immediates beside those of PAL's stubs (pal_entry.py)."""
ENDED, STORE_BYTE, LOAD_BYTE, STORE_WORD, LOAD_WORD = range(5)
WORD = 8
ENTRY_BYTES, ENTRIES = 16, 15
"""The entry points: SAL_PROC, and the runtime services in the order of their table."""
START = ENTRIES * ENTRY_BYTES
"""Offset of the code that enters a kernel, behind the entry points."""
FIRST_ARGUMENT, ARGUMENTS = 32, 8
SIZE_OF_FRAME = 0x7F
ALL_ONES = (1 << 64) - 1


def code() -> bytes:
    """The code of the entry points, which may be anywhere."""
    return files(__package__).joinpath("services.bin").read_bytes()


class Access(NamedTuple):
    """An access to the caller's memory: of a byte, or of eight at a multiple of eight. It yields what is loaded."""

    how: int
    address: int
    value: int = 0


Results = tuple[int, ...]
"""GR8 to GR11; those that are left out are 0."""
Procedure = Generator[Access, int, Results]
Steps = Generator[Access, int, None]
Arguments = Sequence[int]
"""GR32 to GR39, of which those outside of the caller's frame are 0."""


class CalledProcessor(Protocol):
    """The registers of a processor."""

    @property
    def cfm(self) -> int: ...

    def gr(self, number: int) -> int: ...

    def set_gr(self, number: int, value: int) -> None: ...


def load(address: int, length: int) -> Generator[Access, int, bytes]:
    """Load bytes."""
    content, end = bytearray(), address + length
    while address < end:
        if address % WORD == 0 and end - address >= WORD:
            content += (yield Access(LOAD_WORD, address)).to_bytes(WORD, "little")
            address += WORD
        else:
            content.append((yield Access(LOAD_BYTE, address)) & 0xFF)
            address += 1
    return bytes(content)


def store(address: int, content: bytes) -> Steps:
    """Store bytes."""
    at = 0
    while at < len(content):
        if (address + at) % WORD == 0 and len(content) - at >= WORD:
            yield Access(STORE_WORD, address + at, int.from_bytes(content[at : at + WORD], "little"))
            at += WORD
        else:
            yield Access(STORE_BYTE, address + at, content[at])
            at += 1


class FirmwareCalls:
    """The calls of one processor. ``procedures``: by the number of their entry point."""

    def __init__(self, processor: CalledProcessor, procedures: Mapping[int, Callable[[Arguments], Procedure]]) -> None:
        self._processor = processor
        self._procedures = procedures
        self._running: Procedure | None = None

    def take(self, immediate: int) -> None:
        """Answer a break: a procedure begins, or the access that it asked for has been made."""
        processor = self._processor
        if immediate == BEGIN_BREAK:
            procedure = self._procedures.get(processor.gr(2))
            self._running = procedure(self._arguments()) if procedure else None
            self._go_on(None)
        else:
            self._go_on(processor.gr(2))

    @property
    def is_between_calls(self) -> bool:
        """Whether no procedure is at work."""
        return self._running is None

    def _go_on(self, loaded: int | None) -> None:
        processor = self._processor
        if self._running is None:  # code that is no caller of the entry points
            processor.set_gr(14, ENDED)
            return
        try:
            access = next(self._running) if loaded is None else self._running.send(loaded)
        except StopIteration as ended:
            self._running = None
            processor.set_gr(14, ENDED)
            for number, value in enumerate((*ended.value, 0, 0, 0, 0)[:4], 8):
                processor.set_gr(number, value & ALL_ONES)
            return
        processor.set_gr(14, access.how)
        processor.set_gr(3, access.address & ALL_ONES)
        processor.set_gr(2, access.value & ALL_ONES)

    def _arguments(self) -> Arguments:
        size = self._processor.cfm & SIZE_OF_FRAME
        return [self._processor.gr(FIRST_ARGUMENT + place) if place < size else 0 for place in range(ARGUMENTS)]
