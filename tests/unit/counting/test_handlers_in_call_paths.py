"""Call paths of a whole processor's code: handlers are called by what they interrupt, wherever that is."""

from functools import cache

import pytest
from grids import each
from ia64_assembly import CODE, labels_of
from system_machine import END, IC, VECTORS, code, run

from pfmon.counting._counting import CallTree, Increments
from pfmon.engine.ia64._ia64 import SystemProcessor

BREAK, EXTERNAL = 0x2C00, 0x3000
UNMASKED = 1 << 14
ITM, ITV, VECTOR = 1, 72, 0x40
EACH = 3
"""Instructions of a bundle: each line is one."""

ACKNOWLEDGE = ["mov r8=cr.ivr", "srlz.d", "mov cr.eoi=r0", "srlz.d", "rfi"]
INTERRUPTIBLE = [
    "mov r20=cr.iip", "mov r21=cr.ipsr", "adds r20=16,r20", f"ssm {IC | UNMASKED}", "srlz.d",
    "br.call.sptk.few b6=g", f"rsm {IC | UNMASKED}", "srlz.d", "mov cr.iip=r20", "mov cr.ipsr=r21", "rfi",
    "g:", "nop.m 0", "br.ret.sptk.few b6",
]  # fmt: skip
"""A handler that lets others interrupt it, calls g and returns behind the break."""
PROGRAM = [
    "br.call.sptk.few b1=f", "nop.m 0", "br.call.sptk.few b1=f", "br.cond.sptk.few end",
    "f:", "br.call.sptk.few b2=h", "br.call.sptk.few b2=h", "break.i 5", "br.ret.sptk.few b1",
    "h:", "nop.m 0", "br.ret.sptk.few b2",
    "end:",
]  # fmt: skip
"""Calls f twice, which calls h twice, and the system once."""
F, H = (labels_of([*PROGRAM, END], CODE)[name] for name in ("f", "h"))
G = VECTORS + BREAK + 16 * INTERRUPTIBLE.index("g:")

Paths = dict[tuple[int, ...], tuple[int, int]]
"""By the addresses of the functions of a path, without the first one: how often its last was called, and what it
executed itself."""


def call_paths(made: SystemProcessor) -> Paths:
    tree = CallTree(made.table, Increments([]), None, traced=True, counts_words=True)
    run(made, tree)
    assert not tree.lost
    paths: list[tuple[int, ...]] = []
    found: Paths = {}
    for parent, entry, _, calls, counts in tree.nodes():
        paths.append((*paths[parent], entry) if paths else ())
        found[paths[-1]] = calls, counts[-1]
    return found


def program() -> SystemProcessor:
    return code(PROGRAM, {BREAK: INTERRUPTIBLE, EXTERNAL: ACKNOWLEDGE}, IC | UNMASKED)


@cache
def undisturbed() -> Paths:
    return call_paths(program())


def test_a_handler_is_called_by_what_it_interrupts() -> None:
    handler = VECTORS + BREAK
    breaks, functions = INTERRUPTIBLE.index("g:"), undisturbed()
    before_break = functions[F,][1] - 2 * 3 * EACH  # of its bundle, which the handler skips
    assert 0 <= before_break <= 2 * (EACH - 1)
    assert {path: found for path, found in functions.items() if len(path) > 1} == {
        (F, H): (4, 4 * 2 * EACH),
        (F, handler): (2, 2 * breaks * EACH),
        (F, handler, G): (2, 2 * 2 * EACH),
    }
    assert functions[F,][0] == 2


def retired() -> int:
    made = program()
    tree = CallTree(made.table, Increments([]), None, traced=True, counts_words=True)
    run(made, tree)
    return made.retired


@each("at", range(1, 150))
def test_an_interrupt_anywhere_changes_no_other_path(at: int) -> None:
    """Also between a call and the first instruction of what is called, and within another handler."""
    if at >= retired():
        pytest.skip("the program has ended before")
    made = program()
    made.set_cr(ITV, VECTOR)
    made.set_cr(ITM, at)
    found = call_paths(made)
    others = {path: counts for path, counts in found.items() if VECTORS + EXTERNAL not in path}
    assert others == undisturbed()
    assert [counts for path, counts in found.items() if VECTORS + EXTERNAL in path] == [(1, len(ACKNOWLEDGE) * EACH)]
