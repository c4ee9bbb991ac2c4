"""How often blocks ran: what a machine tells a tally is what a tally that reads the same stream counts."""

import pytest
from grids import each
from machine_runs import PROGRAMS, machine_and_guest

from pfmon.counting._counting import Tally
from pfmon.stream._stream import Pipe


def both(program: str, *, memo: bool = True, settle: bool = False) -> tuple[Tally, Tally, list[int]]:
    """The tally that reads the stream, the one that is told, and the numbers of all blocks."""
    machine, guest = machine_and_guest(program, "itanium2", memo=memo)
    read, told = Tally(guest.table, traced=True), Tally(guest.table, traced=True)
    machine.count_runs(told)
    with Pipe(machine, beside=read, threaded=False) as pipe:
        guest.run(pipe)
    if settle:
        machine.update_records(0)
    machine.finish()
    guest.close()
    return read, told, guest.table.numbers()


def same(program: str, *, memo: bool = True, settle: bool = False) -> None:
    read, told, numbers = both(program, memo=memo, settle=settle)
    assert read.instructions() == told.instructions() > 0
    for number in numbers:
        assert told.runs(number) == read.runs(number)
        assert told.executed(number) == read.executed(number)
    assert told.sites_of_marks() == read.sites_of_marks()


@each("memo", [True, False])
@each("program", ["epic", "fib", "sort"])
def test_a_tally_is_told_what_it_would_read(program: str, memo: bool) -> None:
    same(program, memo=memo)


@pytest.mark.slow
@each("program", sorted({*PROGRAMS} - {"epic", "fib", "sort"}))
def test_a_tally_is_told_what_it_would_read_of_any_other_example(program: str) -> None:
    same(program)


def test_what_was_told_before_is_not_told_again() -> None:
    same("queens", settle=True)


def test_marks_are_told_too() -> None:
    read, _, _ = both("fib")
    assert read.sites_of_marks(), "fib overflows the register stack: a program without marks would prove nothing"


def test_simulated_blocks_are_told_as_repeated_ones_are() -> None:
    machine, guest = machine_and_guest("hashmap", "itanium2")
    machine.memo.max_states = 50  # so that many blocks are simulated
    read, told = Tally(guest.table, traced=True), Tally(guest.table, traced=True)
    machine.count_runs(told)
    with Pipe(machine, beside=read, threaded=False) as pipe:
        guest.run(pipe)
    machine.finish()
    guest.close()
    assert machine.simulated > 10_000 and machine.repeated > 10_000
    assert [told.runs(number) for number in guest.table.numbers()] == [
        read.runs(number) for number in guest.table.numbers()
    ]
