"""The entry points of SAL and EFI: what is committed is what the source assembles to, and the engine runs them."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from firmware_code import HAS_TOOLS, SOURCES, assembled, binary

from pfmon.engine.ia64._ia64 import BREAK, AddressSpace, Processor
from pfmon.engine.ia64.system.firmware import firmware_calls
from pfmon.engine.ia64.system.firmware.firmware_calls import (
    BEGIN_BREAK,
    ENTRIES,
    GO_ON_BREAK,
    FirmwareCalls,
    Procedure,
    load,
    store,
)
from pfmon.stream._stream import Consumer

CODE, RETURN, DATA = 0x4000_0000_0001_0000, 0x4000_0000_0002_0000, 0x4000_0000_0003_0000
BACKING_STORE = 0x4000_0000_0004_0000
HALT = bytes(16)
"""break.m 0 in the first slot."""


@pytest.mark.skipif(not HAS_TOOLS, reason="binutils-ia64-linux-gnu is not here")
@pytest.mark.parametrize("source", SOURCES, ids=[one.stem for one in SOURCES])
def test_code_is_what_the_source_assembles_to(source: Path, tmp_path: Path) -> None:
    assert assembled(source, tmp_path) == binary(source).read_bytes()


class Caller:
    """A processor that calls an entry point with some arguments; b0 leads to a break of its own."""

    def __init__(self, number: int = 0, arguments: Sequence[int] = ()) -> None:
        self.memory = AddressSpace()
        for address in (CODE, RETURN, DATA, BACKING_STORE):
            self.memory.map(address, 0x8000, 7)
        self.memory.write(CODE, firmware_calls.code())
        self.memory.write(RETURN, HALT)
        self.processor = Processor(self.memory)
        self.processor.begin_stack(BACKING_STORE + 0x4000)
        self.processor.set_cfm(len(arguments))
        for place, value in enumerate(arguments):
            self.processor.set_gr(32 + place, value)
        self.processor.set_ar("pfs", 3 << 62 | 5)
        self.processor.set_ip(CODE + 16 * number)
        self.processor.set_br(0, RETURN)
        self.breaks: list[int] = []
        self.asked: list[tuple[int, Sequence[int]]] = []

    def procedure(self, arguments: Sequence[int]) -> Procedure:
        self.asked.append((0, arguments))
        return (1, 2, 3, 4)
        yield

    def run(self, procedures: dict[int, firmware_calls.Callable[[Sequence[int]], Procedure]]) -> list[int]:
        """The results when it has returned."""
        calls = FirmwareCalls(self.processor, procedures)
        while True:
            assert self.processor.run(Consumer()) == BREAK
            if self.processor.ip & ~0xF == RETURN:
                assert self.processor.cfm & 0x7F == 5
                return [self.processor.gr(number) for number in range(8, 12)]
            self.breaks.append(self.processor.fault_info)
            calls.take(self.processor.fault_info)


@pytest.mark.parametrize("number", range(ENTRIES))
def test_each_entry_point_has_its_procedure(number: int) -> None:
    caller = Caller(number, [7, 8])
    assert caller.run({number: caller.procedure}) == [1, 2, 3, 4]
    assert caller.asked == [(0, [7, 8, 0, 0, 0, 0, 0, 0])]
    assert caller.breaks == [BEGIN_BREAK]


def test_negative_status_has_64_bits() -> None:
    def procedure(_: Sequence[int]) -> Procedure:
        return (-1,)
        yield

    assert Caller().run({0: procedure}) == [(1 << 64) - 1, 0, 0, 0]


@pytest.mark.parametrize("address", [DATA, DATA + 3])
def test_procedure_reads_and_writes_its_caller_s_memory(address: int) -> None:
    content = bytes(range(1, 22))

    def procedure(_: Sequence[int]) -> Procedure:
        found = yield from load(address, len(content))
        yield from store(address + 0x100, found[::-1])
        return (0, len(found))

    caller = Caller()
    caller.memory.write(address, content)
    assert caller.run({0: procedure}) == [0, 21, 0, 0]
    assert caller.memory.read(address + 0x100, 22) == content[::-1] + b"\0"
    assert set(caller.breaks[1:]) == {GO_ON_BREAK}


def test_call_begins_anew_where_the_last_one_was_left() -> None:
    """Memory that a handler takes away for good: the caller never comes back to the first call."""
    asked = []

    def procedure(_: Sequence[int]) -> Procedure:
        asked.append(1)
        yield from store(DATA, b"x")
        return (0,)

    caller = Caller()
    calls = FirmwareCalls(caller.processor, {0: procedure})
    calls.take(BEGIN_BREAK)
    caller.processor.set_gr(2, 0)
    calls.take(BEGIN_BREAK)
    calls.take(GO_ON_BREAK)
    assert (len(asked), caller.processor.gr(14)) == (2, 0)


@pytest.mark.parametrize("immediate", [BEGIN_BREAK, GO_ON_BREAK])
def test_break_of_other_code_does_nothing(immediate: int) -> None:
    caller = Caller()
    caller.processor.set_gr(2, 99)
    caller.processor.set_gr(14, 4)
    FirmwareCalls(caller.processor, {}).take(immediate)
    assert caller.processor.gr(14) == 0
