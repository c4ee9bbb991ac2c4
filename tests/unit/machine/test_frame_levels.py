"""Registers of the current frame and dirty ones, cycle by cycle (Montecito manual section 4.12)."""

from collections.abc import Sequence

import pytest
from ia64_assembly import Line
from machine_code import FEW, MANY, loop, run_code

PHYSICAL = 96


def levels_per_pass(body: Sequence[Line], machine: str, memo: bool) -> dict[int, float]:
    """Registers of the frame -> cycles of a pass of a loop with this body in which it has so many."""
    few, many = (run_code(loop(body, times), machine, memo=memo) for times in (FEW, MANY))
    change = [
        (after - before) / (MANY - FEW)
        for before, after in zip(few.levels()["RSE_CURRENT_REGS"], many.levels()["RSE_CURRENT_REGS"], strict=True)
    ]
    return {registers: cycles for registers, cycles in enumerate(change) if cycles}


@pytest.mark.parametrize("machine", ["itanium2", "montecito"])
@pytest.mark.parametrize("memo", [True, False])
def test_a_frame_has_its_size_from_its_alloc_on(machine: str, memo: bool) -> None:
    """Every line issues in a cycle of its own: six additions wait for each other between the allocs, three behind."""
    chain = ["adds r10=1,r10"]
    body = ["alloc r33=ar.pfs,12,12,0", *chain * 6, "alloc r33=ar.pfs,40,40,0", *chain * 3]
    assert levels_per_pass(body, machine, memo) == {12: 1 + 6, 40: 1 + 3 + 1}


@pytest.mark.parametrize("memo", [True, False])
def test_a_frame_has_its_size_also_in_a_block_that_waits_for_memory(memo: bool) -> None:
    """The same with a load between the allocs that another access keeps from being quick: all cycles of a pass are
    those of one frame or the other, and what is added behind the second alloc is its alone."""
    load = ["st8 [r20]=r10", "ld8 r10=[r20]"]
    found = []
    for more in (0, 7):
        body = [
            "alloc r33=ar.pfs,12,12,0", *load, "adds r10=0,r10", "alloc r33=ar.pfs,40,40,0", *["adds r10=0,r10"] * more
        ]  # fmt: skip
        found.append(levels_per_pass(body, "montecito", memo))
    assert found[0].keys() == found[1].keys() == {12, 40}
    assert found[1][12] == found[0][12] > 3
    assert found[1][40] == found[0][40] + 7


def function(name: str, called: str | None, locals_: int) -> list[Line]:
    """Has a frame of so many registers and calls another function, if there is one."""
    call = [f"br.call.sptk.few b0={called}"] if called else []
    return [
        f"{name}:", f"alloc r32=ar.pfs,{locals_},{locals_},0", "mov r33=b0", *call, "mov b0=r33", "mov.i ar.pfs=r32",
        "br.ret.sptk.few b0",
    ]  # fmt: skip


@pytest.mark.parametrize("machine", ["itanium2", "montecito"])
def test_registers_that_a_return_loads_are_not_dirty(machine: str) -> None:
    """Four frames of 40 do not fit into 96 registers: those of the first ones are stored, and loaded by the returns.
    Back in the first one no frame is below it that was called from here."""
    waits = ["adds r10=1,r10"] * 100
    lines = [
        "alloc r32=ar.pfs,40,40,0", "br.call.sptk.few b0=one", *waits, "break.i 0",
        *function("one", "two", 40), *function("two", "three", 40), *function("three", None, 40),
    ]  # fmt: skip
    found = run_code(lines, machine).levels()
    assert found["RSE_DIRTY_REGS"][0] > 100
    assert found["RSE_CURRENT_REGS"][40] > 100


def test_current_and_dirty_registers_are_the_physical_ones_at_most() -> None:
    """The second frame's alloc has what it needs stored: 60 of the first one's 90 registers stay."""
    lines = [
        "alloc r32=ar.pfs,90,90,0", "br.call.sptk.few b0=one", "break.i 0",
        "one:", "alloc r32=ar.pfs,36,36,0", *["adds r10=1,r10"] * 50, "break.i 0",
    ]  # fmt: skip
    found = run_code(lines, "montecito").levels()
    assert max(level for level, cycles in enumerate(found["RSE_DIRTY_REGS"]) if cycles >= 50) == PHYSICAL - 36
