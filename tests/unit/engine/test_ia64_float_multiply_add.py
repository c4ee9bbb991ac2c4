"""fma, fms, fnma against exact rational arithmetic, and against the host's doubles."""

import itertools
import math
import random
from fractions import Fraction

import pytest
from example_counts import examples
from grids import each
from hypothesis import given
from hypothesis import strategies as st
from ia64_float_model import NATVAL, ONE, Register, Result, decode, mode, multiply_add
from ia64_float_step import (
    DEFAULT_FPSR,
    Outcome,
    edge_registers,
    f1_format,
    fpsrs,
    from_float,
    legal_fpsr,
    normal_registers,
    registers,
    run,
    scalar_outcome,
)

from pfmon.engine.ia64._ia64 import step

# Mnemonic: opcode, signs of the product and of the addend.
OPERATIONS = {"fma": (8, 1, 1), "fms": (10, 1, -1), "fnma": (12, -1, 1)}
# Completer: added to the opcode, x.
COMPLETERS = {"": (0, 0), ".s": (0, 1), ".d": (1, 0)}
STICKY_I = sum(1 << (18 + 13 * sf) for sf in range(4))
BEFORE = (1, 0x12345, 0x123456789ABCDEF0)


def execute(name: str, completer: str, sf: int, fpsr: int, x: Register, y: Register, c: Register) -> Outcome:
    """f5 = x * y + c, with f6, f7 and f8."""
    opcode, added = OPERATIONS[name][0], COMPLETERS[completer]
    encoding = f1_format(opcode + added[0], added[1], sf, (5, 6, 7, 8))
    return run(encoding, {5: BEFORE, 6: x, 7: y, 8: c}, fpsr, sf)


def expected(name: str, completer: str, sf: int, fpsr: int, x: Register, y: Register, c: Register) -> Outcome:
    if NATVAL in (x, y, c):
        return scalar_outcome(Result(NATVAL), BEFORE)
    _, product, addend = OPERATIONS[name]
    how = mode(fpsr, sf, completer)
    return scalar_outcome(multiply_add(decode(x), decode(y), decode(c), how, product, addend), BEFORE)


names = st.sampled_from(list(OPERATIONS))
completers = st.sampled_from(list(COMPLETERS))
fields = st.integers(0, 3)


zeros = st.sampled_from([(0, 0, 0), (1, 0, 0)])


@pytest.mark.slow
@examples(120)
@given(
    names,
    completers,
    fpsrs,
    zeros,
    st.one_of(zeros, registers),
    st.one_of(zeros, normal_registers, registers),
)
def test_zero_as_a_factor(name: str, completer: str, fpsr: int, x: Register, y: Register, c: Register) -> None:
    for factors in ((x, y), (y, x)):
        what = (name, completer, 3, fpsr, *factors, c)
        assert execute(*what) == expected(*what)


few_bits = st.builds(
    lambda sign, exponent, bits: (sign, 0xFFFF + exponent, bits << (64 - bits.bit_length())),
    st.integers(0, 1),
    st.sampled_from([*range(-60, 60), -257, -256, -255, 254, 255, 256, 257]),
    st.one_of(st.integers(1, 1 << 12), st.integers(1, 1 << 27), st.integers(1, 1 << 53)),
)


@pytest.mark.slow
@examples(300)
@given(names, fields, few_bits, few_bits, few_bits, st.booleans())
def test_inexact_is_told_for_doubles_of_few_bits(
    name: str, sf: int, x: Register, y: Register, c: Register, masked: bool
) -> None:
    """Where products and sums often are exact."""
    fpsr = 0x3F if masked else 0x1F
    for factor, addend in ((y, c), ((0, 0xFFFF, ONE), c), (y, (0, 0, 0))):
        what = (name, ".d", sf, fpsr, x, factor, addend)
        assert execute(*what) == expected(*what)
    one, zero = (0, 0xFFFF, ONE), None
    opcode, product, addend_sign = OPERATIONS[name]
    for registers_, factor, addend in (((5, 6, 1, 8), one, c), ((5, 6, 7, 0), y, zero)):
        found = run(f1_format(opcode + 1, 0, sf, registers_), {5: BEFORE, 6: x, 7: y, 8: c}, fpsr, sf)
        operand = decode(addend) if addend else None
        result = multiply_add(decode(x), decode(factor), operand, mode(fpsr, sf, ".d"), product, addend_sign)
        assert found == scalar_outcome(result, BEFORE)


@pytest.mark.slow
@examples(240)
@given(names, completers, fields, fpsrs, registers, registers, registers)
def test_multiply_add_equals_exact_arithmetic_rounded_once(
    name: str, completer: str, sf: int, fpsr: int, x: Register, y: Register, c: Register
) -> None:
    assert execute(name, completer, sf, fpsr, x, y, c) == expected(name, completer, sf, fpsr, x, y, c)


@pytest.mark.slow
@examples(240)
@given(names, completers, fields, fpsrs, normal_registers, normal_registers, normal_registers)
def test_multiply_add_of_normal_numbers_equals_exact_arithmetic(
    name: str, completer: str, sf: int, fpsr: int, x: Register, y: Register, c: Register
) -> None:
    assert execute(name, completer, sf, fpsr, x, y, c) == expected(name, completer, sf, fpsr, x, y, c)


@pytest.mark.slow
@examples(160)
@given(names, completers, fpsrs, normal_registers, normal_registers, st.integers(-3, 3), st.integers(-2, 2))
def test_cancellation_is_exact(
    name: str, completer: str, fpsr: int, x: Register, y: Register, ulps: int, exponent: int
) -> None:
    product = abs(decode(x).value * decode(y).value)
    how = mode(0x33F | 0xC << 6, 0, "")
    near = multiply_add(decode(x), decode(y), None, how).register
    significand = max(ONE, min((1 << 64) - 1, near[2] + ulps))
    assert product
    for sign in (0, 1):
        c = (sign, near[1] + exponent, significand)
        assert execute(name, completer, 1, fpsr, x, y, c) == expected(name, completer, 1, fpsr, x, y, c)


@each("bits", range(24, 31))
def test_products_of_about_53_bits_are_exact_or_not(bits: int) -> None:
    """The largest odd factors: their product has all the bits that it can have."""

    def largest(count: int) -> Register:
        return (0, 0xFFFF, ((1 << count) - 1) << (64 - count))

    for other in range(52 - bits, 56 - bits):
        x, y = largest(bits), largest(other)
        for c in ((0, 0xFFFF, ONE), (1, 0xFFFF + 1, ONE), (1, 0xFFFF - 60, ONE)):
            assert execute("fma", ".d", 0, 0x3F, x, y, c) == expected("fma", ".d", 0, 0x3F, x, y, c)
        found = run(f1_format(9, 0, 0, (5, 6, 7, 0)), {6: x, 7: y}, 0x3F, 0)
        assert found == scalar_outcome(multiply_add(decode(x), decode(y), None, mode(0x3F, 0, ".d")), BEFORE)


def compare_all(count: int, seed: int, sampled: int | None = None) -> None:
    """Every triple of edge operands, or so many of them, each in a random mode."""
    numbers = random.Random(seed)
    triples = list(itertools.product(edge_registers(count, seed), repeat=3))
    for x, y, c in triples if sampled is None else numbers.sample(triples, sampled):
        name, completer = numbers.choice(list(OPERATIONS)), numbers.choice(list(COMPLETERS))
        sf = numbers.randrange(4)
        fpsr = legal_fpsr(numbers.getrandbits(58) | numbers.choice([0, 0x3F]))
        what = (name, completer, sf, fpsr, x, y, c)
        assert execute(*what) == expected(*what), what


def test_every_combination_of_special_operands() -> None:
    compare_all(13, 1)


@pytest.mark.slow
def test_some_combinations_of_many_edge_operands() -> None:
    compare_all(26, 2, 800)


@pytest.mark.exhaustive
def test_every_combination_of_many_edge_operands() -> None:
    compare_all(26, 2)


def host_fma(x: float, y: float, c: float) -> float | None:
    """x y + c by Python's conversion of fractions; None where a sign of zero is at stake."""
    exact = Fraction(x) * Fraction(y) + Fraction(c)
    try:
        rounded = float(exact)
    except OverflowError:
        rounded = math.inf if exact > 0 else -math.inf
    return rounded if exact else None


doubles = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(min_value=-1e80, max_value=1e80)


@pytest.mark.slow
@examples(200)
@given(st.one_of(doubles, moderate), st.one_of(doubles, moderate), st.one_of(doubles, moderate), st.booleans())
def test_double_multiply_add_equals_the_hosts(x: float, y: float, c: float, sticky: bool) -> None:
    """With the inexact flag set before (the way through the host's arithmetic) and without."""
    result = host_fma(x, y, c)
    if result is None or (x * y == 0 and c == 0):
        return
    fpsr = DEFAULT_FPSR
    fr = {6: from_float(x), 7: from_float(y), 8: from_float(c)}
    encoding = f1_format(9, 0, 0, (5, 6, 7, 8))
    assert run_with(encoding, fr, fpsr | (STICKY_I if sticky else 0)) == from_float(result)


def run_with(encoding: int, fr: dict[int, Register], fpsr: int) -> Register:
    """f5 after an instruction that neither faults nor traps."""
    status, after = step("F", encoding, {"fr": fr, "fpsr": fpsr})
    assert status == 7
    assert after["fpsr"] & fpsr == fpsr
    result: Register = after["fr"].get(5, (0, 0, 0))
    return result


@examples(120)
@given(moderate, moderate, st.booleans())
def test_double_sum_and_product_equal_the_hosts(x: float, y: float, sticky: bool) -> None:
    fpsr = DEFAULT_FPSR | (STICKY_I if sticky else 0)
    fr = {6: from_float(x), 8: from_float(y)}
    assert run_with(f1_format(9, 0, 0, (5, 6, 1, 8)), fr, fpsr) == from_float(x + y)
    assert run_with(f1_format(11, 0, 0, (5, 6, 1, 8)), fr, fpsr) == from_float(x - y)
    assert run_with(f1_format(9, 0, 0, (5, 6, 8, 0)), fr, fpsr) == from_float(x * y)
    assert run_with(f1_format(13, 0, 0, (5, 6, 8, 0)), fr, fpsr) == from_float(-(x * y))


@pytest.mark.slow
@examples(120)
@given(names, completers, fields, fpsrs, registers, registers)
def test_addend_f0_means_multiplication(
    name: str, completer: str, sf: int, fpsr: int, x: Register, y: Register
) -> None:
    """-0 stays -0: nothing is added (SDM volume 3, fma)."""
    opcode, product, _ = OPERATIONS[name]
    added = COMPLETERS[completer]
    encoding = f1_format(opcode + added[0], added[1], sf, (5, 6, 7, 0))
    found = run(encoding, {5: BEFORE, 6: x, 7: y}, fpsr, sf)
    if NATVAL in (x, y):
        result = Result(NATVAL)
    else:
        result = multiply_add(decode(x), decode(y), None, mode(fpsr, sf, completer), product)
    assert found == scalar_outcome(result, BEFORE)


@pytest.mark.slow
@examples(80)
@given(names, completers, fpsrs, registers)
def test_factor_f1_gives_a_sum_or_a_normalized_value(name: str, completer: str, fpsr: int, x: Register) -> None:
    opcode, product, addend = OPERATIONS[name]
    added = COMPLETERS[completer]
    how = mode(fpsr, 2, completer)
    one = (0, 0xFFFF, ONE)
    for f2, c in ((8, (1, 0xFFFE, 0xC000000000000000)), (0, None), (1, one)):
        fr = {5: BEFORE, 6: x} | ({8: c} if f2 == 8 and c else {})
        found = run(f1_format(opcode + added[0], added[1], 2, (5, 6, 1, f2)), fr, fpsr, 2)
        if x == NATVAL:
            result = Result(NATVAL)
        else:
            result = multiply_add(decode(x), decode(one), decode(c) if c else None, how, product, addend)
        assert found == scalar_outcome(result, BEFORE)


def test_flags_stay_set() -> None:
    """A status field only ever gains flags; other fields are not touched."""
    third = (0, 0xFFFD, 0xAAAAAAAAAAAAAAAB)
    fpsr = DEFAULT_FPSR | 1 << 13
    _, after = step("F", f1_format(9, 0, 0, (5, 6, 6, 6)), {"fr": {6: third}, "fpsr": fpsr})
    assert after["fpsr"] == fpsr | 1 << 18
