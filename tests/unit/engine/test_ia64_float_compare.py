"""fcmp, fclass, fmin, fmax, famin, famax against the order of exact values."""

import itertools
import random

import pytest
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from ia64_float_model import NATVAL, Number, Register, Result, comparison, decode, mode, order
from ia64_float_step import (
    DEFAULT_FPSR,
    FP_FAULT,
    edge_registers,
    flags_of,
    fpsrs,
    legal_fpsr,
    registers,
    run,
    scalar_outcome,
    with_x6,
)

from pfmon.engine.ia64._ia64 import step

# Relation: (rb, ra), the orders for which it holds, whether a QNaN is no exception.
RELATIONS = {
    "eq": (0, 0, "=", True),
    "lt": (1, 0, "<", False),
    "le": (0, 1, "<=", False),
    "unord": (1, 1, "?", True),
}
P6, P7, P10 = 1 << 6, 1 << 7, 1 << 10
BEFORE = (1, 0x12345, 0x123456789ABCDEF0)


def fcmp(relation: str, sf: int, unc: int = 0, qp: int = 0) -> int:
    """fcmp p6,p7=f8,f9"""
    rb, ra, _, _ = RELATIONS[relation]
    return 4 << 37 | rb << 36 | sf << 34 | ra << 33 | 7 << 27 | 9 << 20 | 8 << 13 | unc << 12 | 6 << 6 | qp


def compare(relation: str, sf: int, fpsr: int, x: Register, y: Register, unc: int = 0) -> tuple[int, int, int, int]:
    """Predicates p6 and p7 (both 1 before), flags, fault, ISR.code."""
    _, after = step("F", fcmp(relation, sf, unc), {"fr": {8: x, 9: y}, "fpsr": fpsr, "pr": 1 | P6 | P7})
    return after["pr"], flags_of(after["fpsr"], sf), after["fault"], after["fault_code"]


def expected(relation: str, sf: int, fpsr: int, x: Register, y: Register) -> tuple[int, int, int, int]:
    if NATVAL in (x, y):
        return 1, 0, 0, 0
    _, _, holds, quiet = RELATIONS[relation]
    result = comparison(decode(x), decode(y), quiet, mode(fpsr, sf, ""))
    if result.fault:
        return 1 | P6 | P7, 0, FP_FAULT, result.fault
    return 1 | (P6 if order(decode(x), decode(y)) in holds else P7), result.flags, 0, 0


relations = st.sampled_from(list(RELATIONS))
fields = st.integers(0, 3)


@pytest.mark.slow
@examples(160)
@given(relations, fields, fpsrs, registers, registers, st.integers(0, 1))
def test_comparison_follows_the_values(relation: str, sf: int, fpsr: int, x: Register, y: Register, unc: int) -> None:
    assert compare(relation, sf, fpsr, x, y, unc) == expected(relation, sf, fpsr, x, y)


def test_comparison_of_every_pair_of_edge_operands() -> None:
    numbers = random.Random(5)
    for x, y in itertools.product(edge_registers(32, 6), repeat=2):
        relation, sf = numbers.choice(list(RELATIONS)), numbers.randrange(4)
        fpsr = legal_fpsr(numbers.getrandbits(58) | numbers.choice([0, 0x3F]))
        assert compare(relation, sf, fpsr, x, y) == expected(relation, sf, fpsr, x, y), (relation, x, y)


@examples(50)
@given(relations, registers)
def test_comparison_with_itself(relation: str, x: Register) -> None:
    assert compare(relation, 0, DEFAULT_FPSR, x, x) == expected(relation, 0, DEFAULT_FPSR, x, x)


def test_unqualified_comparison_clears_both_targets_only_when_unconditional() -> None:
    state = {
        "fr": {8: (0, 0xFFFF, 1 << 63), 9: (0, 0xFFFF, 1 << 63)},
        "fpsr": DEFAULT_FPSR,
        "pr": 1 | P6 | P7,
    }
    _, after = step("F", fcmp("eq", 0, unc=1, qp=10), state)
    assert (after["pr"], after["mask"]) == (1, 0)
    _, after = step("F", fcmp("eq", 0, unc=0, qp=10), state)
    assert (after["pr"], after["mask"]) == (1 | P6 | P7, 0)


def test_qualified_unconditional_comparison_marks_its_condition() -> None:
    state = {
        "fr": {8: (0, 0xFFFF, 1 << 63), 9: (0, 0xFFFF, 1 << 63)},
        "fpsr": DEFAULT_FPSR,
        "pr": 1 | P7 | P10,
    }
    _, after = step("F", fcmp("eq", 0, unc=1, qp=10), state)
    assert (after["pr"], after["mask"]) == (1 | P6 | P10, 1 << 32)


def class_bits(x: Register) -> int:
    """The bits of fclass9 that describe a register: sign and class together, or a class alone."""
    if x == NATVAL:
        return 0x100
    number = decode(x)
    if number.kind == "unsupported":
        return 0
    if number.is_nan:
        return 0x80 if number.kind == "quiet" else 0x40
    if number.kind == "infinite":
        found = 0x20
    elif number.unnormal:
        found = 0x08
    else:
        found = 0x04 if number.kind == "zero" else 0x10
    return found | (2 if number.sign else 1)


@pytest.mark.slow
@examples(160)
@given(st.one_of(registers, st.sampled_from(edge_registers(40, 7))), st.integers(0, 511), st.integers(0, 1))
def test_class_membership(x: Register, classes: int, unc: int) -> None:
    encoding = 5 << 37 | (classes & 3) << 33 | 7 << 27 | (classes >> 2) << 20 | 8 << 13 | unc << 12 | 6 << 6
    _, after = step("F", encoding, {"fr": {8: x}, "fpsr": DEFAULT_FPSR, "pr": 1 | P6 | P7})
    bits = class_bits(x)
    member = bool(bits) and bits & classes == bits
    if x == NATVAL:
        assert after["pr"] == (1 | P6 if member else 1)
    else:
        assert after["pr"] == 1 | (P6 if member else P7)
    assert after["fpsr"] == DEFAULT_FPSR


def magnitude(x: Number) -> Number:
    return Number(x.kind, 0, abs(x.value), x.unnormal, x.register)


@pytest.mark.slow
@examples(160)
@given(st.sampled_from(["fmin", "fmax", "famin", "famax"]), fields, fpsrs, registers, registers)
def test_minimum_and_maximum_copy_one_operand(name: str, sf: int, fpsr: int, x: Register, y: Register) -> None:
    """f2 if it is strictly less (greater), f3 otherwise, unordered included."""
    x6 = {"fmin": 0x14, "fmax": 0x15, "famin": 0x16, "famax": 0x17}[name]
    found = run(with_x6(0, sf, x6, 5, 8, 9), {5: BEFORE, 8: x, 9: y}, fpsr, sf)
    if NATVAL in (x, y):
        assert found == (NATVAL, 0, 0, 0)
        return
    a, b = decode(x), decode(y)
    result: Result = comparison(a, b, False, mode(fpsr, sf, ""))
    if name.startswith("fa"):
        a, b = magnitude(a), magnitude(b)
    result.register = x if order(a, b) == ("<" if name.endswith("min") else ">") else y
    assert found == scalar_outcome(result, BEFORE)
