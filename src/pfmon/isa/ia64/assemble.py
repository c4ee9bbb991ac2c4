"""One instruction from its assembler form: the inverse of the decoder, for tests and synthetic code."""

from __future__ import annotations

from functools import cache

from pfmon.isa.ia64.formats import SLOT_BITS, Format
from pfmon.isa.ia64.instruction import Row
from pfmon.isa.ia64.instruction_set import INSTRUCTIONS
from pfmon.isa.ia64.operands import Operand


def rows_of(text: str) -> list[Row]:
    """The rows with this form (a few forms have several). ValueError when there is none."""
    found = _forms().get(text)
    if found is None:
        raise ValueError(f"no instruction {text!r}")
    return list(found)


@cache
def _forms() -> dict[str, list[Row]]:
    """The rows by their form."""
    forms: dict[str, list[Row]] = {}
    for row in INSTRUCTIONS:
        forms.setdefault(row.text, []).append(row)
    return forms


def encode(text: str, qp: int = 0, bundle_address: int = 0, **operands: int) -> tuple[str, int, int]:
    """(unit, slot, L slot) of the instruction with the form ``text`` (a row's text, such as "add r1=r2,r3").

    ``operands`` give the values of the form's operands by name; other fields are 0. ValueError for values that do not
    fit, and when another row takes the encoding.
    """
    reasons = []
    for row in rows_of(text):
        try:
            encoding = _fields(row, qp, bundle_address, operands)
        except ValueError as reason:
            reasons.append(str(reason))
            continue
        if encoding & row.mask == row.value:
            return row.units[0], encoding & ((1 << SLOT_BITS) - 1), encoding >> SLOT_BITS
        reasons.append("an operand contradicts the fixed fields")
    raise ValueError(f"{text}: {'; '.join(reasons)}")


def _fields(row: Row, qp: int, bundle_address: int, operands: dict[str, int]) -> int:
    encoding = row.value
    fields = row.layout.fields
    if qp:
        encoding |= fields["qp"].put(qp)
    left = dict(operands)
    for register in row.registers:
        encoding |= fields[register.field].put(left.pop(register.field))
    for _, name, operand in row.immediates:
        encoding |= _immediate(row.layout, operand, left.pop(name), bundle_address)
    if left:
        raise ValueError(f"no operand {', '.join(left)}")
    if row.tie:
        a, b = fields[row.tie.a], fields[row.tie.b]
        # The operand determines one of the two fields; the other follows from it.
        given = a.get(encoding) or b.get(encoding)
        other = given ^ ((1 << a.width) - 1) if row.tie.complement else given
        named = {field for _, _, operand in row.immediates for field in operand.fields}
        named |= {register.field for register in row.registers}
        encoding = encoding & ~(a.mask | b.mask)
        encoding |= a.put(given) | b.put(other) if row.tie.a in named else a.put(other) | b.put(given)
    return encoding


def _immediate(layout: Format, operand: Operand, value: int, bundle_address: int) -> int:
    """The operand's fields set so that it has ``value``."""
    width = sum(layout.fields[field].width for field in operand.fields)
    if operand.table:
        joined = operand.table.index(value)
    else:
        joined, rest = divmod(value - operand.base - (bundle_address if operand.relative else 0), operand.step)
        low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if operand.signed else (0, (1 << width) - 1)
        if rest or not low <= joined <= high:
            raise ValueError(f"{value} cannot be encoded")
        joined &= (1 << width) - 1
    encoding = 0
    for name in reversed(operand.fields):
        field = layout.fields[name]
        encoding |= field.put(joined & ((1 << field.width) - 1))
        joined >>= field.width
    return encoding
