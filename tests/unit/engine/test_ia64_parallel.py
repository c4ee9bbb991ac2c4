"""Parallel (multimedia) integer instructions against lists of Python integers (SDM volume 3)."""

from collections.abc import Callable

from grids import each
from hypothesis import given
from hypothesis import strategies as st
from ia64_forms import MASK, Model, check_result, forms, signed

Lanes = list[int]  # the least significant lane first


def lanes(value: int, width: int) -> Lanes:
    return [value % 2**64 // 2 ** (width * lane) % 2**width for lane in range(64 // width)]


def signed_lanes(value: int, width: int) -> Lanes:
    return [signed(lane, width) for lane in lanes(value, width)]


def join(values: Lanes, width: int) -> int:
    return sum(value % 2**width * 2 ** (width * lane) for lane, value in enumerate(values))


def clip(value: int, low: int, high: int) -> int:
    return sorted((low, value, high))[1]


def clip_signed(value: int, width: int) -> int:
    return clip(value, -(2 ** (width - 1)), 2 ** (width - 1) - 1)


def clip_unsigned(value: int, width: int) -> int:
    return clip(value, 0, 2**width - 1)


def lanewise(width: int, of_x: Callable[[int, int], Lanes], of_y: Callable[[int, int], Lanes],
             result: Callable[[int, int], int]) -> Model:  # fmt: skip
    """A model that works on pairs of lanes of r2 and r3."""
    return lambda v: join([result(x, y) for x, y in zip(of_x(v.r2, width), of_y(v.r3, width), strict=True)], width)


def plus(x: int, y: int) -> int:
    return x + y


def minus(x: int, y: int) -> int:
    return x - y


def shift_left_add(x: int, y: int, count: int) -> int:
    """A shift that overflows saturates, and nothing is added to it."""
    shifted = x * 2**count
    return clip_signed(shifted, 16) if clip_signed(shifted, 16) != shifted else clip_signed(shifted + y, 16)


def models_of_width(width: int) -> dict[str, Model]:
    """Instructions that exist for several lane widths."""
    size = width // 8
    found: dict[str, Model] = {}
    for name, combine in (("padd", plus), ("psub", minus)):
        found[f"{name}{size} r1=r2,r3"] = lanewise(width, lanes, lanes, combine)
        if size < 4:
            found[f"{name}{size}.sss r1=r2,r3"] = lanewise(
                width, signed_lanes, signed_lanes, lambda x, y, f=combine: clip_signed(f(x, y), width)
            )
            found[f"{name}{size}.uuu r1=r2,r3"] = lanewise(
                width, lanes, lanes, lambda x, y, f=combine: clip_unsigned(f(x, y), width)
            )
            found[f"{name}{size}.uus r1=r2,r3"] = lanewise(
                width, lanes, signed_lanes, lambda x, y, f=combine: clip_unsigned(f(x, y), width)
            )
    if size < 4:
        # The sum's two lowest bits decide the result's lowest one.
        found[f"pavg{size} r1=r2,r3"] = lanewise(width, lanes, lanes, lambda x, y: (x + y) // 2 | (x + y) % 2)
        found[f"pavg{size}.raz r1=r2,r3"] = lanewise(width, lanes, lanes, lambda x, y: (x + y + 1) // 2)
        found[f"pavgsub{size} r1=r2,r3"] = lanewise(width, lanes, lanes, lambda x, y: (x - y) // 2 | (x - y) % 2)
    found[f"pcmp{size}.eq r1=r2,r3"] = lanewise(width, lanes, lanes, lambda x, y: -1 if x == y else 0)
    found[f"pcmp{size}.gt r1=r2,r3"] = lanewise(width, signed_lanes, signed_lanes, lambda x, y: -1 if x > y else 0)
    half = 64 // width // 2
    found[f"mix{size}.r r1=r2,r3"] = lambda v: alternating(lanes(v.r2, width)[0::2], lanes(v.r3, width)[0::2], width)
    found[f"mix{size}.l r1=r2,r3"] = lambda v: alternating(lanes(v.r2, width)[1::2], lanes(v.r3, width)[1::2], width)
    found[f"unpack{size}.l r1=r2,r3"] = lambda v: alternating(
        lanes(v.r2, width)[:half], lanes(v.r3, width)[:half], width
    )
    found[f"unpack{size}.h r1=r2,r3"] = lambda v: alternating(
        lanes(v.r2, width)[half:], lanes(v.r3, width)[half:], width
    )
    return found


def alternating(x: Lanes, y: Lanes, width: int) -> int:
    """Lanes of both in turn; the least significant is one of y."""
    return join([lane for pair in zip(y, x, strict=True) for lane in pair], width)


def narrow(clipped: Callable[[int, int], int], width: int) -> Model:
    """pack: lanes of r2 in the lower half, of r3 in the upper, half as wide."""
    half = width // 2
    return lambda v: join([clipped(lane, half) for lane in signed_lanes(v.r2, width) + signed_lanes(v.r3, width)], half)


def shifts_of_width(width: int) -> dict[str, Model]:
    size = width // 8

    def left(value: int, count: int) -> int:
        return join([lane * 2 ** min(count, 64) for lane in lanes(value, width)], width)

    def right(value: int, count: int) -> int:
        return join([lane // 2 ** min(count, 64) for lane in signed_lanes(value, width)], width)

    def right_unsigned(value: int, count: int) -> int:
        return join([lane // 2 ** min(count, 64) for lane in lanes(value, width)], width)

    return {
        f"pshl{size} r1=r2,r3": lambda v: left(v.r2, v.r3),
        f"pshl{size} r1=r2,count5": lambda v: left(v.r2, v.count5),
        f"pshr{size} r1=r3,r2": lambda v: right(v.r3, v.r2),
        f"pshr{size} r1=r3,count5": lambda v: right(v.r3, v.count5),
        f"pshr{size}.u r1=r3,r2": lambda v: right_unsigned(v.r3, v.r2),
        f"pshr{size}.u r1=r3,count5": lambda v: right_unsigned(v.r3, v.count5),
    }


def permuted(order: str) -> Model:
    """mux1: for every byte of the result, leftmost first, the number of the source's byte."""
    return lambda v: join([lanes(v.r2, 8)[int(digit)] for digit in reversed(order)], 8)


MODELS: dict[str, Model] = {
    **models_of_width(8),
    **models_of_width(16),
    **models_of_width(32),
    **shifts_of_width(16),
    **shifts_of_width(32),
    "pshladd2 r1=r2,count2,r3": lambda v: lanewise(
        16, signed_lanes, signed_lanes, lambda x, y: shift_left_add(x, y, v.count2)
    )(v),
    "pshradd2 r1=r2,count2,r3": lambda v: lanewise(
        16, signed_lanes, signed_lanes, lambda x, y: clip_signed(x // 2**v.count2 + y, 16)
    )(v),
    "pmpyshr2 r1=r2,r3,count2": lambda v: lanewise(16, signed_lanes, signed_lanes, lambda x, y: x * y // 2**v.count2)(
        v
    ),
    "pmpyshr2.u r1=r2,r3,count2": lambda v: lanewise(16, lanes, lanes, lambda x, y: x * y // 2**v.count2)(v),
    "pmpy2.r r1=r2,r3": lambda v: join(
        [x * y for x, y in zip(signed_lanes(v.r2, 16)[0::2], signed_lanes(v.r3, 16)[0::2], strict=True)], 32
    ),
    "pmpy2.l r1=r2,r3": lambda v: join(
        [x * y for x, y in zip(signed_lanes(v.r2, 16)[1::2], signed_lanes(v.r3, 16)[1::2], strict=True)], 32
    ),
    "pack2.sss r1=r2,r3": narrow(clip_signed, 16),
    "pack2.uss r1=r2,r3": narrow(clip_unsigned, 16),
    "pack4.sss r1=r2,r3": narrow(clip_signed, 32),
    "pmin1.u r1=r2,r3": lanewise(8, lanes, lanes, min),
    "pmax1.u r1=r2,r3": lanewise(8, lanes, lanes, max),
    "pmin2 r1=r2,r3": lanewise(16, signed_lanes, signed_lanes, min),
    "pmax2 r1=r2,r3": lanewise(16, signed_lanes, signed_lanes, max),
    "psad1 r1=r2,r3": lambda v: sum(abs(x - y) for x, y in zip(lanes(v.r2, 8), lanes(v.r3, 8), strict=True)),
    "mux1 r1=r2,@brcst": permuted("00000000"),
    "mux1 r1=r2,@mix": permuted("73516240"),
    "mux1 r1=r2,@shuf": permuted("73625140"),
    "mux1 r1=r2,@alt": permuted("75316420"),
    "mux1 r1=r2,@rev": permuted("01234567"),
    "mux2 r1=r2,mhtype8": lambda v: join([lanes(v.r2, 16)[v.mhtype8 // 4**lane % 4] for lane in range(4)], 16),
}

PARALLEL = forms("A9", "A10", "I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8")


def test_every_form_has_a_model() -> None:
    full_width = {"shl r1=r2,r3", "shr r1=r3,r2", "shr.u r1=r3,r2"}
    assert PARALLEL - full_width == set(MODELS)


@each("text", MODELS)
def test_result_is_the_models(text: str) -> None:
    check_result(text, MODELS[text])


@given(st.integers(0, MASK))
def test_models_take_lanes_apart_and_join_them(value: int) -> None:
    for width in (8, 16, 32):
        assert join(lanes(value, width), width) == value
