"""What the memo repeats is what the pipeline would have simulated."""

import pytest
from grids import diagonal, each
from machine_runs import PROGRAMS, run_machine

MACHINES = ["itanium", "itanium2", "montecito"]
QUICK = ["noploop", "fib", "epic", "sort"]


@pytest.mark.slow
@each("machine", MACHINES)
@each("program", QUICK)
def test_memo_changes_nothing(program, machine):
    _same(program, machine)


@pytest.mark.slow
@diagonal
@each("machine", MACHINES)
@each("program", sorted({*PROGRAMS} - {*QUICK}))
def test_memo_changes_nothing_on_any_other_example(program, machine):
    _same(program, machine)


def _same(program: str, machine: str) -> None:
    with_memo, without = run_machine(program, machine), run_machine(program, machine, memo=False)
    assert with_memo.repeated > 0 and without.repeated == 0
    assert with_memo.cycles == without.cycles
    assert with_memo.occurrences() == without.occurrences()
    assert sorted(map(str, with_memo.bubbles())) == sorted(map(str, without.bubbles()))
    assert sorted(map(str, with_memo.front_bubbles())) == sorted(map(str, without.front_bubbles()))
    assert dict(with_memo.groups()) == dict(without.groups())
    assert with_memo.levels() == without.levels()


@pytest.mark.parametrize("machine", MACHINES)
def test_every_cycle_is_an_issue_or_a_bubble(machine):
    for program in ("noploop", "fib", "epic", "sort"):
        found = run_machine(program, machine)
        bubbles = sum(cycles for *_, cycles in found.bubbles())
        assert found.cycles == found.records.cycles_with_issue() + bubbles
