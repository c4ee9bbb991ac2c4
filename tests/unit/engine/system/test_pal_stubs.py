"""PAL's stubs: what is committed is what the source assembles to, and the IA-64 engine runs them."""

from pathlib import Path

import pytest
from fake_processor import PROCESSOR
from pal_stubs import BINARY, HAS_TOOLS, assembled

from pfmon.engine.ia64._ia64 import BREAK, AddressSpace, Processor
from pfmon.engine.ia64.system.firmware.pal_call import Pal
from pfmon.engine.ia64.system.firmware.pal_entry import CALL_BREAK, WORD_BREAK, PalEntry, stubs
from pfmon.engine.ia64.system.translation_sizes import SIZES
from pfmon.stream._stream import Consumer

CODE, RETURN, DATA = 0x4000_0000_0001_0000, 0x4000_0000_0002_0000, 0x4000_0000_0003_0000
BACKING_STORE = 0x4000_0000_0004_0000
HALT = bytes.fromhex("0000000000000000000000000000") + bytes(2)
"""break.m 0 in the first slot."""
STATIC, STACKED = 15, 274


@pytest.mark.skipif(not HAS_TOOLS, reason="binutils-ia64-linux-gnu is not here")
def test_stubs_are_what_the_source_assembles_to(tmp_path: Path) -> None:
    assert assembled(tmp_path) == BINARY.read_bytes()


def test_stubs_are_whole_bundles() -> None:
    assert len(stubs()) == 96


class Caller:
    """A processor that branches to PAL's entry point; b0 leads to a break of its own."""

    def __init__(self, place: int = CODE) -> None:
        self.memory = AddressSpace()
        for address in (place & -0x4000, RETURN, DATA):
            self.memory.map(address, 0x4000, 7)
        self.memory.write(place, stubs())
        self.memory.write(RETURN, HALT)
        self.processor = Processor(self.memory)
        self.processor.set_ip(place)
        self.processor.set_br(0, RETURN)
        self.entry = PalEntry(Pal(PROCESSOR, SIZES["montecito"], None, 96), self.processor)  # type: ignore[arg-type]
        self.breaks: list[int] = []

    def call(self) -> None:
        """Run until it has returned."""
        while True:
            assert self.processor.run(Consumer()) == BREAK
            if self.processor.ip & ~0xF == RETURN:
                return
            self.breaks.append(self.processor.fault_info)
            self.entry.take(self.processor.fault_info)


def test_results_are_in_gr8_to_gr11() -> None:
    caller = Caller()
    caller.processor.set_gr(28, 14)
    caller.call()
    assert [caller.processor.gr(number) for number in range(8, 12)] == [0, 4 << 32 | 1, 1 << 32 | 1, 4 << 32 | 1]
    assert caller.breaks == [CALL_BREAK]


def test_buffer_is_written_word_by_word() -> None:
    caller = Caller()
    caller.memory.write(DATA, b"\xff" * 200)
    caller.processor.set_gr(28, STATIC)
    caller.processor.set_gr(29, DATA)
    caller.call()
    assert caller.memory.read(DATA, 136) == bytes(128) + b"\xff" * 8
    assert caller.breaks == [CALL_BREAK, *[WORD_BREAK] * 16]


def test_registers_that_are_not_scratch_stay() -> None:
    """Table 11-59: GR1, GR4 to GR7, GR12, GR13, and GR16 to GR23 of a bank, stay; predicates do but for p6 to p15."""
    caller = Caller()
    kept = [1, *range(4, 8), 12, 13, *range(16, 24)]
    for number in kept:
        caller.processor.set_gr(number, number << 32)
    predicates = 0xFFFF_FFFF_FFFF_003F
    caller.processor.set_pr(predicates)
    caller.processor.set_gr(28, STATIC)
    caller.processor.set_gr(29, DATA)
    caller.call()
    assert [caller.processor.gr(number) for number in kept] == [number << 32 for number in kept]
    assert caller.processor.pr & ~0xFFC0 == predicates


def test_stacked_procedures_have_their_arguments_in_the_frame() -> None:
    caller = Caller()
    caller.memory.map(BACKING_STORE, 0x8000, 3)
    caller.processor.begin_stack(BACKING_STORE + 0x4000)
    caller.processor.set_cfm(4)
    for place, value in enumerate((STACKED, 0, DATA, 0)):
        caller.processor.set_gr(32 + place, value)
    caller.processor.set_gr(28, STACKED)
    caller.processor.set_ar("pfs", 3 << 62 | 7 << 7 | 7)
    caller.call()
    assert caller.memory.read(DATA, 22) == b"A processor (1.6 GHz)\0"
    assert caller.processor.cfm & 0x7F == 7  # br.ret gives the caller's frame back


def test_arguments_beyond_the_frame_are_0() -> None:
    caller = Caller()
    caller.processor.set_cfm(4)
    caller.processor.set_gr(33, 1)  # invalid, but outside of the frame below
    caller.processor.set_gr(34, DATA)
    caller.processor.set_cfm(1)
    caller.processor.set_gr(28, 257)
    caller.processor.set_ar("pfs", 3 << 62)
    caller.memory.map(0, 0x4000, 7)
    caller.call()
    assert caller.processor.gr(8) == 0
    assert caller.memory.read(0, 8) == (3 << 60).to_bytes(8, "little")


def test_negative_status_is_sign_extended() -> None:
    caller = Caller()
    caller.processor.set_gr(28, 255)
    caller.call()
    assert caller.processor.gr(8) == (1 << 64) - 1


def test_code_runs_wherever_it_is() -> None:
    caller = Caller(CODE + 0x1230)
    caller.processor.set_gr(28, 19)
    caller.call()
    assert caller.processor.gr(9) == 96


def test_word_without_a_call_is_0() -> None:
    caller = Caller()
    caller.processor.set_gr(2, 5)
    caller.entry.take(WORD_BREAK)
    assert caller.processor.gr(2) == 0
