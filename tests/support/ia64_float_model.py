"""IA-64 floating-point arithmetic by exact rational numbers: what the engine's tests compare with.

Written from the manual's definitions (SDM volume 1, chapter 5), for clarity and without regard to speed: a
result is computed as a Fraction and rounded to a multiple of a power of two. Registers are (sign, exponent,
significand).
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from math import isqrt

Register = tuple[int, int, int]

BIAS = 65535
ONE = 1 << 63
V, D, Z, O, U, I = (1 << bit for bit in range(6))  # noqa: E741 - the manual's letters
FPA = 1 << 6  # of trap codes only
NATVAL: Register = (0, 0x1FFFE, 0)
INDEFINITE: Register = (1, 0x1FFFF, 3 << 62)
NEAREST, DOWN, UP, CHOP = range(4)


@dataclass(frozen=True)
class Number:
    """An operand: kind is zero, finite, infinite, quiet, signaling or unsupported."""

    kind: str
    sign: int
    value: Fraction = Fraction(0)
    unnormal: bool = False
    register: Register = (0, 0, 0)

    @property
    def is_nan(self) -> bool:
        return self.kind in ("quiet", "signaling")


@dataclass(frozen=True)
class Mode:
    """How to round and what faults or traps; width of the exponent field that wraps on a trap."""

    precision: int
    emin: int
    emax: int
    rounding: int
    flush: bool = False
    enabled: int = 0
    single: bool = False


@dataclass
class Result:
    """A register (or a single's bits), flags, and the exceptions that fault or trap."""

    register: Register = (0, 0, 0)
    flags: int = 0
    fault: int = 0
    trap: int = 0
    predicate: int = 0
    integer: int | None = None
    extra: dict[str, int] = field(default_factory=dict)


def mode(fpsr: int, sf: int, completer: str) -> Mode:
    """The mode of an instruction with completer "", ".s", ".d" or "parallel"."""
    bits = fpsr >> (6 + 13 * sf)
    wide = bits & 2
    precision = {"": {0: 24, 2: 53, 3: 64}.get(bits >> 2 & 3, 64), ".s": 24, ".d": 53, "parallel": 24}[completer]
    exponent_bits = {"": 15, ".s": 8, ".d": 11, "parallel": 8}[completer]
    if wide and completer != "parallel":
        exponent_bits = 17
    emax = (1 << (exponent_bits - 1)) - 1
    masked = 0x3F if sf and bits & 0x40 else fpsr & 0x3F
    return Mode(precision, 1 - emax, emax, bits >> 4 & 3, bool(bits & 1), 0x3F & ~masked, completer == "parallel")


@lru_cache(1 << 12)
def decode(register: Register) -> Number:
    """What a register other than NaTVal holds."""
    sign, exponent, significand = register
    if exponent == 0x1FFFF:
        if significand < ONE:
            return Number("unsupported", sign, register=register)
        if significand == ONE:
            return Number("infinite", sign)
        return Number("quiet" if significand >> 62 == 3 else "signaling", sign, register=register)
    if significand == 0:
        return Number("zero", sign, unnormal=exponent != 0)
    scale = (exponent - BIAS if exponent else -16382) - 63
    unnormal = exponent == 0 or significand < ONE
    return Number("finite", sign, significand * Fraction(2) ** scale * (-1) ** sign, unnormal)


def decode_single(bits: int) -> Number:
    """What a single-precision bit pattern stands for."""
    sign, exponent, fraction = bits >> 31, bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:
        if fraction == 0:
            return Number("infinite", sign)
        wide = (sign, 0x1FFFF, ONE | fraction << 40)
        return Number("quiet" if fraction >> 22 else "signaling", sign, register=wide)
    if exponent == 0:
        if fraction == 0:
            return Number("zero", sign)
        return Number("finite", sign, Fraction(fraction, 1 << 149) * (-1) ** sign, True)
    return Number("finite", sign, (fraction + (1 << 23)) * Fraction(2) ** (exponent - 150) * (-1) ** sign)


def floor_log2(x: Fraction) -> int:
    """The exponent of the leading one of a positive number."""
    estimate = x.numerator.bit_length() - x.denominator.bit_length()
    return estimate if Fraction(2) ** estimate <= x else estimate - 1


def to_multiple(magnitude: Fraction, exponent: int, sign: int, rounding: int) -> Fraction:
    """``magnitude`` rounded to a multiple of 2**exponent, in whole numbers: such fractions are slow to reduce."""
    above, below = magnitude.numerator << max(0, -exponent), magnitude.denominator << max(0, exponent)
    count, rest = divmod(above, below)
    if rest and (
        (rounding == NEAREST and (2 * rest > below or (2 * rest == below and count % 2)))
        or (rounding == UP and not sign)
        or (rounding == DOWN and sign)
    ):
        count += 1
    return Fraction(count << exponent) if exponent >= 0 else Fraction(count, 1 << -exponent)


def encode(sign: int, magnitude: Fraction, how: Mode) -> Register:
    """The register for a magnitude that the mode's range and precision can represent."""
    if magnitude == 0:
        return (sign, 0, 0)
    exponent = floor_log2(magnitude)
    if exponent >= how.emin:
        return (sign, exponent + BIAS, int(magnitude / Fraction(2) ** (exponent - 63)))
    significand = int(magnitude / Fraction(2) ** (how.emin - 63))
    return (sign, 0 if how.emin == -16382 else how.emin + BIAS, significand)


def single_bits(register: Register) -> int:
    """The 32 bits of a register that holds a single."""
    sign, exponent, significand = register
    if exponent == 0x1FFFF:
        biased = 0xFF
    elif significand < ONE:
        biased = 0
    else:
        biased = (exponent - BIAS + 127) % 256
    return sign << 31 | biased << 23 | significand >> 40 & 0x7FFFFF


def trapped(sign: int, rounded: Fraction, exact: Fraction, cause: int) -> Result:
    """The response to overflow or tininess when it traps: the exponent is unbounded, modulo its field."""
    exponent = floor_log2(rounded)
    register = (sign, (exponent + BIAS) % (1 << 17), int(rounded / Fraction(2) ** (exponent - 63)))
    found = cause | (I if rounded != exact else 0)
    return Result(register, found, trap=found | (FPA if rounded > exact else 0), extra={"exponent": exponent})


def deliver(sign: int, exact: Fraction, how: Mode) -> Result:
    """Round a positive magnitude, with everything that can happen."""
    unbounded = to_multiple(exact, floor_log2(exact) - how.precision + 1, sign, how.rounding)
    if unbounded >= Fraction(2) ** (how.emax + 1):
        if how.enabled & O:
            return trapped(sign, unbounded, exact, O)
        infinite = how.rounding == NEAREST or how.rounding == (DOWN if sign else UP)
        largest = (2 - Fraction(2) ** (1 - how.precision)) * Fraction(2) ** how.emax
        register = (sign, 0x1FFFF, ONE) if infinite else encode(sign, largest, how)
        return Result(register, O | I, trap=(I | (FPA if infinite else 0)) if how.enabled & I else 0)
    rounded = unbounded
    flags = 0
    if unbounded < Fraction(2) ** how.emin:
        if how.enabled & U:
            return trapped(sign, unbounded, exact, U)
        if how.flush:
            return Result((sign, 0, 0), U | I, trap=how.enabled & I)
        rounded = to_multiple(exact, how.emin - how.precision + 1, sign, how.rounding)
        flags = U if rounded != exact else 0
    if rounded != exact:
        flags |= I
    trap = I | (FPA if rounded > exact else 0) if flags & how.enabled & I else 0
    return Result(encode(sign, rounded, how), flags, trap=trap)


def faulting(result: Result, how: Mode) -> Result:
    """Note which of the flags so far fault."""
    result.fault = result.flags & how.enabled & (V | D | Z)
    return result


def invalid(how: Mode) -> Result:
    return faulting(Result(INDEFINITE, V), how)


def nan_result(how: Mode, *operands: Number) -> Result | None:
    """What unsupported operands and NaNs, in order of preference, make of an operation; None without any."""
    if any(operand.kind == "unsupported" for operand in operands):
        return invalid(how)
    nans = [operand for operand in operands if operand.is_nan]
    if not nans:
        return None
    sign, exponent, significand = nans[0].register
    flags = V if any(operand.kind == "signaling" for operand in nans) else 0
    return faulting(Result((sign, exponent, significand | 1 << 62), flags), how)


def with_operand_flag(result: Result, how: Mode, *operands: Number) -> Result:
    """Add D to a result if an operand is unnormal; it faults before anything else is seen."""
    if any(operand.unnormal for operand in operands):
        if how.enabled & D:
            return replace(result, flags=D, fault=D, trap=0)
        result.flags |= D
    return result


def multiply_add(x: Number, y: Number, addend: Number | None, how: Mode, product: int = 1, sum_: int = 1) -> Result:
    """product * (x y) + sum_ * addend, product and sum_ being 1 or -1; without an addend a multiplication."""
    third = addend or Number("zero", 0)
    decided = nan_result(how, y, third, x)
    if decided:
        return decided
    sign = x.sign ^ y.sign ^ (product < 0)
    third_sign = third.sign ^ (sum_ < 0)
    infinite = "infinite" in (x.kind, y.kind)
    if infinite:
        if any(factor.kind == "zero" and not factor.unnormal for factor in (x, y)):
            return invalid(how)
        if third.kind == "infinite" and third_sign != sign:
            return invalid(how)
    if infinite or third.kind == "infinite":
        return with_operand_flag(Result((sign if infinite else third_sign, 0x1FFFF, ONE)), how, x, y, third)
    exact = product * x.value * y.value + sum_ * third.value
    if exact:
        result = deliver(int(exact < 0), abs(exact), how)
    elif addend is None or (sign == third_sign and x.value * y.value == 0):
        result = Result((sign, 0, 0))
    else:
        result = Result((int(how.rounding == DOWN), 0, 0))
    return with_operand_flag(result, how, x, y, third)


def order(x: Number, y: Number) -> str:
    """One of < = > ? (unordered)."""
    if x.is_nan or y.is_nan or "unsupported" in (x.kind, y.kind):
        return "?"
    a, b = (int(n.kind == "infinite") * (-1) ** n.sign for n in (x, y))
    if a == b == 0:
        return "<" if x.value < y.value else ">" if x.value > y.value else "="
    return "<" if a < b else ">" if a > b else "="


def comparison(x: Number, y: Number, quiet: bool, how: Mode) -> Result:
    """The exceptions of comparing."""
    kinds = (x.kind, y.kind)
    if "unsupported" in kinds or "signaling" in kinds or ("quiet" in kinds and not quiet):
        return faulting(Result(flags=V), how)
    if "quiet" in kinds:
        return Result()
    return with_operand_flag(Result(), how, x, y)


def to_integer(x: Number, width: int, signed: bool, truncate: bool, how: Mode) -> Result:
    """fcvt.fx and relatives; ``integer`` has the bits."""
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    rounding = CHOP if truncate else how.rounding
    result = Result(integer=1 << (width - 1))
    if x.kind not in ("zero", "finite"):
        result.flags = V
        return faulting(result, how)
    magnitude = to_multiple(abs(x.value), 0, x.sign, rounding)
    value = int(magnitude) * (-1) ** x.sign
    if not low <= value <= high:
        result.flags = V
        return faulting(result, how)
    result.integer = value % (1 << width)
    if magnitude != abs(x.value):
        result.flags = I
        if how.enabled & I:
            result.trap = I | (FPA if magnitude > abs(x.value) else 0)
    return with_operand_flag(result, how, x)


def quotient(x: Number, y: Number, how: Mode) -> Result:
    return with_operand_flag(deliver(x.sign ^ y.sign, abs(x.value / y.value), how), how, x, y)


def special_quotient(x: Number, y: Number, how: Mode) -> Result | None:
    """The quotient where an operand is special, as frcpa and fprcpa deliver it; None where both are finite."""
    decided = nan_result(how, x, y)
    if decided:
        return decided
    sign = x.sign ^ y.sign
    if x.kind == y.kind and x.kind != "finite":
        return invalid(how)
    if y.kind == "zero" and x.kind == "finite":
        return faulting(Result((sign, 0x1FFFF, ONE), Z), how)
    if x.kind == "infinite":
        return with_operand_flag(Result((sign, 0x1FFFF, ONE)), how, x, y)
    if x.kind == "zero" or y.kind == "infinite":
        return with_operand_flag(Result((sign, 0, 0)), how, x, y)
    return None


def square_root(x: Number, how: Mode) -> Result:
    """By an integer square root of 200 bits with a last bit for what follows."""
    scale = 2 * ((floor_log2(x.value) // 2) - 200)
    scaled = x.value / Fraction(2) ** scale
    root = isqrt(int(scaled))
    exact = Fraction(root) if root * root == scaled else Fraction(2 * root + 1, 2)
    return with_operand_flag(deliver(0, exact * Fraction(2) ** (scale // 2), how), how, x)
