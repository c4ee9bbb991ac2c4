"""Integer arithmetic and logic of the A unit against Python integers (SDM volume 3, instruction pages)."""

from random import Random

import pytest
from grids import each
from hypothesis import given
from hypothesis import strategies as st
from ia64_forms import DONE, Model, check_result, forms, run, words

from pfmon.engine.ia64._ia64 import step
from pfmon.isa.ia64.assemble import encode


def pointer(total: int, base: int) -> int:
    """addp4: 32 bits of the sum, the base's bits 31:30 at 62:61."""
    return total % 2**32 + (base // 2**30 % 4) * 2**61


MODELS: dict[str, Model] = {
    "add r1=r2,r3": lambda v: v.r2 + v.r3,
    "add r1=r2,r3,1": lambda v: v.r2 + v.r3 + 1,
    "sub r1=r2,r3": lambda v: v.r2 - v.r3,
    "sub r1=r2,r3,1": lambda v: v.r2 - v.r3 - 1,
    "addp4 r1=r2,r3": lambda v: pointer(v.r2 + v.r3, v.r3),
    "and r1=r2,r3": lambda v: v.r2 & v.r3,
    "andcm r1=r2,r3": lambda v: v.r2 & ~v.r3,
    "or r1=r2,r3": lambda v: v.r2 | v.r3,
    "xor r1=r2,r3": lambda v: v.r2 ^ v.r3,
    "shladd r1=r2,count2,r3": lambda v: v.r2 * 2**v.count2 + v.r3,
    "shladdp4 r1=r2,count2,r3": lambda v: pointer(v.r2 * 2**v.count2 + v.r3, v.r3),
    "sub r1=imm8,r3": lambda v: v.imm8 - v.r3,
    "and r1=imm8,r3": lambda v: v.imm8 & v.r3,
    "andcm r1=imm8,r3": lambda v: v.imm8 & ~v.r3,
    "or r1=imm8,r3": lambda v: v.imm8 | v.r3,
    "xor r1=imm8,r3": lambda v: v.imm8 ^ v.r3,
    "adds r1=imm14,r3": lambda v: v.imm14 + v.r3,
    "mov r1=r3": lambda v: v.r3,
    "addp4 r1=imm14,r3": lambda v: pointer(v.imm14 + v.r3, v.r3),
    "addl r1=imm22,r3": lambda v: v.imm22 + v.r3,
    "mov r1=imm22": lambda v: v.imm22,
}


def test_every_form_has_a_model() -> None:
    assert forms("A1", "A2", "A3", "A4", "A5") == set(MODELS)


@each("text", MODELS)
def test_result_is_the_models(text: str) -> None:
    check_result(text, MODELS[text])


@each("text", MODELS)
def test_nothing_happens_under_a_false_predicate(text: str) -> None:
    done = run(Random(text), text, qp=6)
    assert done.status == DONE
    assert done.after["gr"] == {number: value for number, value in done.before["gr"].items() if value}


@pytest.mark.slow
@given(words, words, st.booleans())
def test_both_slots_that_take_a_unit_instructions_run_them_alike(x: int, y: int, qp: bool) -> None:
    _, slot, _ = encode("add r1=r2,r3", qp=9, r1=3, r2=4, r3=5)
    state = {"gr": {4: x, 5: y}, "pr": 1 | qp << 9}
    assert step("M", slot, state) == step("I", slot, state)


def test_addl_reaches_only_r0_to_r3() -> None:
    with pytest.raises(ValueError):
        encode("addl r1=imm22,r3", r1=1, imm22=0, r3=4)
