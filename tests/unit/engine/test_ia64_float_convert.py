"""fcvt.fx and relatives, fcvt.xf, setf and getf, against integers, fractions and the host's formats."""

import struct
from fractions import Fraction

import pytest
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from ia64_float_model import NATVAL, ONE, Register, Result, decode, mode, to_integer
from ia64_float_step import DEFAULT_FPSR, fpsrs, registers, run, scalar_outcome, with_x6

from pfmon.engine.ia64._ia64 import step

BEFORE = (1, 0x12345, 0x123456789ABCDEF0)
FORMS = {  # x6, signed, truncating
    "fcvt.fx": (0x18, True, False),
    "fcvt.fxu": (0x19, False, False),
    "fcvt.fx.trunc": (0x1A, True, True),
    "fcvt.fxu.trunc": (0x1B, False, True),
}
near_integers = st.tuples(
    st.integers(0, 1),
    st.integers(0xFFFF - 3, 0xFFFF + 66),
    st.one_of(st.integers(ONE, (1 << 64) - 1), st.integers(0, 40).map(lambda n: ONE | n << 57), st.just(ONE)),
)


@pytest.mark.slow
@examples(240)
@given(st.sampled_from(list(FORMS)), st.integers(0, 3), fpsrs, st.one_of(near_integers, registers))
def test_conversion_to_integer_rounds_the_exact_value(form: str, sf: int, fpsr: int, x: Register) -> None:
    x6, signed, truncating = FORMS[form]
    found = run(with_x6(0, sf, x6, 5, 8), {5: BEFORE, 8: x}, fpsr, sf)
    if x == NATVAL:
        result = Result(NATVAL)
    else:
        result = to_integer(decode(x), 64, signed, truncating, mode(fpsr, sf, ""))
        assert result.integer is not None
        result.register = (0, 0x1003E, result.integer)
    assert found == scalar_outcome(result, BEFORE)


def test_limits_of_signed_and_unsigned_conversion() -> None:
    minus_2_63, plus_2_63, largest = (1, 0x1003E, ONE), (0, 0x1003E, ONE), (0, 0x1003E, (1 << 64) - 1)
    indefinite = (0, 0x1003E, ONE)
    fx, fxu = with_x6(0, 0, 0x1A, 5, 8), with_x6(0, 0, 0x1B, 5, 8)
    assert run(fx, {8: minus_2_63}, DEFAULT_FPSR, 0) == (indefinite, 0, 0, 0)
    assert run(fx, {8: plus_2_63}, DEFAULT_FPSR, 0) == (indefinite, 1, 0, 0)
    assert run(fxu, {8: largest}, DEFAULT_FPSR, 0) == (largest, 0, 0, 0)
    assert run(fxu, {8: (1, 0xFFFF, ONE)}, DEFAULT_FPSR, 0) == (indefinite, 1, 0, 0)


@examples(60)
@given(st.one_of(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(-70, 70)))
def test_conversion_from_signed_integer_is_exact(value: int) -> None:
    found = run(0x1C << 27 | 8 << 13 | 5 << 6, {8: (1, 0x33, value % (1 << 64))}, DEFAULT_FPSR, 0)
    assert found[1:] == (0, 0, 0)
    number = decode(found[0])
    assert number.value == value
    assert not number.unnormal


def test_conversion_of_natval_is_natval() -> None:
    assert run(0x1C << 27 | 8 << 13 | 5 << 6, {8: NATVAL}, DEFAULT_FPSR, 0)[0] == NATVAL


def setf(x6: int, value: int) -> Register:
    """setf f5=r9"""
    status, after = step("M", 6 << 37 | x6 << 30 | 1 << 27 | 9 << 13 | 5 << 6, {"gr": {9: value}})
    assert status == 7
    result: Register = after["fr"].get(5, (0, 0, 0))
    return result


def getf(x6: int, register: Register) -> int:
    """getf r9=f5"""
    status, after = step("M", 4 << 37 | x6 << 30 | 1 << 27 | 5 << 13 | 9 << 6, {"fr": {5: register}})
    assert status == 7
    result: int = after["gr"].get(9, 0)
    return result


SIG, EXP, SINGLE, DOUBLE = 0x1C, 0x1D, 0x1E, 0x1F


@examples(60)
@given(st.floats(allow_nan=False))
def test_double_moves_to_register_format_and_back(value: float) -> None:
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    register = setf(DOUBLE, bits)
    number = decode(register)
    assert number.kind == "infinite" if value in (float("inf"), float("-inf")) else number.value == Fraction(value)
    assert number.sign == bits >> 63
    assert getf(DOUBLE, register) == bits


@examples(60)
@given(st.floats(width=32, allow_nan=False))
def test_single_moves_to_register_format_and_back(value: float) -> None:
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    register = setf(SINGLE, bits)
    number = decode(register)
    assert number.kind == "infinite" if value in (float("inf"), float("-inf")) else number.value == Fraction(value)
    assert number.sign == bits >> 31
    assert getf(SINGLE, register) == bits


@examples(60)
@given(st.integers(1, (1 << 52) - 1), st.integers(0, 1))
def test_nan_payload_survives_the_move(payload: int, sign: int) -> None:
    bits = sign << 63 | 0x7FF << 52 | payload
    register = setf(DOUBLE, bits)
    assert register == (sign, 0x1FFFF, ONE | payload << 11)
    assert decode(register).kind == ("quiet" if payload >> 51 else "signaling")
    assert getf(DOUBLE, register) == bits


@examples(60)
@given(st.integers(0, (1 << 64) - 1))
def test_significand_and_exponent_moves(value: int) -> None:
    assert setf(SIG, value) == (0, 0x1003E, value)
    assert setf(EXP, value) == (value >> 17 & 1, value & 0x1FFFF, ONE)
    assert getf(SIG, (1, 0x123, value)) == value
    assert getf(EXP, (value >> 17 & 1, value & 0x1FFFF, 77)) == value & 0x3FFFF
