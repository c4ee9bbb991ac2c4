"""Comparisons and bit tests against Python integers (SDM volume 3, cmp, cmp4, tbit, tnat)."""

import operator
from collections.abc import Callable
from random import Random

from example_counts import examples
from grids import each
from hypothesis import given
from hypothesis import strategies as st
from ia64_forms import DONE, MASK, Values, forms, run, signed

from pfmon.engine.ia64._ia64 import step
from pfmon.isa.ia64.assemble import encode

RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}


def relation(text: str, values: Values) -> bool:
    """What a comparison's mnemonic says of its sources."""
    mnemonic, operands = text.split(" ")
    name, completer = mnemonic.split(".")[:2]
    sources = operands.split("=")[1].split(",")
    if name == "tbit":
        return bool(values.r3 // 2**values.pos6 % 2) == (completer == "nz")
    bits = 32 if name == "cmp4" else 64
    x, y = (0 if source == "r0" else values[source] for source in sources)
    if completer.endswith("u"):
        return RELATIONS[completer.removesuffix("u")](x % 2**bits, y % 2**bits)
    return RELATIONS[completer](signed(x, bits), signed(y, bits))


def targets(kind: str, qualified: bool, holds: bool, p1: bool, p2: bool) -> tuple[bool, bool]:
    """Both target predicates after a comparison of type ``kind``, from what they were."""
    if not qualified:
        return (False, False) if kind == "unc" else (p1, p2)
    match kind:
        case "" | "unc":
            return holds, not holds
        case "and":
            return (p1, p2) if holds else (False, False)
        case "or":
            return (True, True) if holds else (p1, p2)
        case "or.andcm":
            return (True, False) if holds else (p1, p2)
    raise ValueError(kind)


def bit(word: int, number: int) -> bool:
    return bool(word >> number & 1)


def expected_predicates(before: int, operands: dict[str, int], after: tuple[bool, bool]) -> int:
    pr = before
    for name, value in zip(("p1", "p2"), after, strict=True):
        if operands[name]:
            pr = pr & ~(1 << operands[name]) | value << operands[name]
    return pr


FORMS = sorted(forms("A6", "A7", "A8", "I16"))


@each("text", FORMS)
def test_targets_follow_relation_and_type(text: str) -> None:
    numbers = Random(text)
    kind = "".join(text.split(" ")[0].split(".", 2)[2:])
    for _ in range(60):
        pr = numbers.getrandbits(64) | 1
        qp = numbers.choice([0, numbers.randrange(64)])
        p1, p2 = numbers.sample(range(64), 2)
        sources = [name for name in ("r2", "r3", "imm8") if name in text]
        equal = dict.fromkeys(sources, 0) if numbers.random() < 0.3 else {}
        done = run(numbers, text, {"pr": pr}, qp=qp, p1=p1, p2=p2, **equal)
        after = targets(kind, bit(pr, qp), relation(text, done.values), bit(pr, p1), bit(pr, p2))
        assert done.status == DONE
        assert done.after["pr"] == expected_predicates(pr, done.operands, after), done
        assert done.after["gr"] == {number: value for number, value in done.before["gr"].items() if value}


@each("text", sorted(forms("I17")))
@given(pr=st.integers(0, MASK).map(lambda word: word | 1), nat=st.booleans(), qp=st.integers(0, 63))
@examples(12)
def test_tnat_reads_the_nat_bit(text: str, pr: int, nat: bool, qp: int) -> None:
    operands = {"p1": 11, "p2": 50, "r3": 90}
    unit, slot, _ = encode(text, qp=qp, **operands)
    status, after = step(unit, slot, {"gr": {90: 1}, "nat": {90} if nat else set(), "pr": pr}, checked=True)
    completer, _, kind = text.split(" ")[0].removeprefix("tnat.").partition(".")
    holds = nat == (completer == "nz")
    wanted = targets(kind, bit(pr, qp), holds, bit(pr, 11), bit(pr, 50))
    assert (status, after["pr"]) == (DONE, expected_predicates(pr, operands, wanted))
    assert after["nat"] == ({90} if nat else set())


@each("text", [text for text in FORMS if ".unc" in text])
@each("qualified", [True, False])
def test_unc_says_whether_it_was_qualified(text: str, qualified: bool) -> None:
    operands = {name: 1 for name in ("r2", "r3", "imm8", "pos6") if name in text}
    unit, slot, _ = encode(text, qp=5, p1=6, p2=7, **operands)
    _, after = step(unit, slot, {"pr": 1 | qualified << 5})
    assert after["mask"] == qualified << 32


def test_there_are_all_forms_of_the_manual() -> None:
    # cmp and cmp4: lt, ltu, eq, each plain and unc, of registers and of an immediate; eq and ne with three
    # parallel types, likewise; gt, ge, lt, le of zero and a register with three parallel types.
    assert len(forms("A6")) == len(forms("A8")) == 2 * (3 * 2 + 2 * 3)
    assert len(forms("A7")) == 2 * 4 * 3
    assert len(forms("I16")) == len(forms("I17")) == 2 + 2 * 3
