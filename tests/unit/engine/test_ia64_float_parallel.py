"""Parallel floating-point: each half against exact arithmetic of singles, and both together in ISR.code."""

from fractions import Fraction

import pytest
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from ia64_float_model import (
    NATVAL,
    ONE,
    Mode,
    Number,
    Register,
    Result,
    comparison,
    decode_single,
    encode,
    floor_log2,
    invalid,
    mode,
    multiply_add,
    nan_result,
    order,
    single_bits,
    special_quotient,
    to_integer,
    with_operand_flag,
)
from ia64_float_step import DEFAULT_FPSR, FP_FAULT, FP_TRAP, Outcome, f1_format, flags_of, fpsrs, run, with_x6

from pfmon.engine.ia64._ia64 import step

BEFORE = (1, 0x12345, 0x123456789ABCDEF0)
EDGES = [
    0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00001, 0xFFA00000, 0x7F800001, 1, 0x80000001, 0x007FFFFF,
    0x00800000, 0x00800001, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F800000, 0xBF800000, 0x4F000000, 0xCF000000,
    0x4EFFFFFF, 0x4F800000, 0x3EFFFFFF, 0x3F000000, 0x3FC00000, 0x00400000, 0x0C000000, 0x0C7FFFFF,
    0x7E000000, 0x7E7FFFFF, 0x7D800000,
]  # fmt: skip
singles = st.one_of(
    st.sampled_from(EDGES),
    st.integers(0, (1 << 32) - 1),
    st.integers(0x3D000000, 0x42000000),
    st.integers(0x3D000000, 0x42000000).map(lambda bits: bits | 1 << 31),
)
pairs = st.tuples(singles, singles)
Pair = tuple[int, int]
fields = st.integers(0, 3)


def register(pair: Pair) -> Register:
    """A pair (high, low) as a register."""
    return (0, 0x1003E, pair[0] << 32 | pair[1])


def trap_code(result: Result) -> int:
    """O, U, I, FPA as bits 0 to 3."""
    return result.trap >> 3


def pair_outcome(high: Result, low: Result, bits: Pair) -> Outcome:
    """What `run` should see; the high half has the places of a scalar operation in ISR.code."""
    if high.fault or low.fault:
        return BEFORE, 0, FP_FAULT, high.fault | low.fault << 4
    if high.trap or low.trap:
        code = 1 | trap_code(high) << 11 | trap_code(low) << 7
        return register(bits), high.flags | low.flags, FP_TRAP, code
    return register(bits), high.flags | low.flags, 0, 0


def bits_of(result: Result) -> int:
    """The single that a result stands for; trapped overflows and underflows keep 8 bits of the exponent."""
    if "exponent" not in result.extra:
        return single_bits(result.register)
    sign, _, significand = result.register
    return sign << 31 | ((result.extra["exponent"] + 127) % 256) << 23 | significand >> 40 & 0x7FFFFF


@pytest.mark.slow
@examples(200)
@given(st.sampled_from(["fpma", "fpms", "fpnma"]), fields, fpsrs, pairs, pairs, pairs, st.booleans())
def test_parallel_multiply_add(name: str, sf: int, fpsr: int, x: Pair, y: Pair, c: Pair, multiply: bool) -> None:
    op, product, addend = {"fpma": (9, 1, 1), "fpms": (11, 1, -1), "fpnma": (13, -1, 1)}[name]
    encoding = f1_format(op, 1, sf, (5, 6, 7, 0 if multiply else 8))
    found = run(encoding, {5: BEFORE, 6: register(x), 7: register(y), 8: register(c)}, fpsr, sf)
    how = mode(fpsr, sf, "parallel")
    high, low = (
        multiply_add(
            decode_single(x[i]),
            decode_single(y[i]),
            None if multiply else decode_single(c[i]),
            how,
            product,
            addend,
        )
        for i in range(2)
    )
    assert found == pair_outcome(high, low, (bits_of(high), bits_of(low)))


RELATIONS = {
    "eq": (0x30, "=", True), "lt": (0x31, "<", False), "le": (0x32, "<=", False),
    "unord": (0x33, "?", True), "neq": (0x34, "<>?", True), "nlt": (0x35, "=>?", False),
    "nle": (0x36, ">?", False), "ord": (0x37, "<=>", True),
}  # fmt: skip


@pytest.mark.slow
@examples(120)
@given(st.sampled_from(list(RELATIONS)), fields, fpsrs, pairs, pairs)
def test_parallel_comparison_gives_masks(name: str, sf: int, fpsr: int, x: Pair, y: Pair) -> None:
    x6, holds, quiet = RELATIONS[name]
    found = run(with_x6(1, sf, x6, 5, 8, 9), {5: BEFORE, 8: register(x), 9: register(y)}, fpsr, sf)
    operands = [(decode_single(x[i]), decode_single(y[i])) for i in range(2)]
    high, low = (comparison(a, b, quiet, mode(fpsr, sf, "parallel")) for a, b in operands)
    masks = [0xFFFFFFFF if order(a, b) in holds else 0 for a, b in operands]
    assert found == pair_outcome(high, low, (masks[0], masks[1]))


@pytest.mark.slow
@examples(120)
@given(st.sampled_from(["fpmin", "fpmax", "fpamin", "fpamax"]), fields, fpsrs, pairs, pairs)
def test_parallel_minimum_and_maximum(name: str, sf: int, fpsr: int, x: Pair, y: Pair) -> None:
    x6 = {"fpmin": 0x14, "fpmax": 0x15, "fpamin": 0x16, "fpamax": 0x17}[name]
    found = run(with_x6(1, sf, x6, 5, 8, 9), {5: BEFORE, 8: register(x), 9: register(y)}, fpsr, sf)
    high, low = (
        comparison(decode_single(x[i]), decode_single(y[i]), False, mode(fpsr, sf, "parallel")) for i in range(2)
    )
    clear = 0x7FFFFFFF if name.startswith("fpa") else 0xFFFFFFFF
    wanted = "<" if name.endswith("min") else ">"
    bits = [
        x[i] if order(decode_single(x[i] & clear), decode_single(y[i] & clear)) == wanted else y[i] for i in range(2)
    ]
    assert found == pair_outcome(high, low, (bits[0], bits[1]))


@pytest.mark.slow
@examples(160)
@given(st.booleans(), st.booleans(), fields, fpsrs, pairs)
def test_parallel_conversion_to_integers(signed: bool, truncate: bool, sf: int, fpsr: int, x: Pair) -> None:
    x6 = 0x18 + (not signed) + 2 * truncate
    found = run(with_x6(1, sf, x6, 5, 8), {5: BEFORE, 8: register(x)}, fpsr, sf)
    how = mode(fpsr, sf, "parallel")
    high, low = (to_integer(decode_single(half), 32, signed, truncate, how) for half in x)
    assert high.integer is not None
    assert low.integer is not None
    assert found == pair_outcome(high, low, (high.integer, low.integer))


def ten_digits(exact: Fraction, sign: int) -> Register:
    """A positive number as a register, to 10 bits after the leading one."""
    exponent = floor_log2(exact)
    return (sign, exponent + 65535, round(exact / Fraction(2) ** (exponent - 10)) << 53)


def expected_reciprocal(x: Number, y: Number, how: Mode) -> Result:
    """One half of fprcpa. Beyond the limits of the divisor the result is infinity or zero."""
    decided = special_quotient(x, y, how)
    if decided:
        return decided
    a, b = floor_log2(abs(x.value)), floor_log2(abs(y.value))
    if b < -126:
        return with_operand_flag(Result((y.sign, 0x1FFFF, ONE)), how, x, y)
    if b >= 125:
        return with_operand_flag(Result((y.sign, 0, 0)), how, x, y)
    unit = Fraction(2) ** (b - 8)
    estimate = ten_digits(1 / ((abs(y.value) // unit + Fraction(1, 2)) * unit), y.sign)
    useful = -125 < a - b < 127 and a >= -102
    return with_operand_flag(Result(estimate, predicate=int(useful)), how, x, y)


def found_with_p6(encoding: int, sf: int, fpsr: int, x: Pair, y: Pair) -> tuple[Register, int, int, int, int]:
    fr = {5: BEFORE, 8: register(x), 9: register(y)}
    _, after = step("F", encoding, {"fr": fr, "fpsr": fpsr, "pr": 1 | 1 << 6})
    p6 = after["pr"] >> 6 & 1
    return after["fr"].get(5, (0, 0, 0)), flags_of(after["fpsr"], sf), after["fault"], after["fault_code"], p6


@pytest.mark.slow
@examples(200)
@given(fields, fpsrs, pairs, pairs)
def test_parallel_reciprocal(sf: int, fpsr: int, x: Pair, y: Pair) -> None:
    """fprcpa f5,p6=f8,f9"""
    encoding = 1 << 37 | sf << 34 | 1 << 33 | 6 << 27 | 9 << 20 | 8 << 13 | 5 << 6
    how = mode(fpsr, sf, "parallel")
    high, low = (expected_reciprocal(decode_single(x[i]), decode_single(y[i]), how) for i in range(2))
    outcome = pair_outcome(high, low, (single_bits(high.register), single_bits(low.register)))
    p6 = 1 if outcome[2] else high.predicate & low.predicate
    assert found_with_p6(encoding, sf, fpsr, x, y) == (*outcome, p6)


def expected_root(y: Number, how: Mode) -> Result:
    """One half of fprsqrta."""
    decided = nan_result(how, y)
    if decided:
        return decided
    if y.sign and y.kind != "zero":
        return invalid(how)
    if y.kind == "infinite":
        return Result((0, 0, 0))
    if y.kind == "zero":
        return Result((y.sign, 0x1FFFF, ONE))
    exponent = floor_log2(y.value)
    unit = Fraction(2) ** (exponent - 7)
    middle = (y.value // unit + Fraction(1, 2)) * unit
    last_place = Fraction(2) ** (-11 - exponent // 2)
    target = 1 / (middle * last_place * last_place)
    n = next(n for n in range(1 << 10, 1 << 11) if (n + Fraction(1, 2)) ** 2 > target)
    register_ = encode(0, n * last_place, Mode(64, -65534, 65535, 0))
    return with_operand_flag(Result(register_, predicate=int(exponent >= -102)), how, y)


@pytest.mark.slow
@examples(60)
@given(fields, fpsrs, pairs)
def test_parallel_reciprocal_root(sf: int, fpsr: int, y: Pair) -> None:
    """fprsqrta f5,p6=f9"""
    encoding = 1 << 37 | 1 << 36 | sf << 34 | 1 << 33 | 6 << 27 | 9 << 20 | 5 << 6
    how = mode(fpsr, sf, "parallel")
    high, low = (expected_root(decode_single(half), how) for half in y)
    outcome = pair_outcome(high, low, (single_bits(high.register), single_bits(low.register)))
    p6 = 1 if outcome[2] else high.predicate & low.predicate
    assert found_with_p6(encoding, sf, fpsr, (0, 0), y) == (*outcome, p6)


def test_natval_in_any_source_gives_natval() -> None:
    plain = register((0x3F800000, 0x40000000))
    for encoding in (
        f1_format(9, 1, 0, (5, 6, 7, 8)),
        with_x6(1, 0, 0x30, 5, 6, 7),
        with_x6(1, 0, 0x14, 5, 6, 7),
    ):
        for which in (6, 7):
            fr = {6: plain, 7: plain, 8: plain, which: NATVAL}
            assert run(encoding, fr, DEFAULT_FPSR, 0)[0] == NATVAL
    assert run(with_x6(1, 0, 0x18, 5, 6), {6: NATVAL}, DEFAULT_FPSR, 0)[0] == NATVAL


def test_traps_of_both_halves_are_reported_together() -> None:
    """Overflow and inexact traps on. Rounding up: both halves get away
    from zero, largest**2 with an overflow, 1 + 2**-25 without."""
    fpsr = DEFAULT_FPSR & ~0x28 | 2 << 10
    largest, one = 0x7F7FFFFF, 0x3F800000
    fr = {6: register((largest, one)), 7: register((largest, one)), 8: register((0, 0x33000000))}
    found = run(f1_format(9, 1, 0, (5, 6, 7, 8)), fr, fpsr, 0)
    high, low = (1 | 4 | 8) << 11, (4 | 8) << 7  # overflow, inexact, away from zero; inexact, away from zero
    assert found[1:] == (0x28, FP_TRAP, 1 | high | low)
    assert found[0][2] & 0xFFFFFFFF == one + 1
