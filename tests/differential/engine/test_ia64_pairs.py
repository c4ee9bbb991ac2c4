"""Instructions that one handler executes in pairs do what they do one by one: whatever they are given, and however a
block is left between the two."""

import re
from random import Random

import pytest
from grids import each, sampled
from hypothesis import given
from hypothesis import strategies as st
from ia64_assembly import BREAK, CODE
from ia64_machine import DATA, DATA_PAGES, PAGE, READ_ONLY, UNMAPPED, Machine, executions

from pfmon.isa.ia64.encoding_rows import PAIRS
from pfmon.isa.ia64.instruction_set import INSTRUCTIONS

TEXT = {row.run: row.text for row in reversed(INSTRUCTIONS)}  # of all that have a handler, the first
ALL = [(TEXT[first], TEXT[second]) for first, second in PAIRS]

REGISTERS = range(8, 13)
VALUES = (0, 1, 7, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1, UNMAPPED, READ_ONLY + 8)
ADDRESSES = (DATA, DATA + 8, DATA + 63, DATA + DATA_PAGES * PAGE - 4)


def filled(text: str, random: Random) -> str:
    """An instruction with operands; some are odd ones (the target twice, p0)."""
    for name in ("r1", "r2", "r3"):
        text = re.sub(rf"\b{name}\b", f"r{random.choice(REGISTERS)}", text)
    text = text.replace("p1,p2", random.choice(("p6,p7", "p7,p6", "p0,p6", "p8,p0", "p8,p9")))
    for name, low, high in (("imm14", -8, 8), ("imm8", -2, 2), ("count2", 1, 4)):
        text = text.replace(name, str(random.randint(low, high)))
    return text.replace("tgt25", "there")


def program(first: str, second: str, random: Random) -> list[str]:
    """The pair, and two ways on."""
    qp = f"(p{random.choice((6, 7, 8))}) " if second.startswith("br") and random.random() < 0.8 else ""
    between = ["nop.m 0"] * random.choice((0, 0, 1))
    after = ["adds r20=1,r20", BREAK, "there:", "adds r21=1,r21", BREAK]
    return [filled(first, random), *between, qp + filled(second, random), *after]


def machine(lines: list[str], seed: int, max_block: int, nat: int) -> Machine:
    random = Random(seed)
    m = Machine(lines, max_block=max_block)
    for at in range(0, DATA_PAGES * PAGE, 8):
        if at < 128 or at > DATA_PAGES * PAGE - 128:
            m.put(DATA + at, random.getrandbits(64))
    m.set({20: 0, 21: 0}, pr=1 | random.getrandbits(4) << 6)
    for number in REGISTERS:
        value = random.choice(random.choice((VALUES, ADDRESSES, ADDRESSES)))
        m.cpu.set_gr(number, value, nat=number == nat)
    return m


def state(m: Machine) -> tuple[object, ...]:
    cpu = m.cpu
    return (
        cpu.ip,
        cpu.pr,
        [(cpu.gr(n), cpu.nat(n)) for n in (*REGISTERS, 20, 21)],
        cpu.retired,
    )


def outcome(m: Machine) -> tuple[object, ...]:
    """Why it stopped, the state then, and what executed."""
    why = m.run()
    return why, (m.cpu.fault, m.cpu.fault_address) if m.cpu.fault else None, state(m), executions(m)


def paired(m: Machine) -> bool:
    return any(ins.begins_pair for n in range(m.cpu.block_count()) for ins in m.cpu.block(n).instructions)


@pytest.mark.slow
@sampled(14)
@each("pair", ALL)
def test_a_pair_is_executed_by_one_handler_as_by_two(pair: tuple[str, str]) -> None:
    random = Random(str(pair))
    outcomes = set()
    for seed in range(40):
        lines = program(*pair, random)
        together, alone = machine(lines, seed, 96, 0), machine(lines, seed, 1, 0)
        assert outcome(together) == outcome(alone), lines
        assert paired(together) and not paired(alone), lines
        outcomes.add(together.cpu.ip)
    if "ld" in " ".join(pair) or "br" in " ".join(pair):
        assert len(outcomes) > 1  # it faulted, or branched, and did not


@pytest.mark.slow
@given(st.sampled_from(ALL), st.integers(0, 2**32), st.sampled_from([0, *REGISTERS]), st.integers(0, 4))
def test_a_pair_may_be_taken_apart(pair: tuple[str, str], seed: int, nat: int, stop: int) -> None:
    """NaT bits are tracked instruction by instruction, and an exact stop may come between the two."""
    lines = program(*pair, Random(seed))
    together, alone = machine(lines, seed, 96, nat), machine(lines, seed, 1, nat)
    together.cpu.stop_exactly_at(stop)
    alone.cpu.stop_when_retired(stop)
    assert (together.run(), state(together)) == (alone.run(), state(alone))
    together.cpu.stop_exactly_at(None)
    alone.cpu.stop_when_retired(None)
    assert outcome(together) == outcome(alone)


@pytest.mark.parametrize("max_block", [1, 96])
def test_an_address_may_be_what_the_load_before_has_read(max_block: int) -> None:
    m = Machine(["ld8 r8=[r9]", "adds r8=8,r8", "ld8 r10=[r8]", BREAK], max_block=max_block).set({9: DATA})
    m.put(DATA, DATA + 16)
    m.put(DATA + 24, 77)
    assert m.until_break().cpu.gr(10) == 77
    assert executions(m)[CODE] == 1


def test_a_predicated_or_traced_instruction_is_in_no_pair() -> None:
    assert paired(Machine(["add r8=r9,r10", "mov r11=r8", BREAK]).until_break())
    assert not paired(Machine(["(p6) add r8=r9,r10", "mov r11=r8", BREAK]).until_break())
    assert not paired(Machine(["add r8=r9,r10", "(p6) mov r11=r8", BREAK]).until_break())
    assert not paired(Machine(["add r8=r9,r10", "ld8 r11=[r12]", BREAK], trace=True).set({12: DATA}).until_break())
