"""Last branch records of a run by single steps (x86_64_steps.py): a plain model after the Intel SDM, volume 3, sections
17.4.8, 17.7.2 and 17.9. capstone says what a branch is."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import capstone
from capstone import x86
from x86_64_steps import Step

FILTERS = {
    "any": {"jcc", "jmp", "indirect jmp", "call", "indirect call", "ret"},
    "any_call": {"call", "indirect call"},
    "any_ret": {"ret"},
    "call": {"call"},
    "cond": {"jcc"},
    "ind_call": {"indirect call"},
    "ind_jmp": {"indirect jmp"},
}
"""perf's name -> the kinds of branches (perf-record(1), --branch-filter)."""


class Taken(NamedTuple):
    """A taken branch; ``before``: instructions that had retired before its target."""

    kind: str
    source: int
    target: int
    before: int


@cache
def _disassembler() -> capstone.Cs:
    made = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    made.detail = True
    return made


@cache
def _kind(code: bytes, ip: int) -> tuple[str, int, int | None]:
    """What an instruction is: its kind, "" for one that is no branch, the address behind it, and its target if the code
    has that."""
    one = next(_disassembler().disasm(code, ip, 1))
    behind, name = ip + one.size, one.mnemonic.split()[-1]
    target = one.operands[0].imm if one.operands and one.operands[0].type == x86.X86_OP_IMM else None
    if name == "call":
        return ("indirect call" if target is None else "call"), behind, target
    if name == "jmp":
        return ("indirect jmp" if target is None else "jmp"), behind, target
    if name == "ret":
        return "ret", behind, None
    jumps = name.startswith(("j", "loop"))
    return ("jcc" if jumps else ""), behind, target if jumps else None


def taken_branches(steps: Sequence[Step]) -> Iterator[Taken]:
    """The taken branches of a run; no conditional one may jump to the instruction behind it."""
    for number, (step, following) in enumerate(pairwise(steps), 1):
        kind, behind, target = _kind(step.code, step.ip)
        assert kind != "jcc" or target != behind
        if kind and (kind != "jcc" or following.ip != behind):
            yield Taken(kind, step.ip, following.ip, number)


def last_branches(branches: Sequence[Taken], retired: int, depth: int, filters: Sequence[str]) -> list[Taken]:
    """The records when so many instructions had retired before the current one, the oldest first."""
    kinds = set().union(*(FILTERS[name] for name in filters))
    return [one for one in branches if one.before <= retired and one.kind in kinds][-depth:]


def last_calls(branches: Sequence[Taken], retired: int, depth: int) -> list[tuple[int, int]]:
    """The records in call stack mode: a return removes the one written last."""
    held: list[tuple[int, int]] = []
    for one in branches:
        if one.before > retired:
            break
        if one.kind == "ret":
            held = held[:-1]
        elif one.kind in ("call", "indirect call"):
            held = [*held, (one.source, one.target)][-depth:]
    return held
