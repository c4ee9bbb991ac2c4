"""Derived events: every formula's terms are known and can be counted together; values by exact fractions."""

import ast
import operator
import re
from fractions import Fraction

import pytest
from grids import each
from hypothesis import given
from hypothesis import strategies as st

from pfmon import pmu
from pfmon.errors import PfmonError, RuleError, UnknownNameError
from pfmon.pmu.model.derived import DerivedPlan, leaves, load_derived, parse, plan

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}

NOT_AT_ONCE = {
    ("itanium2", "RSE_AVG_INVALID_REGS"),  # seven events, four counters
    ("itanium2", "L2_RECIRC_ATTEMPTS"),  # two L2 sets
}


def all_derived() -> list[tuple[str, str]]:
    return [(name, derived) for name in pmu.IA64 for derived in load_derived(name)]


@each(("name", "derived"), all_derived())
def test_every_derived_event_can_be_programmed_at_once_but_two(name: str, derived: str) -> None:
    model = pmu.get(name)
    made = plan(model.events, [derived])
    assert all(event.name in model.events for event in made.events)
    if (name, derived) in NOT_AT_ONCE:
        with pytest.raises(RuleError):
            model.program(made.events, opcodes=made.opcodes)
    else:
        programmed = model.program(made.events, opcodes=made.opcodes)
        assert len(programmed.counters) == len(made.events)


def exact(node: ast.AST, names: dict[str, int]) -> Fraction:
    """An independent evaluation of a formula as a Python expression, in fractions."""
    if isinstance(node, ast.Expression):
        return exact(node.body, names)
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](exact(node.left, names), exact(node.right, names))
    if isinstance(node, ast.Name):
        return Fraction(names[node.id])
    assert isinstance(node, ast.Constant)
    return Fraction(node.value)


FORMULAS = st.recursive(
    st.sampled_from(["A", "B", "C", "3", "8"]),
    lambda inner: st.builds(lambda a, o, b: f"({a} {o} {b})", inner, st.sampled_from("+-*/"), inner),
    max_leaves=8,
)


@pytest.mark.slow
@given(FORMULAS, st.tuples(*[st.integers(0, 1 << 30)] * 3))
def test_formula_values_agree_with_exact_fractions(formula: str, counts: tuple[int, int, int]) -> None:
    names = dict(zip("ABC", counts, strict=True))
    tree = parse(formula, {})
    try:
        want = exact(ast.parse(formula, mode="eval"), names)
    except ZeroDivisionError:
        want = None
    terms = leaves(tree)
    value = DerivedPlan((formula,), (), (None, None), (tree,), tuple(terms)).compute([names[t] for t in terms])[0]
    if want is None:
        assert value is None
    else:
        assert value is None or value == pytest.approx(float(want), rel=1e-6, abs=1e-6)


@each("text", ["A +", "(A", "A B", "+ A", "A & B", ")", ""])
def test_malformed_formulas_are_refused(text: str) -> None:
    with pytest.raises(PfmonError, match="bad formula"):
        parse(text, {})


def test_measured_and_derived_events_mix() -> None:
    made = plan(pmu.get("itanium2").events, ["CPU_CYCLES", "IA64_IPC", "NOPS_RETIRED"])
    assert [event.name for event in made.events] == [
        "CPU_CYCLES",
        "IA64_INST_RETIRED",
        "CPU_CYCLES",
        "NOPS_RETIRED",
    ]
    assert made.compute([10, 30, 20, 7]) == [10, 1.5, 7]


def test_division_by_zero_has_no_value() -> None:
    assert plan(pmu.get("itanium2").events, ["IA64_IPC"]).compute([5, 0]) == [None]


def test_unknown_names_count_derived_events_as_near() -> None:
    with pytest.raises(UnknownNameError, match="IA64_IPC"):
        plan(pmu.get("itanium2").events, ["IA64_IPCC"])


def test_speculation_miss_ratio_matches_the_encodings_of_chk_s() -> None:
    made = plan(pmu.get("montecito").events, ["CTRL_SPEC_MISS_RATIO"])
    first, second = made.opcodes
    assert first and second

    def hits(slot: str, opcode: int) -> list[bool]:
        return [slot in m.slots and not (opcode ^ m.match) & ~m.mask & (1 << 41) - 1 for m in (first, second)]

    x3 = 33
    assert hits("m", 1 << 37 | 1 << x3) == [True, False]  # chk.s.m r
    assert hits("i", 1 << x3) == [True, False]  # chk.s.i r
    assert hits("m", 1 << 37 | 3 << x3) == [False, True]  # chk.s f
    assert hits("m", 4 << x3) == [False, False]  # chk.a.nc r
    assert hits("i", 3 << x3) == [False, False]  # mov pr = r


def test_upper_bits_of_a_count_weigh_one_more_than_the_lower_bits_can_add() -> None:
    """Events such as RSE_CURRENT_REGS_5_TO_3 count some bits of a number: the rest must fit below them.

    Montecito's table 4-38 prints a weight of 8 for SI_IOQ_LIVE_REQ_HI although LO adds 3 at most. Itanium's maximum
    increments of BUS_BRQ_LIVE_REQ and L1_OUTSTANDING_REQ say nothing about their bits.
    """
    apart = {("montecito", "BUS_IOQ_LIVE_REQ"), ("itanium", "BUS_BRQ_LIVE_REQ"), ("itanium", "L1_OUTSTANDING_REQ")}
    checked = 0
    for name in pmu.IA64:
        events = pmu.get(name).events
        for derived in load_derived(name).values():
            terms = re.fullmatch(r"(?:(\w+) \* (\d+) \+ )?(\w+) \* (\d+) \+ (\w+)", derived.formula)
            if terms and (name, derived.name) not in apart:
                top, top_weight, middle, weight, low = terms.groups()
                assert int(weight) == events[low].max_increment + 1, derived.name
                if top:
                    assert int(top_weight) == int(weight) * (events[middle].max_increment + 1), derived.name
                checked += 1
    assert checked == 11
