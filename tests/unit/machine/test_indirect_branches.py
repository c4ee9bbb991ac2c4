"""Branches through branch registers: Itanium 2 and Montecito foretell them by the register as fetch finds it.

The front end reads a branch register when it fetches the branch. A move that is executed before that makes the
prediction right; one that is on its way then leaves it to what the register held before.
"""

from collections import Counter

import pytest
from grids import each
from ia64_assembly import CODE, Line
from machine_code import run_code

from pfmon.machine._machine import Machine, Occurrence
from pfmon.machine.config.machine_config import load

MACHINES = ("itanium2", "montecito")
TIMES = 500
SWAP = ["mov r16=r14", "mov r14=r15", "mov r15=r16"]


def program(between: int, swap: bool, last: str = "nop.m 0") -> list[Line]:
    """A loop that goes to one of two places in turn (or to the first): a bundle, which is a cycle, an instruction.
    ``last``: of those between move and branch."""
    turn = SWAP if swap else ["nop.i 0"] * 3
    head = [f"addl r9={TIMES - 1},r0", "mov.i ar.lc=r9"]
    gap = ["nop.m 0"] * (between - 1) + [last] * (between > 0)
    body = [*turn, "mov b6=r14", *gap, "br.cond.sptk.few b6"]
    first = CODE + 16 * (len(head) + 2 + len(body))
    places = [f"movl r14={first:#x}", f"movl r15={first + 16:#x}"]
    return [*head, *places, "loop:", *body, "nop.i 0", "nop.i 0", "br.cloop.sptk.few loop"]


def outcomes(found: Machine) -> Counter[str]:
    """Indirect branches by how they were foretold."""
    seen: Counter[str] = Counter()
    for (_, _, occurrence, _), times in found.occurrences().items():
        name = Occurrence(occurrence).name
        if name.startswith("PREDICTED_INDIRECT_"):
            seen[name.removeprefix("PREDICTED_INDIRECT_")] += times
    return seen


def warm(seen: Counter[str]) -> str:
    """How all branches went but those of the first passes, whose code comes from memory, long behind every move."""
    assert seen.total() == TIMES
    ((outcome, times),) = seen.most_common(1)
    assert times >= TIMES - 2
    return outcome


@each("machine", MACHINES)
@each("between", [0, 1, 2])
def test_a_move_shortly_before_the_branch_comes_too_late(machine: str, between: int) -> None:
    """Every branch goes elsewhere than the one before it, which is what the register held."""
    assert warm(outcomes(run_code(program(between, swap=True), machine))) == "WRONG_TARGET"


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("between", [12, 20])
def test_a_move_long_before_the_branch_makes_it_right(machine: str, between: int) -> None:
    """More groups than the stages of the pipeline and the bundles of the instruction buffer (8, section 2.1.2)."""
    assert outcomes(run_code(program(between, swap=True), machine)) == {"CORRECT_TAKEN": TIMES}


@pytest.mark.parametrize("machine", MACHINES)
def test_a_late_move_of_the_same_value_does_no_harm(machine: str) -> None:
    assert warm(outcomes(run_code(program(0, swap=False), machine))) == "CORRECT_TAKEN"


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("between", [0, 12])
def test_a_wrong_target_costs_what_a_wrong_path_does(machine: str, between: int) -> None:
    """The loop with and without a change of target: a flush for each branch, less the bubbles of a right one."""
    figures = load(machine)
    turning, staying = (run_code(program(between, swap), machine).cycles for swap in (True, False))
    wrong = figures["predictor.mispredict"] if between == 0 else 0
    assert abs(turning - staying - TIMES * wrong) <= TIMES * figures["predictor.indirect_bubbles"] + 50


@pytest.mark.parametrize("machine", MACHINES)
def test_the_time_that_a_move_takes_is_a_figure(machine: str) -> None:
    code = program(4, swap=True)
    assert outcomes(run_code(code, machine, ["predictor.register_write=0"])) == {"CORRECT_TAKEN": TIMES}
    assert warm(outcomes(run_code(code, machine, ["predictor.register_write=100"]))) == "WRONG_TARGET"


@pytest.mark.parametrize("machine", MACHINES)
def test_registers_are_apart(machine: str) -> None:
    """A late move to another register changes nothing."""
    assert outcomes(run_code(program(12, swap=True, last="mov b7=r15"), machine)) == {"CORRECT_TAKEN": TIMES}


@pytest.mark.parametrize("between", [0, 12])
def test_itanium_foretells_by_where_the_branch_went(between: int) -> None:
    """Its target registers and its target cache know of branches, not of branch registers."""
    assert outcomes(run_code(program(between, swap=True), "itanium"))["WRONG_TARGET"] >= TIMES - 1
