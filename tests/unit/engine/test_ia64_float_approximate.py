"""frcpa and frsqrta: the architected tables, special values, and where the result is the IEEE one."""

import itertools
import random
from fractions import Fraction

import pytest
from example_counts import examples
from grids import each
from hypothesis import given
from hypothesis import strategies as st
from ia64_float_model import (
    NATVAL,
    ONE,
    Mode,
    Number,
    Register,
    Result,
    decode,
    floor_log2,
    invalid,
    mode,
    nan_result,
    quotient,
    special_quotient,
    square_root,
    with_operand_flag,
)
from ia64_float_step import (
    DEFAULT_FPSR,
    DONE,
    edge_registers,
    f1_format,
    flags_of,
    fpsrs,
    from_float,
    legal_fpsr,
    normal_registers,
    registers,
    scalar_outcome,
)

from pfmon.engine.ia64._ia64 import step, tables

BEFORE = (1, 0x12345, 0x123456789ABCDEF0)
P6, P10 = 1 << 6, 1 << 10
Found = tuple[Register, int, int, int, int]  # f5, flags, fault, ISR.code, p6


def frcpa(sf: int, qp: int = 0) -> int:
    """frcpa f5,p6=f8,f9"""
    return sf << 34 | 1 << 33 | 6 << 27 | 9 << 20 | 8 << 13 | 5 << 6 | qp


def frsqrta(sf: int, qp: int = 0) -> int:
    """frsqrta f5,p6=f9"""
    return 1 << 36 | sf << 34 | 1 << 33 | 6 << 27 | 9 << 20 | 5 << 6 | qp


def approximate(encoding: int, sf: int, fpsr: int, x: Register, y: Register, p6: int = 0) -> Found:
    _, after = step("F", encoding, {"fr": {5: BEFORE, 8: x, 9: y}, "fpsr": fpsr, "pr": 1 | p6 << 6})
    p6 = after["pr"] >> 6 & 1
    return after["fr"].get(5, (0, 0, 0)), flags_of(after["fpsr"], sf), after["fault"], after["fault_code"], p6


def estimate_of(exact: Fraction, sign: int) -> Register:
    """A positive number as a register with 10 bits after the leading one: the nearest."""
    exponent = floor_log2(exact)
    digits = round(exact / Fraction(2) ** (exponent - 10))
    return (sign, exponent + 65535, digits << 53)


def reciprocal_estimate(y: Number) -> Register:
    """1 / the middle of the interval of 1/256 that y is in."""
    unit = Fraction(2) ** (floor_log2(abs(y.value)) - 8)
    return estimate_of(1 / ((abs(y.value) // unit + Fraction(1, 2)) * unit), y.sign)


def beyond_limits(x: Number, y: Number) -> bool:
    """Where a processor asks for assistance: operands or quotient near an end of the 17-bit range."""
    a, b = floor_log2(abs(x.value)), floor_log2(abs(y.value))
    return b <= -65535 or b >= 65533 or a - b <= -65533 or a - b >= 65535 or a <= -65471


def expected_reciprocal(x: Number, y: Number, how: Mode) -> Result:
    decided = special_quotient(x, y, how)
    if decided:
        return decided
    if beyond_limits(x, y):
        return quotient(x, y, how)
    return with_operand_flag(Result(reciprocal_estimate(y), predicate=1), how, x, y)


def complete(result: Result, p6_before: int) -> Found:
    return (*scalar_outcome(result, BEFORE), p6_before if result.fault else result.predicate)


def check_reciprocal(sf: int, fpsr: int, x: Register, y: Register, p6: int) -> None:
    found = approximate(frcpa(sf), sf, fpsr, x, y, p6)
    if NATVAL in (x, y):
        assert found == (NATVAL, 0, 0, 0, 0)
    else:
        assert found == complete(expected_reciprocal(decode(x), decode(y), mode(fpsr, sf, "")), p6), (x, y)


@pytest.mark.slow
@examples(80)
@given(st.integers(0, 3), fpsrs, registers, registers, st.integers(0, 1))
def test_reciprocal_or_quotient(sf: int, fpsr: int, x: Register, y: Register, p6: int) -> None:
    check_reciprocal(sf, fpsr, x, y, p6)


@examples(60)
@given(normal_registers, normal_registers)
def test_reciprocal_of_normal_numbers_is_an_estimate(x: Register, y: Register) -> None:
    check_reciprocal(1, DEFAULT_FPSR, x, y, 0)


@pytest.mark.slow
def test_reciprocal_of_every_pair_of_edge_operands() -> None:
    numbers = random.Random(8)
    for x, y in itertools.product(edge_registers(26, 9), repeat=2):
        fpsr = legal_fpsr(numbers.getrandbits(58) | numbers.choice([0, 0x3F, 0x3F]))
        check_reciprocal(numbers.randrange(4), fpsr, x, y, numbers.getrandbits(1))


@each(
    ("a", "b"),
    [
    (0, -65534), (0, -65533), (0, 65532), (0, 65533), (-65471, 0), (-65470, 0), (32767, -32767),
    (32767, -32768), (-32766, 32767), (-32766, 32766), (40000, -25535), (40000, -25534), (-40000, 25533),
    (-40000, 25532), ],
)  # fmt: skip
def test_limits_of_the_reciprocal(a: int, b: int) -> None:
    """Operands 1.25 * 2**a and 1.75 * 2**b on both sides of each limit, in the widest range."""
    x, y = (0, a + 65535, 5 << 61), (0, b + 65535, 7 << 61)
    check_reciprocal(1, DEFAULT_FPSR, x, y, 0)


@examples(50)
@given(st.integers(0, 1), st.integers(1, 0x1FFFD), st.integers(ONE, (1 << 64) - 1))
def test_reciprocal_is_as_near_as_the_manual_says(sign: int, exponent: int, significand: int) -> None:
    """Relative error below 2**-8.886 (SDM volume 3, frcpa)."""
    y = (sign, exponent, significand)
    register, _, _, _, p6 = approximate(frcpa(0), 0, DEFAULT_FPSR, (0, 0xFFFF, ONE), y)
    if p6:
        assert abs(decode(register).value * decode(y).value - 1) < Fraction(2) ** -8 * Fraction(541, 1000)


def root_estimate(y: Number) -> Register:
    """1 / sqrt of the middle of y's interval: of 1/128 of numbers from 1 to 2, of 1/64 from 2 to 4."""
    exponent = floor_log2(y.value)
    unit = Fraction(2) ** (exponent - 7)
    middle = (y.value // unit + Fraction(1, 2)) * unit
    # Nearest multiple of a unit to 1/sqrt(m): n is right when (n - 1/2)**2 < 1/(m unit**2) < (n + 1/2)**2.
    last_place = Fraction(2) ** (-11 - exponent // 2)
    target = 1 / (middle * last_place * last_place)
    n = next(n for n in range(1 << 10, 1 << 11) if (n + Fraction(1, 2)) ** 2 > target)
    return (0, 65535 - exponent // 2 - 1, n << 53)


def expected_root(y: Number, how: Mode) -> Result:
    decided = nan_result(how, y)
    if decided:
        return decided
    if y.sign and y.kind != "zero":
        return invalid(how)
    if y.kind == "infinite":
        return Result((0, 0x1FFFF, ONE))
    if y.kind == "zero":
        return with_operand_flag(Result((y.sign, 0, 0)), how, y)
    if floor_log2(y.value) <= -65471:
        return square_root(y, how)
    return with_operand_flag(Result(root_estimate(y), predicate=1), how, y)


def check_root(sf: int, fpsr: int, y: Register, p6: int) -> None:
    found = approximate(frsqrta(sf), sf, fpsr, (0, 0, 0), y, p6)
    if y == NATVAL:
        assert found == (NATVAL, 0, 0, 0, 0)
    else:
        assert found == complete(expected_root(decode(y), mode(fpsr, sf, "")), p6), y


@pytest.mark.slow
@examples(60)
@given(st.integers(0, 3), fpsrs, registers, st.integers(0, 1))
def test_reciprocal_root_or_root(sf: int, fpsr: int, y: Register, p6: int) -> None:
    check_root(sf, fpsr, y, p6)


@pytest.mark.slow
@examples(50)
@given(st.integers(0, 3), fpsrs, st.integers(0, 70), st.integers(1, (1 << 64) - 1))
def test_root_of_the_smallest_numbers_is_computed(sf: int, fpsr: int, exponent: int, significand: int) -> None:
    check_root(sf, fpsr, (0, exponent, significand), 0)


@pytest.mark.slow
def test_root_of_every_edge_operand() -> None:
    numbers = random.Random(10)
    for y in edge_registers(120, 11):
        check_root(numbers.randrange(4), legal_fpsr(numbers.getrandbits(58) | 0x3F), y, numbers.getrandbits(1))


def test_unqualified_approximation_clears_its_predicate_only() -> None:
    state = {"fr": {5: BEFORE, 8: (0, 0xFFFF, ONE), 9: (0, 0xFFFF, ONE)}, "fpsr": DEFAULT_FPSR}
    for encoding in (frcpa(0, 10), frsqrta(0, 10)):
        status, after = step("F", encoding, state | {"pr": 1 | P6})
        assert (status, after["fr"][5], after["pr"], after["mask"]) == (DONE, BEFORE, 1, 0)
        status, after = step("F", encoding, state | {"pr": 1 | P10})
        assert (status, after["pr"], after["mask"]) == (DONE, 1 | P6 | P10, 1 << 32)
        assert after["fr"][5] != BEFORE


# Columns of the tables that the manual prints with frcpa and frsqrta: every 8th entry, and both ends.
RECIP_TABLE = [
    0x3FC, 0x3BE, 0x384, 0x34D, 0x319, 0x2E8, 0x2BA, 0x28E, 0x264, 0x23C, 0x216, 0x1F2, 0x1CF, 0x1AE, 0x18F,
    0x171, 0x154, 0x138, 0x11D, 0x103, 0x0EB, 0x0D3, 0x0BC, 0x0A6, 0x091, 0x07C, 0x069, 0x056, 0x043, 0x031,
    0x020, 0x00F,
]  # fmt: skip
RECIP_SQRT_TABLE = [
    0x1A5, 0x17A, 0x153, 0x12F, 0x10D, 0x0EE, 0x0D1, 0x0B6, 0x09D, 0x085, 0x06F, 0x05A, 0x045, 0x033, 0x020,
    0x00F, 0x3FC, 0x3BF, 0x388, 0x354, 0x325, 0x2F9, 0x2D0, 0x2AA, 0x286, 0x264, 0x245, 0x227, 0x20A, 0x1F0,
    0x1D6, 0x1BE,
]  # fmt: skip


def test_tables_are_the_manuals() -> None:
    reciprocals, roots = tables()
    assert reciprocals[::8] == RECIP_TABLE
    assert roots[::8] == RECIP_SQRT_TABLE
    assert (reciprocals[255], roots[127], roots[255]) == (0x001, 0x001, 0x1AA)


def run_sequence(fr: dict[int, Register], *encodings: int) -> dict[int, Register]:
    """Registers after instructions that neither fault nor trap."""
    state = {"fr": fr, "fpsr": DEFAULT_FPSR, "pr": 1}
    for encoding in encodings:
        status, state = step("F", encoding, state)
        assert status == DONE
        state = {"fr": state["fr"], "fpsr": state["fpsr"], "pr": state["pr"]}
    result: dict[int, Register] = state["fr"]
    return result


FMA, FNMA, DOUBLE = 8, 12, 1
S0, S1 = 0, 1


@examples(60)
@given(
    st.floats(min_value=1e-120, max_value=1e120),
    st.floats(min_value=1e-120, max_value=1e120),
    st.sampled_from([1.0, -1.0]),
)
def test_iterated_reciprocal_divides_as_the_host_does(a: float, b: float, sign: float) -> None:
    """f8 = a, f9 = b: Newton's iteration on the reciprocal and one correction of the quotient."""
    a = a * sign
    registers_after = run_sequence(
        {8: from_float(a), 9: from_float(b)},
        frcpa(S0),  # f5 = about 1/b
        f1_format(FNMA, 0, S1, (6, 9, 5, 1)),  # e = 1 - b y
        f1_format(FMA, 0, S1, (5, 6, 5, 5)),  # y = y + e y
        f1_format(FMA, 0, S1, (6, 6, 6, 0)),  # e squared
        f1_format(FMA, 0, S1, (5, 6, 5, 5)),
        f1_format(FMA, 0, S1, (6, 6, 6, 0)),
        f1_format(FMA, 0, S1, (5, 6, 5, 5)),
        f1_format(FMA + DOUBLE, 0, S1, (10, 8, 5, 0)),  # q = a y
        f1_format(FNMA, 0, S1, (11, 9, 10, 8)),  # r = a - b q
        f1_format(FMA + DOUBLE, 0, S0, (12, 11, 5, 10)),  # q + r y
    )
    assert registers_after[12] == from_float(a / b)
