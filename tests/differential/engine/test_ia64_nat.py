"""NaT bits: straight-line programs against a model, in every way of executing them (SDM volume 1, 4.4.4 and 5.2.5).

A program runs in blocks, as blocks of one instruction, by single steps, and with traced accesses.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest
from example_counts import examples
from grids import each
from hypothesis import given
from hypothesis import strategies as st
from ia64_assembly import BREAK as END
from ia64_assembly import CODE
from ia64_machine import BREAK, DATA, FAULT, MASK, REGISTER_NAT_CONSUMPTION, UNMAPPED, Machine, executions

REGISTERS = tuple(range(8, 14))  # r6 unmapped, r7 data
PREDICATES = tuple(range(6, 12))
OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "padd4": lambda a, b: (a + b) % 2**32 | (a // 2**32 + b // 2**32) % 2**32 << 32,
}
RELATIONS = {
    "eq": lambda a, b: a == b,
    "lt": lambda a, b: (a ^ 1 << 63) < (b ^ 1 << 63),
    "ltu": lambda a, b: a < b,
}
TYPES = ("", ".unc", ".and", ".or", ".or.andcm")


@dataclass
class Model:
    gr: dict[int, int]
    nat: set[int] = field(default_factory=set)
    pr: int = 1
    unat: int = 0
    memory: list[int] = field(default_factory=lambda: [0] * 8)
    fault_at: int | None = None

    def predicate(self, number: int, value: bool) -> None:
        self.pr = self.pr & ~(1 << number) | value << number

    def write(self, number: int, value: int, nat: bool = False) -> None:
        self.gr[number] = value & MASK
        (self.nat.add if nat else self.nat.discard)(number)

    def compare(self, kind: str, relation: bool, nat: bool, qualified: bool, p1: int, p2: int) -> None:
        if kind == ".unc" and not qualified:
            relation_and_opposite = (False, False)
        elif not qualified:
            return
        elif kind in ("", ".unc"):
            relation_and_opposite = (False, False) if nat else (relation, not relation)
        elif kind == ".and":
            if relation and not nat:
                return
            relation_and_opposite = (False, False)
        else:
            if not relation or nat:
                return
            relation_and_opposite = (True, kind == ".or")
        self.predicate(p1, relation_and_opposite[0])
        self.predicate(p2, relation_and_opposite[1])


REGISTER = st.sampled_from(REGISTERS)
STEP = st.tuples(
    st.sampled_from(["alu", "alu", "adds", "cmp", "cmp", "tnat", "nat", "spill", "fill", "load", "extr", "consume"]),
    st.sampled_from([0, 0, 0, *PREDICATES]),
    REGISTER,
    REGISTER,
    REGISTER,
    st.integers(0, 255),
)
Step = tuple[str, int, int, int, int, int]


def text_of(step: Step) -> str:
    kind, qp, a, b, c, n = step
    p1, p2 = PREDICATES[n % 6], PREDICATES[(n // 6 + 1 + n) % 6]
    if p1 == p2:
        p2 = PREDICATES[(n + 1) % 6]
    relation, ctype = list(RELATIONS)[n % 3], TYPES[n % 5]
    if ctype in TYPES[2:]:
        relation = "eq"
    texts = {
        "alu": f"{list(OPERATIONS)[n % 6]} r{a}=r{b},r{c}",
        "adds": f"adds r{a}={n - 128},r{b}",
        "cmp": f"cmp.{relation}{ctype} p{p1},p{p2}=r{b},r{c}",
        "tnat": f"tnat.z p{p1},p{p2}=r{b}",
        "nat": f"ld8.s r{a}=[r6]",
        "spill": f"st8.spill [r{16 + n % 8}]=r{b}",
        "fill": f"ld8.fill r{a}=[r{16 + n % 8}]",
        "load": f"ld8 r{a}=[r{16 + n % 8}]",
        "extr": f"extr.u r{a}=r{b},{n % 64},{64 - n % 64}",
        "consume": f"st8 [r{16 + n % 8}]=r{b}",
    }
    return (f"(p{qp}) " if qp else "") + texts[kind]


def apply(model: Model, step: Step) -> bool:
    """Whether the program goes on."""
    kind, qp, a, b, c, n = step
    p1, p2 = PREDICATES[n % 6], PREDICATES[(n // 6 + 1 + n) % 6]
    if p1 == p2:
        p2 = PREDICATES[(n + 1) % 6]
    qualified = bool(model.pr >> qp & 1)
    gr, nat = model.gr, model.nat
    if kind == "cmp":
        relation = "eq" if TYPES[n % 5] in TYPES[2:] else list(RELATIONS)[n % 3]
        holds = RELATIONS[relation](gr[b], gr[c])
        model.compare(TYPES[n % 5], holds, b in nat or c in nat, qualified, p1, p2)
    elif not qualified:
        return True
    elif kind == "alu":
        model.write(a, list(OPERATIONS.values())[n % 6](gr[b], gr[c]), b in nat or c in nat)
    elif kind == "adds":
        model.write(a, gr[b] + n - 128, b in nat)
    elif kind == "tnat":
        model.predicate(p1, b not in nat)
        model.predicate(p2, b in nat)
    elif kind == "nat":
        model.write(a, 0, True)
    elif kind == "spill":
        model.memory[n % 8] = gr[b]
        model.unat = model.unat & ~(1 << n % 8) | (b in nat) << n % 8
    elif kind == "fill":
        model.write(a, model.memory[n % 8], bool(model.unat >> n % 8 & 1))
    elif kind == "load":
        model.write(a, model.memory[n % 8])
    elif kind == "extr":
        model.write(a, gr[b] >> n % 64, b in nat)
    elif kind == "consume":
        if b in nat:
            return False
        model.memory[n % 8] = gr[b]
    return True


def machine(lines: list[str], values: list[int], unat: int, **options: Any) -> Machine:
    m = Machine(lines, **options)
    m.set({6: UNMAPPED, 7: DATA, **dict(zip(REGISTERS, values, strict=True))}, unat=unat)
    m.set({16 + n: DATA + 8 * n for n in range(8)})
    return m


def run_by_steps(m: Machine) -> int:
    for _ in range(1000):
        why = m.step()
        if why in (BREAK, FAULT):
            return why
    raise AssertionError("no end")


@pytest.mark.slow
@examples(120)
@given(
    st.lists(STEP, max_size=50),
    st.lists(st.integers(0, MASK), min_size=6, max_size=6),
    st.booleans(),
)
def test_straight_line_program(steps: list[Step], values: list[int], equal: bool) -> None:
    if equal:
        values = [values[0]] * 6
    model = Model(dict(zip(REGISTERS, values, strict=True)))
    stopped = None
    for place, step in enumerate(steps):
        if not apply(model, step):
            stopped = place
            break
    lines = [text_of(step) for step in steps] + [END]
    logs = []
    for options in ({}, {"max_block": 1}, {"trace": True}, {"max_block": 7}, {"by_steps": True}):
        by_steps = options.pop("by_steps", False)
        m = machine(lines, values, 0, **options)
        why = run_by_steps(m) if by_steps else m.run()
        if stopped is None:
            assert why == BREAK
        else:
            assert (why, m.cpu.fault) == (FAULT, REGISTER_NAT_CONSUMPTION)
            assert m.cpu.ip & -16 == CODE + 16 * stopped
        assert {r for r in REGISTERS if m.cpu.nat(r)} == model.nat
        for r in REGISTERS:
            assert r in model.nat or m.cpu.gr(r) == model.gr[r], r
        assert m.cpu.pr & sum(1 << p for p in PREDICATES) == model.pr & ~1
        assert m.cpu.ar("unat") == model.unat
        logs.append(executions(m))
        assert sum(n for address, n in logs[-1].items() if address > 0) == m.cpu.retired
    assert all(log == logs[0] for log in logs)


# --- single rules


CONSUMERS = """
mov.m ar.ccv=r8 | mov b1=r8 | mov pr=r8,-2 | mov.i ar.lc=r8 | st8 [r7]=r8 | st1 [r8]=r9 | ld8 r9=[r8] | ld8 r9=[r8],8
ld8.a r9=[r8] | ld8.c.nc r9=[r8] | ld8.fill r9=[r8] | st8.spill [r8]=r9 | xchg8 r9=[r7],r8 | fetchadd8.acq r9=[r8],1
cmpxchg8.acq r9=[r8],r9,ar.ccv | ldfd f9=[r8] | stfd [r8]=f0 | ldfpd f8,f9=[r8] | lfetch.fault [r8] | fc r8
probe.r r9=r8,r9 | probe.w r9=r7,r8 | mov psr.um=r8 | mov r9=cpuid[r8] | ld8 r9=[r8],r7 | ldfd f9=[r8],r7
st16 [r7]=r8,ar.csd
"""


@each("text", [text.strip() for text in CONSUMERS.replace("\n", "|").split("|") if text.strip()])
def test_nat_source_is_consumed_with_a_fault(text: str) -> None:
    m = Machine([text, END]).set({7: DATA, 9: 5})
    m.cpu.set_gr(8, DATA, True)
    m.until_fault(REGISTER_NAT_CONSUMPTION)
    assert (m.cpu.gr(9), m.cpu.nat(8), m.cpu.nat(9)) == (5, True, False)


@pytest.mark.parametrize("text", ["ld8.s r9=[r8]", "ld8.sa r9=[r8]", "ld8.s r9=[r8],8", "ld1.s r9=[r8],r7"])
def test_control_speculation_defers_a_nat_address(text: str) -> None:
    m = Machine([text, END]).set({7: 3})
    m.cpu.set_gr(8, DATA, True)
    m.until_break()
    assert m.cpu.nat(9)
    assert m.cpu.nat(8)


@pytest.mark.parametrize("text", ["lfetch [r8],8", "lfetch [r8],r7", "lfetch [r8]"])
def test_line_prefetch_leaves_a_nat_base_alone(text: str) -> None:
    m = Machine([text, END]).set({7: 3})
    m.cpu.set_gr(8, DATA, True)
    assert m.until_break().cpu.nat(8)


@pytest.mark.parametrize("text", ["ld8 r9=[r8],r7", "ld8.s r9=[r8],r7", "ldfd f9=[r8],r7", "lfetch [r8],r7"])
def test_nat_increment_makes_the_base_nat(text: str) -> None:
    m = Machine([text, END]).set({8: DATA, 9: 1})
    m.cpu.set_gr(7, 8, True)
    m.until_break()
    assert m.cpu.nat(8)
    assert not m.cpu.nat(9)


def test_nat_travels_through_floating_point_registers() -> None:
    lines = ["setf.sig f9=r8", "getf.sig r9=f9", "setf.d f10=r10", "getf.exp r10=f10", "chk.s f9,away", END, "away:"]
    m = Machine([*lines, "adds r11=1,r0", END])
    m.cpu.set_gr(8, 1, True)
    m.until_break()
    assert m.fr(9) == (0, 0x1FFFE, 0)
    assert (m.cpu.nat(9), m.cpu.nat(10), m.cpu.gr(11)) == (True, False, 1)


@each("text", ["chk.s.m r8,away", "chk.s.i r8,away"])
@each("nat", [False, True])
@each("qualified", [False, True])
def test_speculation_check_goes_to_recovery_code_for_a_nat(text: str, nat: bool, qualified: bool) -> None:
    m = Machine([f"(p6) {text}", "adds r9=1,r0", END, "away:", "adds r9=2,r0", END]).set(pr=qualified << 6)
    m.cpu.set_gr(8, 0, nat)
    assert m.until_break().cpu.gr(9) == (2 if nat and qualified else 1)


def test_illegal_instruction_is_so_whatever_its_sources() -> None:
    m = Machine(["ld8 r0=[r8]", END])
    m.cpu.set_gr(8, 0, True)
    m.until_fault(1)


def test_storing_natval_faults_but_spilling_it_does_not() -> None:
    for text in ("stfd [r7]=f8", "stfs [r7]=f8", "stf8 [r7]=f8", "stfe [r7]=f8,16"):
        m = Machine([text, END]).set({7: DATA})
        m.set_fr(8, 0, 0x1FFFE, 0)
        m.until_fault(REGISTER_NAT_CONSUMPTION)
        assert m.cpu.gr(7) == DATA
    m = Machine(["stf.spill [r7]=f8", "ldf.fill f9=[r7]", END]).set({7: DATA})
    m.set_fr(8, 0, 0x1FFFE, 0)
    assert m.until_break().fr(9) == (0, 0x1FFFE, 0)
