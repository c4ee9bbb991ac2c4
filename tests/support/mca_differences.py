"""Why llvm-mca says something else of a measured block than the machine: the first cause that holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

CAUSES = {
    "cpuid": "cpuid takes about a hundred cycles",
    "stack": "push and pop change the stack pointer in no time",
    "forwarding": "a load gets what a store before it wrote, after some cycles",
    "prefix": "a prefix changes the length of an instruction, for its immediate of 16 bits",
    "false dependence": "bsr waits for its destination",
    "latency": "moves are eliminated, and simple loads take four cycles",
    "slow lea": "an lea of three parts, or with rbp or r13 as its base, has one port and three cycles",
    "fetch": "code comes from the decoders, 16 bytes in a cycle",
    "decoders": "instructions in 16 bytes, and those that may fuse with a jump, as the decoders take them",
}
"""Cause -> what the machine knows and llvm-mca does not, in the order in which they are looked for."""

BYTES = {"byte": 1, "word": 2, "dword": 4, "qword": 8, "xmmword": 16, "ymmword": 32}
FETCH = 16
SLOWER = 1.15
"""Fetching is the cause if it takes this much longer than llvm-mca says."""


class Operand(NamedTuple):
    """An operand in memory; all registers but those of the stack have the same value (measured_blocks.py)."""

    on_stack: bool
    displacement: int
    size: int

    def overlaps(self, other: Operand) -> bool:
        ends = self.displacement + self.size, other.displacement + other.size
        return self.on_stack == other.on_stack and self.displacement < ends[1] and other.displacement < ends[0]


def operand(text: str) -> Operand | None:
    """The operand of capstone's text; None: it is not in memory."""
    found = re.search(r"(\w+) ptr (?:\w\w:)?\[([^]]*)\]", text)
    if found is None:
        return None
    part = re.search(r"([+-]) (0x[0-9a-f]+|\d+)$", found[2])
    displacement = int(part[2], 0) * (1 if part[1] == "+" else -1) if part else 0
    return Operand("rsp" in found[2] or "rbp" in found[2], displacement, BYTES[found[1]])


def forwards(instructions: Sequence[tuple[str, list[str]]]) -> bool:
    """Whether a load has bytes that a store writes, in this copy of the block or the one before."""
    loads, stores = [], []
    for name, operands in instructions:
        for place, one in enumerate(map(operand, operands)):
            if one is None or name in ("lea", "nop"):
                continue
            written = place == 0 and name not in ("cmp", "test")
            if written:
                stores.append(one)
            if not written or not name.startswith(("mov", "set")):
                loads.append(one)
    return any(store.overlaps(load) for store, load in product(stores, loads))


def has_slow_lea(instructions: Sequence[tuple[str, list[str]]]) -> bool:
    addresses = [operands[1] for name, operands in instructions if name == "lea"]
    return any(one.count("+") + one.count("-") == 2 or re.search(r"\[(rbp|r13) \+ r", one) for one in addresses)


def has_length_changing_prefix(instructions: Sequence[tuple[str, list[str]]]) -> bool:
    words = ("word ptr", "ax", "bx", "cx", "dx", "si", "di")
    wide = [
        operands for _, operands in instructions if len(operands) == 2 and re.fullmatch(r"0x[0-9a-f]+", operands[1])
    ]
    return any(one[0].startswith(words) and int(one[1], 0) > 0x7F for one in wide)


def cause(text: str, size: int, measured: float, by_mca: float) -> str:
    """The cause of a block's difference; ``text``: disassembled, ``size``: its bytes, and its cycles."""
    split = [one.partition(" ") for one in text.split("; ")]
    instructions = [(name, rest.split(", ")) for name, _, rest in split]
    names = {name for name, _ in instructions}
    holds = {
        "cpuid": "cpuid" in names,
        "stack": bool(names & {"push", "pop"}),
        "forwarding": forwards(instructions),
        "prefix": has_length_changing_prefix(instructions),
        "false dependence": "bsr" in names,
        "latency": measured < by_mca,
        "slow lea": has_slow_lea(instructions),
        "fetch": size / FETCH >= SLOWER * by_mca,
        "decoders": True,
    }
    return next(one for one in CAUSES if holds[one])
