"""Derived events: formulas over measured events, `formulas.csv` of each PMU that has some.

A formula has event names, other derived names, integers, + - * / and parentheses. A name may carry MESI
states (`L3_READS_ALL_HIT:MESI`) and, in brackets, an instruction class that an opcode matcher selects
(`[chk.s]`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from pfmon.csv_tables import rows
from pfmon.errors import PfmonError, RuleError
from pfmon.pmu.model.event_table import EventTable
from pfmon.pmu.model.request import EventRequest, OpcodeMatch, Request, event_requests
from pfmon.pmu.model.unknown_event import UnknownEventError
from pfmon.pmu.target import table_path
from pfmon.pmu.targets import named

# Compiled on use: every run loads this module.
TOKEN = r"\s*(?:(\d+)|([A-Za-z][\w.]*(?::[MESI]+)?(?:\[[\w.]+\])?)|([-+*/()]))"
WIDE_OPCODES = 41

# Matcher, slot types, opcode bits to match and to ignore, of 41 (IA-64 manual volume 3: I20, M20, M21).
CLASSES: dict[str, tuple[int, str, int, int]] = {
    "chk.s": (0, "mi", 0x1 << 33, ~((0x7 << 38) | (0x7 << 33)) & (1 << 41) - 1),
    "chk.s.fp": (1, "m", (0x1 << 37) | (0x3 << 33), ~((0xF << 37) | (0x7 << 33)) & (1 << 41) - 1),
}

Tree = int | str | tuple[str, "Tree", "Tree"]


class Derived(NamedTuple):
    """One derived event."""

    name: str
    formula: str
    description: str
    source: str


class DerivedPlan(NamedTuple):
    """The events to program for a list of measured and derived events, and the opcode matchers.

    `compute(counts)` converts the counts of `events`, in order, to a value for every requested name.
    """

    names: tuple[str, ...]
    events: tuple[EventRequest, ...]
    opcodes: tuple[OpcodeMatch | None, OpcodeMatch | None]
    trees: tuple[Tree, ...]
    terms: tuple[str, ...]

    def compute(self, counts: Iterable[int]) -> list[int | float | None]:
        """Return a value for each name: a count, or the formula's value; None if it divides by zero."""
        by_term = dict(zip(self.terms, counts, strict=True))
        return [_value(tree, by_term) for tree in self.trees]

    def places(self, number: int) -> list[int]:
        """Return the positions in `events` of the counts that a name's value is computed from."""
        return [self.terms.index(term) for term in leaves(self.trees[number])]

    def is_derived(self, number: int) -> bool:
        """Return whether a name is a formula rather than an event."""
        return self.trees[number] != f"#{number}"

    def request(self, asked: Request) -> Request:
        """Return the request to program: the names replaced by `events`, and the opcode matchers."""
        if not any(self.opcodes):
            return asked._replace(events=self.events)
        opcode_formulas_set_the_matchers_themselves(asked)
        return asked._replace(events=self.events, opcodes=self.opcodes)


@cache
def load_derived(pmu: str) -> dict[str, Derived]:
    """Return the derived events of a PMU by name."""
    path = table_path(pmu, "formulas")
    return {row[0]: Derived(*row) for row in rows(path, Derived._fields)} if path else {}


def plan(table: EventTable, wanted: Iterable[str | EventRequest]) -> DerivedPlan:
    """Return the plan that gives every name, measured or derived, a value.

    Measured events keep their own counter, also when named twice; formulas share counters among themselves.

    >>> from pfmon.pmu import get
    >>> made = plan(get("montecito").events, ["IA64_IPC"])
    >>> [event.name for event in made.events], made.compute([300, 200])
    (['IA64_INST_RETIRED', 'CPU_OP_CYCLES_ALL'], [1.5])
    """
    derived = load_derived(table.pmu)
    names: list[str] = []
    trees: list[Tree] = []
    terms: dict[str, EventRequest] = {}
    classes: set[str] = set()
    for number, item in enumerate(wanted):
        request = item if isinstance(item, EventRequest) else event_requests([item])[0]
        name = request.name
        known = derived.get(name.partition(":")[0].upper())
        if known:
            name, tree = known.name, parse(known.formula, derived)
            states_filter_measured_events(name, request)
            own = {term.rstrip("]").partition("[")[2] for term in leaves(tree)} - {""}
            classes |= own
            # Formulas share the counters of equal events.
            mark = f"#{number}" if request != EventRequest(request.name) else ""
            for term in leaves(tree):
                terms.setdefault(term + mark, term_request(term, request, qualified=not own))
            tree = _marked(tree, mark)
        else:
            tree = f"#{number}"
            _known(table, name)
            terms[tree] = request
        names.append(name)
        trees.append(tree)
    opcode_formulas_stand_alone(names, trees)
    return DerivedPlan(tuple(names), tuple(terms.values()), _matchers(table.pmu, classes), tuple(trees), tuple(terms))


def _marked(tree: Tree, mark: str) -> Tree:
    """Return a formula with a mark appended to each of its terms."""
    if isinstance(tree, tuple):
        return tree[0], _marked(tree[1], mark), _marked(tree[2], mark)
    return tree + mark if isinstance(tree, str) else tree


def opcode_formulas_set_the_matchers_themselves(asked: Request) -> None:
    """A formula with instruction classes needs the tag channels for itself, unconstrained by ranges."""
    if any(asked.opcodes) or asked.irange or asked.drange:
        raise RuleError(
            "opcode_formulas_set_the_matchers_themselves",
            "the formula selects instructions by opcode: no opcode matcher and no range goes with it",
        )


def opcode_formulas_stand_alone(names: Sequence[str], trees: Sequence[Tree]) -> None:
    """Opcode matchers constrain every event that supports them, so nothing else is counted beside them."""
    selecting = [any("[" in term for term in leaves(tree)) for tree in trees]
    if any(selecting) and not all(selecting):
        others = [name for name, chosen in zip(names, selecting, strict=True) if not chosen]
        raise RuleError(
            "opcode_formulas_stand_alone",
            f"{names[selecting.index(True)]} sets the opcode matchers, which would constrain "
            f"{', '.join(others)} too: count them in a run of their own",
        )


def states_filter_measured_events(name: str, request: EventRequest) -> None:
    """MESI states are part of a formula's terms."""
    if request.mesi:
        raise RuleError("states_filter_measured_events", f"{name} is derived: its formula says which line states count")


def _known(table: EventTable, name: str) -> None:
    """Raise the error for an unknown name; derived events count as known."""
    if name.partition(":")[0] not in table:
        raise UnknownEventError(table.pmu, name, table.all_names() + list(load_derived(table.pmu)))


def term_request(term: str, options: EventRequest, qualified: bool = True) -> EventRequest:
    """Return the event request of a formula's term, with the options of the derived event.

    In a formula with instruction classes the opcode matchers apply to some of its events: the others are not refused
    although they cannot be qualified.
    """
    event, _, states = term.partition("[")[0].partition(":")
    return options._replace(name=event, mesi=states, check_qualifiers=qualified and options.check_qualifiers)


def _matchers(pmu: str, classes: set[str]) -> tuple[OpcodeMatch | None, OpcodeMatch | None]:
    """Return the opcode matchers that select instruction classes."""
    matchers: list[OpcodeMatch | None] = [None, None]
    for name in classes:
        channel, slots, match, mask = CLASSES[name]
        if named(pmu).matchers.bits < WIDE_OPCODES:
            match, mask = _narrow(match), _narrow(mask)
        matchers[channel] = OpcodeMatch(slots, match, mask)
    return matchers[0], matchers[1]


def _narrow(opcode: int) -> int:
    """Return opcode bits 40:27 and 12:0 as the 27 bits that Itanium and Itanium 2 match."""
    return (opcode >> 27) << 13 | (opcode & 0x1FFF)


def parse(formula: str, derived: Mapping[str, Derived]) -> Tree:
    """Parse a formula to a tree; derived names within it are replaced by their formulas."""
    tokens = re.findall(TOKEN, formula)
    if "".join(a + b + c for a, b, c in tokens) != re.sub(r"\s", "", formula):
        raise PfmonError(f"bad formula {formula!r}")
    reader = _Reader([a or b or c for a, b, c in tokens], formula, derived)
    tree = reader.sum()
    if reader.rest:
        raise PfmonError(f"bad formula {formula!r}: {reader.rest[0]!r} unexpected")
    return tree


class _Reader:
    """Recursive descent over the tokens of a formula."""

    def __init__(self, tokens: list[str], formula: str, derived: Mapping[str, Derived]) -> None:
        self.rest = tokens
        self.formula = formula
        self.derived = derived

    def sum(self) -> Tree:
        """Parse products joined by + and -."""
        left = self.product()
        while self.rest and self.rest[0] in "+-":
            left = (self.rest.pop(0), left, self.product())
        return left

    def product(self) -> Tree:
        """Parse factors joined by * and /."""
        left = self.factor()
        while self.rest and self.rest[0] in "*/":
            left = (self.rest.pop(0), left, self.factor())
        return left

    def factor(self) -> Tree:
        """Parse a number, a name or a sum in parentheses."""
        if not self.rest:
            raise PfmonError(f"bad formula {self.formula!r}: it ends early")
        token = self.rest.pop(0)
        if token == "(":
            tree = self.sum()
            if not self.rest or self.rest.pop(0) != ")":
                raise PfmonError(f"bad formula {self.formula!r}: parenthesis not closed")
            return tree
        if token in "+-*/)":
            raise PfmonError(f"bad formula {self.formula!r}: {token!r} unexpected")
        if token.isdigit():
            return int(token)
        return parse(self.derived[token].formula, self.derived) if token in self.derived else token


def leaves(tree: Tree) -> list[str]:
    """Return the event terms of a formula, each once, in order."""
    if isinstance(tree, tuple):
        return list(dict.fromkeys(leaves(tree[1]) + leaves(tree[2])))
    return [tree] if isinstance(tree, str) else []


def _value(tree: Tree, counts: Mapping[str, int]) -> int | float | None:
    """Return the value of a formula; None if it divides by zero."""
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return counts[tree]
    operator, left, right = tree[0], _value(tree[1], counts), _value(tree[2], counts)
    if left is None or right is None or (operator == "/" and right == 0):
        return None
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    return left * right if operator == "*" else left / right
