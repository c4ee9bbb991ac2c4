"""Instruction forms with drawn operands, run one at a time: what the tests of integer instructions share."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import strategies as st

from pfmon.engine.ia64._ia64 import step
from pfmon.isa.ia64.assemble import encode, rows_of
from pfmon.isa.ia64.instruction import Row
from pfmon.isa.ia64.instruction_set import INSTRUCTIONS
from pfmon.isa.ia64.operands import Operand

DONE = 7  # status of a handler that just went on
MASK = (1 << 64) - 1
EDGES = [0, 1, 2, 63, 64, 65, 1 << 31, 1 << 32, 1 << 63, MASK, MASK - 1, MASK >> 1, 0x7FFF8000_7FFF8000,
         0x8000_7FFF_FFFF_0001, 0x80_7F_FF_00_01_FE_81_7E, 0x00FF00FF_00FF00FF]  # fmt: skip

words = st.one_of(st.sampled_from(EDGES), st.integers(0, MASK))
"""64-bit values, often where carries, signs and lanes meet."""

Model = Callable[["Values"], int]


class Values(dict[str, Any]):
    """Operands of an instruction by name: contents of registers (r2, r3), immediates."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


def signed(value: int, bits: int = 64) -> int:
    """The low ``bits`` of value in two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def draw_word(numbers: Random, others: list[int] | tuple[()] = ()) -> int:
    """As ``words``, for loops that are too long for hypothesis; at times one of ``others``
    with a bit changed."""
    kind = numbers.random()
    if others and kind < 0.3:
        return numbers.choice(others) ^ numbers.choice([0, 1, 1 << 31, 1 << 32, 1 << 63, 1 << numbers.randrange(64)])
    return numbers.choice(EDGES) if kind < 0.6 else numbers.getrandbits(64)


def draw_immediate(numbers: Random, row: Row, way: Operand) -> int:
    """A value that this immediate of the row can have, often the least or the greatest."""
    if way.table:
        return numbers.choice(way.table)
    fields = [row.layout.fields[name] for name in way.fields]
    if all(field.mask & row.mask for field in fields):  # one row per value
        low = high = fields[0].get(row.value)
    else:
        width = sum(field.width for field in fields)
        low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if way.signed else (0, (1 << width) - 1)
    middle = numbers.randint(low, high)
    return way.base + way.step * numbers.choice([low, high, middle, middle])


@dataclass
class Run:
    """An instruction that was run: its operands as given, register contents before, and what came out."""

    operands: dict[str, int]
    values: Values
    status: int
    before: dict[str, Any]
    after: dict[str, Any]


def run(numbers: Random, text: str, state: dict[str, Any] | None = None, qp: int = 0, **given: int) -> Run:
    """Run the form ``text``: registers and immediates drawn (``given`` ones fixed), general registers too."""
    row = numbers.choice(rows_of(text))
    operands = dict(given)
    gr: dict[int, int] = {}
    for register in row.registers:
        width = row.layout.fields[register.field].width
        low = 1 if register.target and register.file == "GR" else 0
        number = operands.setdefault(register.field, numbers.randint(low, (1 << width) - 1))
        if register.file == "GR" and number and number not in gr:
            gr[number] = draw_word(numbers, list(gr.values()))
    for _, name, way in row.immediates:
        operands.setdefault(name, draw_immediate(numbers, row, way))
    before = {"gr": gr, "pr": 1, **(state or {})}
    unit, slot, extension = encode(text, qp=qp, **operands)
    status, after = step(unit, slot, before, extension)
    values = Values(operands)
    for register in row.registers:
        if register.file == "GR":
            values[register.field] = gr.get(operands[register.field], 0)
    return Run(operands, values, status, before, after)


def check_result(text: str, model: Model, times: int = 60) -> None:
    """The form writes what ``model`` says to r1, and changes nothing else."""
    numbers = Random(text)
    for _ in range(times):
        done = run(numbers, text)
        expected = dict(done.before["gr"])
        expected[done.operands["r1"]] = model(done.values) & MASK
        assert done.status == DONE
        assert done.after["gr"] == {number: value for number, value in expected.items() if value}, done
        assert (done.after["pr"], done.after["br"], done.after["nat"]) == (1, {}, set())


def forms(*layouts: str) -> set[str]:
    """The texts of all rows with these formats."""
    return {row.text for row in INSTRUCTIONS if row.layout.name in layouts}
