"""Misses of loads by piece of memory."""

from pathlib import Path

import pytest
from ia64_program import EXIT, write_program
from ia64_tasks import call

from pfmon.counting._counting import DataMisses
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.ia64.ia64_guest import Ia64Guest
from pfmon.machine._machine import Machine
from pfmon.machine.config.machine_config import load
from pfmon.program import image

BASE, LINE = 0x2000_0000_1000_0000, 64
"""Where the program loads from, and a line of L1D of Itanium 2."""
ROOM = 3 << 17
"""Pieces that a table has room for, before pieces become larger."""


def missed(path: Path, lines: int) -> DataMisses:
    """Of a program that loads from so many lines, from each once."""
    loop = [f"movl r8={BASE}", f"movl r9={lines - 1}", "mov.i ar.lc=r9"]
    loop += ["again:", f"ld8 r10=[r8],{LINE}", "br.cloop.sptk.few again", *EXIT]
    anonymous = call("mmap", BASE, LINE * lines, 3, 0x32, (1 << 64) - 1, 0)  # private, at this address
    program = str(write_program(path, [*anonymous, *loop]))
    guest = Ia64Guest(image.load(program), [b"program"], [], GuestSettings(), memory_limit=1 << 30, trace=True)
    figures = load("itanium2")
    machine = Machine(figures, guest.table)
    found = DataMisses(guest.table, int(figures["l3.latency"]), int(figures["memory.latency"]))
    machine.listen(found)
    guest.run(machine)
    machine.finish()
    guest.close()
    return found


@pytest.mark.slow
def test_loads_of_more_lines_than_there_is_room_for_are_all_there(tmp_path: Path) -> None:
    """Pieces of 32 bytes at first; of 64 they would be as many as there are lines."""
    found = missed(tmp_path / "program", ROOM + 100)
    assert found.piece_bytes == 2 * LINE and not found.out_of_memory
    pieces = [(address, sum(misses)) for address, misses, _, _ in found.by_piece()]
    assert pieces == [(BASE + 2 * LINE * number, 2) for number in range(ROOM // 2 + 50)]
    assert sum(found.histogram()) == ROOM + 100
    loads = found.by_instruction()
    assert {address for address, _, _ in loads} == {loads[0][0]}  # in the block before the loop, and in the loop
    assert sum(sum(misses) for _, misses, _ in loads) == ROOM + 100
    assert sum(cycles for _, _, cycles in loads) == sum(cycles for _, _, cycles, _ in found.by_piece())


@pytest.mark.exhaustive
def test_as_many_as_there_is_room_for_keep_pieces_of_32_bytes(tmp_path: Path) -> None:
    found = missed(tmp_path / "program", ROOM)
    assert found.piece_bytes == 32
    assert len(found.by_piece()) == sum(found.histogram()) == ROOM
