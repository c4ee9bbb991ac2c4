"""PAL's entry point: calls come from its stubs by two reserved breaks (pal.S), and are answered by `PROCEDURES`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from pfmon.engine.ia64._ia64 import SystemProcessor
from pfmon.engine.ia64.system.firmware.pal_call import ALL_ONES, Pal, PalCall
from pfmon.engine.ia64.system.firmware.pal_procedures import STACKED, answer

CALL_BREAK, WORD_BREAK = 0x1F50A0, 0x1F50A1
"""Immediates that no one else uses: Linux has 0x100000 for system calls and those below 0x100000, debuggers and kprobes
0x80000 to 0xFFFFF, hypervisors 0x1000 and 0x1100 on, Ski 0x80001."""
FIRST_STACKED = 32
SIZE_OF_FRAME = 0x7F


def stubs() -> bytes:
    """The code of the entry point, which may be anywhere."""
    return files(__package__).joinpath("pal.bin").read_bytes()


class PalEntry:
    """Answers the stubs of one processor."""

    def __init__(self, pal: Pal, processor: SystemProcessor) -> None:
        self._pal = pal
        self._processor = processor
        self._words: Iterator[int] = iter(())

    def take(self, immediate: int) -> None:
        """Answer the stub's break: a call, or the next word of its buffer."""
        if immediate == WORD_BREAK:
            self._processor.set_gr(2, next(self._words, 0))
            return
        processor = self._processor
        index = processor.gr(28)
        result = answer(self._pal, index, self._arguments(index))
        words = [int.from_bytes(result.buffer[at : at + 8], "little") for at in range(0, len(result.buffer), 8)]
        self._words = iter(words)
        results = (result.status, *result.values, 0, 0, 0)[:4]
        for number, value in enumerate(results, 8):
            processor.set_gr(number, value & ALL_ONES)
        processor.set_gr(14, len(words))
        processor.set_gr(3, result.address)

    @property
    def is_between_calls(self) -> bool:
        """Whether the caller has got all that the last call has given it."""
        words = list(self._words)
        self._words = iter(words)
        return not words

    @property
    def pal(self) -> Pal:
        """The procedures that it calls."""
        return self._pal

    def _arguments(self, index: int) -> PalCall:
        """GR29 to GR31; of a procedure with stacked registers those behind the index in GR32, as far as the frame has
        them."""
        gr = self._processor.gr
        if not index & STACKED:
            return PalCall(gr(29), gr(30), gr(31))
        size = self._processor.cfm & SIZE_OF_FRAME
        return PalCall(*(gr(FIRST_STACKED + place) if place < size else 0 for place in (1, 2, 3)))
