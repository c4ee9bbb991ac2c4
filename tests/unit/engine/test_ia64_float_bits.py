"""xma, fselect, merges and moves of parts of floating-point registers, against Python integers."""

from collections.abc import Callable

import pytest
from example_counts import examples
from grids import each
from hypothesis import given
from hypothesis import strategies as st
from ia64_float_model import NATVAL, Register
from ia64_float_step import DEFAULT_FPSR, f1_format, registers, run, with_x6

words = st.one_of(
    st.integers(0, (1 << 64) - 1),
    st.sampled_from([0, 1, 1 << 63, (1 << 64) - 1, (1 << 63) - 1, 1 << 31, 1 << 32, 0x80000000_7FFFFFFF]),
)
MASK = (1 << 64) - 1


def integer(value: int) -> Register:
    return (0, 0x1003E, value & MASK)


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


XMA = {  # x2, the 64 bits of the result from f3, f4, f2
    "xma.l": (0, lambda a, b, c: a * b + c),
    "xma.h": (3, lambda a, b, c: (signed(a) * signed(b) + c) >> 64),
    "xma.hu": (2, lambda a, b, c: (a * b + c) >> 64),
}


@pytest.mark.parametrize("name", XMA)
@examples(25)
@given(words, words, words)
def test_integer_multiply_add(name: str, a: int, b: int, c: int) -> None:
    """f2 is zero-extended; only significands are looked at."""
    x2, result = XMA[name]
    fr = {6: (1, 0x1ABCD, a), 7: (0, 0x1FFFF, b), 8: (1, 3, c)}
    assert run(f1_format(14, 1, x2, (5, 6, 7, 8)), fr, DEFAULT_FPSR, 0) == (integer(result(a, b, c)), 0, 0, 0)
    assert run(f1_format(14, 1, x2, (5, 6, 7, 0)), fr, DEFAULT_FPSR, 0)[0] == integer(result(a, b, 0))


@examples(60)
@given(words, words, words)
def test_select_takes_bits_of_f3_under_the_mask_f2(a: int, b: int, mask: int) -> None:
    fr = {6: integer(a), 7: integer(b), 8: integer(mask)}
    chosen = sum((a if mask >> bit & 1 else b) & 1 << bit for bit in range(64))
    assert run(f1_format(14, 0, 0, (5, 6, 7, 8)), fr, DEFAULT_FPSR, 0)[0] == integer(chosen)


@examples(60)
@given(registers, registers)
def test_merges_of_sign_and_exponent(x: Register, y: Register) -> None:
    if NATVAL in (x, y):
        expected = [NATVAL] * 3
    else:
        expected = [(x[0], y[1], y[2]), (1 - x[0], y[1], y[2]), (x[0], x[1], y[2])]
    for x6, result in zip((0x10, 0x11, 0x12), expected, strict=True):
        assert run(with_x6(0, 0, x6, 5, 8, 9), {8: x, 9: y}, DEFAULT_FPSR, 0) == (result, 0, 0, 0)


@examples(60)
@given(registers)
def test_absolute_value_negation_and_copy(x: Register) -> None:
    for encoding, result in (
        (with_x6(0, 0, 0x10, 5, 0, 9), (0, x[1], x[2])),
        (with_x6(0, 0, 0x11, 5, 0, 9), (1, x[1], x[2])),
        (with_x6(0, 0, 0x11, 5, 9, 9), (1 - x[0], x[1], x[2])),
        (with_x6(0, 0, 0x10, 5, 9, 9), x),
    ):
        assert run(encoding, {9: x}, DEFAULT_FPSR, 0)[0] == (NATVAL if x == NATVAL else result)


def high(word: int) -> int:
    return word >> 32


def low(word: int) -> int:
    return word & 0xFFFFFFFF


def sign_extension(half: int) -> int:
    return 0xFFFFFFFF if half >> 31 else 0


FLIP = 1 << 31
PARTS: dict[str, tuple[int, Callable[[int, int], tuple[int, int]]]] = {  # x6, halves of the result from f2 and f3
    "fand": (0x2C, lambda a, b: (high(a & b), low(a & b))),
    "fandcm": (0x2D, lambda a, b: (high(a & ~b), low(a & ~b))),
    "for": (0x2E, lambda a, b: (high(a | b), low(a | b))),
    "fxor": (0x2F, lambda a, b: (high(a ^ b), low(a ^ b))),
    "fswap": (0x34, lambda a, b: (low(b), high(a))),
    "fswap.nl": (0x35, lambda a, b: (low(b) ^ FLIP, high(a))),
    "fswap.nr": (0x36, lambda a, b: (low(b), high(a) ^ FLIP)),
    "fmix.lr": (0x39, lambda a, b: (high(a), low(b))),
    "fmix.r": (0x3A, lambda a, b: (low(a), low(b))),
    "fmix.l": (0x3B, lambda a, b: (high(a), high(b))),
    "fsxt.r": (0x3C, lambda a, b: (sign_extension(low(a)), low(b))),
    "fsxt.l": (0x3D, lambda a, b: (sign_extension(high(a)), high(b))),
}


@pytest.mark.slow
@each("name", PARTS)
@examples(25)
@given(words, words)
def test_parts_of_significands(name: str, a: int, b: int) -> None:
    x6, halves = PARTS[name]
    upper, lower = halves(a, b)
    fr = {8: (1, 77, a), 9: (0, 99, b)}
    assert run(with_x6(0, 0, x6, 5, 8, 9), fr, DEFAULT_FPSR, 0) == (integer(upper << 32 | lower), 0, 0, 0)


MERGES: dict[str, tuple[int, Callable[[int, int], int]]] = {  # x6, one half from halves of f2 and f3
    "fpmerge.s": (0x10, lambda a, b: a & FLIP | b & ~FLIP),
    "fpmerge.ns": (0x11, lambda a, b: ~a & FLIP | b & ~FLIP),
    "fpmerge.se": (0x12, lambda a, b: a & 0xFF800000 | b & 0x7FFFFF),
}


@pytest.mark.parametrize("name", MERGES)
@examples(25)
@given(words, words)
def test_parallel_merges(name: str, a: int, b: int) -> None:
    x6, half = MERGES[name]
    fr = {8: integer(a), 9: integer(b)}
    result = half(high(a), high(b)) << 32 | half(low(a), low(b))
    assert run(with_x6(1, 0, x6, 5, 8, 9), fr, DEFAULT_FPSR, 0)[0] == integer(result)
    same = half(high(b), high(b)) << 32 | half(low(b), low(b))
    assert run(with_x6(1, 0, x6, 5, 9, 9), fr, DEFAULT_FPSR, 0)[0] == integer(same)


@examples(60)
@given(st.integers(0, (1 << 32) - 1), st.integers(0, (1 << 32) - 1))
def test_pack_joins_two_singles(a: int, b: int) -> None:
    """Registers made from single bits by the definition of the format."""

    def from_bits(bits: int) -> Register:
        sign, exponent, fraction = bits >> 31, bits >> 23 & 0xFF, (bits & 0x7FFFFF) << 40
        if exponent == 0:
            return (sign, 0xFF81 if fraction else 0, fraction)
        return (sign, 0x1FFFF if exponent == 0xFF else exponent - 127 + 0xFFFF, 1 << 63 | fraction)

    fr = {8: from_bits(a), 9: from_bits(b)}
    assert run(with_x6(0, 0, 0x28, 5, 8, 9), fr, DEFAULT_FPSR, 0)[0] == integer(a << 32 | b)


def test_natval_in_a_source_gives_natval() -> None:
    for x6, _ in [*PARTS.values(), (0x28, None)]:
        for which in (8, 9):
            fr = {8: integer(1), 9: integer(2), which: NATVAL}
            assert run(with_x6(0, 0, x6, 5, 8, 9), fr, DEFAULT_FPSR, 0)[0] == NATVAL
    for x, x2 in ((1, 0), (1, 2), (1, 3), (0, 0)):
        for which in (6, 7, 8):
            fr = {6: integer(1), 7: integer(2), 8: integer(3), which: NATVAL}
            assert run(f1_format(14, x, x2, (5, 6, 7, 8)), fr, DEFAULT_FPSR, 0)[0] == NATVAL
