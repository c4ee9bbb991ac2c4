"""One F-unit instruction on given registers, and registers worth trying."""

import random
import struct

from hypothesis import strategies as st
from ia64_float_model import ONE, Register, Result

from pfmon.engine.ia64._ia64 import step
from pfmon.isa.ia64 import instruction_set  # noqa: F401 - fills the decoder's tables

DEFAULT_FPSR = 0x9804C0270033F
DONE, FAULT = 7, 4
FP_FAULT, FP_TRAP = 12, 13

Outcome = tuple[Register, int, int, int]  # f1, flags of the status field, fault, ISR.code


def f1_format(op: int, x: int, sf: int, registers: tuple[int, int, int, int]) -> int:
    """The encoding of a four-operand instruction: f1, f3, f4, f2 as assembler writes them."""
    f1, f3, f4, f2 = registers
    return op << 37 | x << 36 | sf << 34 | f4 << 27 | f3 << 20 | f2 << 13 | f1 << 6


def with_x6(op: int, sf: int, x6: int, f1: int, f2: int, f3: int = 0) -> int:
    """Formats F8 to F11."""
    return op << 37 | sf << 34 | x6 << 27 | f3 << 20 | f2 << 13 | f1 << 6


def flags_of(fpsr: int, sf: int) -> int:
    return fpsr >> (13 + 13 * sf) & 0x3F


def run(encoding: int, fr: dict[int, Register], fpsr: int, sf: int, target: int = 5) -> Outcome:
    """Execute; the flags of the status field have to be clear before."""
    status, after = step("F", encoding, {"fr": fr, "fpsr": fpsr})
    assert status == (FAULT if after["fault"] else DONE)
    others = 0x3F << (13 + 13 * sf)
    assert after["fpsr"] & ~others == fpsr & ~others
    return (
        after["fr"].get(target, (0, 0, 0)),
        flags_of(after["fpsr"], sf),
        after["fault"],
        after["fault_code"],
    )


def scalar_outcome(result: Result, before: Register) -> Outcome:
    """What `run` should see (SDM volume 2, ISR.code of floating-point faults and traps)."""
    if result.fault:
        return before, 0, FP_FAULT, result.fault
    if result.trap:
        return result.register, result.flags, FP_TRAP, 1 | (result.trap >> 3) << 11
    return result.register, result.flags, 0, 0


def clear_flags(fpsr: int) -> int:
    for sf in range(4):
        fpsr &= ~(0x3F << (13 + 13 * sf))
    return fpsr


def legal_fpsr(bits: int) -> int:
    """Any value without the reserved ones: pc = 1, sf0.td, the top bits; flags clear."""
    fpsr = clear_flags(bits) & ((1 << 58) - 1) & ~(1 << 12)
    for sf in range(4):
        if fpsr >> (8 + 13 * sf) & 3 == 1:
            fpsr |= 2 << (8 + 13 * sf)
    return fpsr


# Exponents where something changes: ends of the ranges of single, double, extended and register format.
EXPONENTS = [
    0, 1, 2, 63, 64, 65, 0x1FFFC, 0x1FFFD, 0x1FFFE, 0x1FFFF, 0xFFFE, 0xFFFF, 0x10000, 0x1003D, 0x1003E,
    0x1003F, 0x1001D, 0x1001E, 0x1001F, 0xFF80, 0xFF81, 0xFF82, 0xFF69, 0x1007D, 0x1007E, 0x1007F, 0xFC00,
    0xFC01, 0xFC02, 0xFBCC, 0xFBCD, 0x103FD, 0x103FE, 0x103FF, 0xC000, 0xC001, 0xC002, 0xBFC1, 0xBFC2,
    0x13FFD, 0x13FFE, 0x13FFF, 0xFF00, 0x100FF, 0x8000, 0x7FFF, 0x17FFE,
]  # fmt: skip

SIGNIFICANDS = [
    0, 1, ONE, ONE | 1, ONE | 1 << 62, ONE | 1 << 11, ONE | 1 << 10, ONE | 1 << 40, ONE | 1 << 39,
    (1 << 64) - 1, 0xFFFFFFFFFFFFF800, 0xFFFFFF0000000000, 0xFFFFFFFFFFFFFC00, 0xFFFFFF8000000000, 1 << 62,
    1 << 40, 1 << 11, ONE - 1, 0x5555555555555555, 0xAAAAAAAAAAAAA800,
]  # fmt: skip

significands = st.one_of(
    st.integers(0, (1 << 64) - 1),
    st.integers(ONE, (1 << 64) - 1),
    st.integers(0, (1 << 52) - 1).map(lambda fraction: ONE | fraction << 11),
    st.integers(0, (1 << 23) - 1).map(lambda fraction: ONE | fraction << 40),
    st.sampled_from(SIGNIFICANDS),
)
exponents = st.one_of(
    st.integers(0xFFFF - 140, 0xFFFF + 140),
    st.integers(0, 0x1FFFF),
    st.sampled_from(EXPONENTS),
    st.sampled_from(EXPONENTS).flatmap(lambda e: st.integers(max(0, e - 66), min(0x1FFFF, e + 66))),
)
registers = st.one_of(
    st.tuples(st.integers(0, 1), exponents, significands),
    st.sampled_from([(0, 0, 0), (1, 0, 0), (0, 0x1FFFF, ONE), (1, 0x1FFFF, ONE), (0, 0xFFFF, ONE), (0, 0x1FFFE, 0)]),
)
normal_registers = st.tuples(
    st.integers(0, 1), st.integers(0xFFFF - 130, 0xFFFF + 130), significands.map(lambda s: s | ONE)
)
fpsrs = st.one_of(
    st.just(DEFAULT_FPSR),
    st.integers(0, (1 << 58) - 1).map(legal_fpsr),
    st.integers(0, (1 << 58) - 1).map(lambda bits: legal_fpsr(bits | 0x3F)),
)


def edge_registers(count: int, seed: int) -> list[Register]:
    """Registers from the lists above, the important special ones first."""
    fixed = [
        (0, 0, 0), (1, 0, 0), (0, 0x1FFFF, ONE), (1, 0x1FFFF, ONE), (0, 0x1FFFF, ONE | 5),
        (1, 0x1FFFF, 3 << 62 | 9), (0, 0x1FFFF, 7), (0, 0x1FFFE, 0), (1, 0x1FFFE, 0), (0, 5, 0), (0, 0, 1),
        (0, 0, ONE), (0, 0xFFFF, ONE), (1, 0xFFFF, ONE), (0, 0x1FFFE, (1 << 64) - 1), (1, 1, ONE),
        (0, 1, 1), (0, 0xFC01, ONE), (1, 0xFC01, 1 << 62), (0, 0xC001, ONE), (0, 0xFF81, ONE),
        (1, 0xFF81, 1 << 40), (0, 0x103FE, 0xFFFFFFFFFFFFF800), (0, 0x1007E, 0xFFFFFF0000000000),
        (1, 0x13FFE, (1 << 64) - 1),
    ]  # fmt: skip
    numbers = random.Random(seed)
    while len(fixed) < count:
        fixed.append((numbers.getrandbits(1), numbers.choice(EXPONENTS), numbers.choice(SIGNIFICANDS)))
    return fixed[:count]


def from_float(value: float) -> Register:
    """A double in register format, by the value of its bits."""
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    sign, biased, fraction = bits >> 63, bits >> 52 & 0x7FF, bits & ((1 << 52) - 1)
    if biased == 0:
        return (sign, 0xFC01 if fraction else 0, fraction << 11)
    return (sign, 0x1FFFF if biased == 0x7FF else biased + 0xFC00, ONE | fraction << 11)
