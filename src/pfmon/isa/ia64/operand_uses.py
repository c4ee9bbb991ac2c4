"""The registers that an encoding reads and writes, and how: operands and implicit registers.

operations.csv has the use of a format's operands, with latency classes as in the Montecito manual's table 2-8.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from os.path import dirname, join
from typing import NamedTuple

from pfmon.csv_tables import rows
from pfmon.isa.ia64._encodings import Operation, Place, RegisterIndex, Use
from pfmon.isa.ia64.formats import Format
from pfmon.stream._stream import Ia64Kind, Kind

# As plain integers: operations on flags are slow.
BRANCH, CALL, RETURN, STORE = int(Kind.BRANCH), int(Kind.CALL), int(Kind.RETURN), int(Kind.STORE)
LOOP = int(Ia64Kind.LOOP)

QP, FIXED = int(Place.PLACE_QP), int(Place.FIXED)
FILES = {file: int(RegisterIndex[f"{file}_FIRST"]) for file in ("GR", "FR", "PR", "BR")}
NAMED = {f"ar.{name}": int(RegisterIndex[f"AR_{name.upper()}"]) for name in ("lc", "ec", "pfs", "ccv", "unat", "fpsr")}
LOOP_REGISTERS = ("ar.lc", "ar.ec", "ar.pfs")
AR_OTHER, CR_ANY, PR_ALL = int(RegisterIndex.AR_OTHER), int(RegisterIndex.CR_ANY), int(RegisterIndex.PR_ALL)
USES = {name.removeprefix("USE_").lower(): int(use) for name, use in Use.__members__.items()}
OPERATIONS = {name.removeprefix("OP_").lower(): int(operation) for name, operation in Operation.__members__.items()}


class Register(NamedTuple):
    """A register operand: its file (GR, FR, PR, BR, AR, CR), its place among Op.r1..r4 (0..3), its role.

    ``address``: it is in brackets. ``base``: the address, which the instruction updates.
    """

    field: str
    file: str
    place: int
    source: bool
    target: bool
    address: bool
    base: bool


class OperandUse(NamedTuple):
    """``place`` 0-3: r1 to r4; Place.PLACE_QP; Place.FIXED: the register ``first`` itself. ``what``: a Use (of a
    source) or Operation (of a target). ``first``: the start of its register file (RegisterIndex)."""

    place: int
    what: int
    first: int


class FormatUse(NamedTuple):
    """A row of operations.csv."""

    operation: str
    use: str
    predicate: str


@cache
def formats_use() -> dict[str, FormatUse]:
    """Operand uses by format."""
    columns = ("format", *FormatUse._fields, "description")
    table = rows(join(dirname(__file__), "operations.csv"), columns)
    return {layout: FormatUse(operation, use, predicate) for layout, operation, use, predicate, _ in table}


def sources(
    layout: Format, registers: Iterable[Register], reads: Iterable[str], kind: int, isa_kind: int
) -> list[OperandUse]:
    """Registers read: the qualifying predicate, operands, ``reads``, and those that branches read implicitly."""
    found = []
    if layout.predicated:
        use = "branch_predicate" if kind & BRANCH else "predicate"
        found.append(OperandUse(QP, USES[use], FILES["PR"]))
    found += [_source(layout, register, kind) for register in registers if register.source]
    for implicit in reads:
        if implicit == "pr":
            found.append(OperandUse(FIXED, USES["predicate"], PR_ALL))
        elif implicit != "ar.fpsr":
            found.append(OperandUse(FIXED, USES["application"], NAMED.get(implicit, AR_OTHER)))
    if isa_kind & LOOP:
        found += [OperandUse(FIXED, USES["branch"], NAMED[name]) for name in ("ar.lc", "ar.ec")]
    if kind & RETURN:
        found.append(OperandUse(FIXED, USES["branch"], NAMED["ar.pfs"]))
    return found


def _source(layout: Format, register: Register, kind: int) -> OperandUse:
    if register.file == "CR":
        return OperandUse(FIXED, USES["application"], CR_ANY)
    if register.file == "AR":
        return OperandUse(register.place, USES["application"], AR_OTHER)
    use = formats_use()[layout.name].use
    if use == "address" and not register.address:  # a memory operand's other register is data
        use = "store" if kind & STORE and not register.base else "alu"
    elif register.file == "BR":
        use = "branch"
    return OperandUse(register.place, USES[use], FILES[register.file])


def targets(layout: Format, registers: Iterable[Register], writes: Iterable[str], kind: int) -> list[OperandUse]:
    """Registers written: operands, ``writes``, and PFS by calls."""
    found = [_target(layout, register) for register in registers if register.target]
    for implicit in writes:
        if implicit.startswith("ar.") and implicit != "ar.fpsr":
            operation = "to_loop" if implicit in LOOP_REGISTERS else "to_register"
            found.append(OperandUse(FIXED, OPERATIONS[operation], NAMED.get(implicit, AR_OTHER)))
    if kind & CALL:
        found.append(OperandUse(FIXED, OPERATIONS["to_branch"], NAMED["ar.pfs"]))
    return found


def _target(layout: Format, register: Register) -> OperandUse:
    format_use = formats_use()[layout.name]
    if register.base:
        return OperandUse(register.place, OPERATIONS["alu"], FILES["GR"])
    if register.file == "PR":
        return OperandUse(register.place, OPERATIONS[format_use.predicate], FILES["PR"])
    if register.file == "BR":
        return OperandUse(register.place, OPERATIONS["to_branch"], FILES["BR"])
    if register.file == "AR":
        return OperandUse(register.place, OPERATIONS["to_register"], AR_OTHER)
    if register.file == "CR":
        return OperandUse(FIXED, OPERATIONS["to_register"], CR_ANY)
    return OperandUse(register.place, OPERATIONS[format_use.operation], FILES[register.file])
