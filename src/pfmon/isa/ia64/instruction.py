"""A row of the instruction set as an object, and the meaning of row()'s arguments (encoding_rows.py)."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import NamedTuple

from pfmon.isa.ia64 import operand_uses
from pfmon.isa.ia64._encodings import AccessFlag, AccessType, Ctype, Effect, Emit, Nat, Predicated
from pfmon.isa.ia64.formats import FORMATS, Format
from pfmon.isa.ia64.operand_uses import OperandUse, Register
from pfmon.isa.ia64.operands import OPERANDS, REGISTERS, SMALL, Operand, operand
from pfmon.stream._stream import Ia64Kind, Kind

# How NaT bits of general registers are treated when the engine executes instruction by instruction:
#   propagate  the target's NaT bit is the OR of the sources'
#   consume    a source's NaT bit is a Register NaT Consumption fault; targets get 0
#   compare    a source's NaT bit decides the predicate targets, as ``ctype`` says
#   own        the handler reads and writes NaT bits
NAT = {
    "propagate": Nat.NAT_PROPAGATE,
    "consume": Nat.NAT_CONSUME,
    "compare": Nat.NAT_COMPARE,
    "own": Nat.NAT_OWN,
}

# Tests of the qualifying predicate: by the translator's guard, by the handler, or none (no qp field).
PREDICATED = {
    "guard": Predicated.PREDICATED_GUARD,
    "own": Predicated.PREDICATED_OWN,
    "none": Predicated.PREDICATED_NONE,
}

# Treatment of a row by the translator.
EMIT = {
    "plain": Emit.EMIT_PLAIN,
    "branch": Emit.EMIT_BRANCH,
    "memory": Emit.EMIT_MEMORY,
    "check": Emit.EMIT_CHECK,
    "alloc": Emit.EMIT_ALLOC,
    "break": Emit.EMIT_BREAK,
    "end": Emit.EMIT_END,
}

# Comparison types (SDM volume 3, cmp: table of comparison types); "none" is the normal type.
CTYPE = {
    "": Ctype.CTYPE_NO_COMPARISON,
    "none": Ctype.CTYPE_NONE,
    "unc": Ctype.CTYPE_UNC,
    "and": Ctype.CTYPE_AND,
    "or": Ctype.CTYPE_OR,
    "or.andcm": Ctype.CTYPE_OR_ANDCM,
}

_TOKEN = re.compile(r"[a-z]+[0-9]*")

# Kinds as plain integers: there are thousands of rows, and operations on flags are slow.
LOAD, STORE, ATOMIC, PREFETCH = int(Kind.LOAD), int(Kind.STORE), int(Kind.ATOMIC), int(Kind.PREFETCH)
FLOAT, CALLS = int(Kind.FLOAT), int(Kind.CALL | Kind.RETURN)
RSE_EVENT, SLOT_B = int(Ia64Kind.RSE_EVENT), int(Ia64Kind.SLOT_B)

# Properties of a load's or store's access that follow from its kinds.
FLAGS_BY_KIND = {
    int(Ia64Kind.SPECULATIVE): int(AccessFlag.ACCESS_SPECULATIVE),
    int(Ia64Kind.ADVANCED): int(AccessFlag.ACCESS_ADVANCED),
    int(Ia64Kind.LOAD_CHECK): int(AccessFlag.ACCESS_CHECK),
    int(Ia64Kind.SPILL_FILL): int(AccessFlag.ACCESS_SPILL_FILL),
}
ACCESS_LOAD, ACCESS_FLOAT_LOAD = int(AccessType.ACCESS_LOAD), int(AccessType.ACCESS_FLOAT_LOAD)
ACCESS_FLUSH, FLUSH_LINE = int(AccessType.ACCESS_FLUSH), int(Effect.EFFECT_FLUSH_LINE)
ACCESS_STORE, ACCESS_FLOAT_STORE = int(AccessType.ACCESS_STORE), int(AccessType.ACCESS_FLOAT_STORE)
ACCESS_SEMAPHORE, ACCESS_LFETCH = int(AccessType.ACCESS_SEMAPHORE), int(AccessType.ACCESS_LFETCH)

# Text after the brackets of a memory operand: the value added to the base register.
_UPDATE = re.compile(r"\](=[^,]*)?,(?!ar\.)[^=]*$")


class Tie(NamedTuple):
    """A condition on two fields of one width: a == b, or a == ~b."""

    a: str
    b: str
    complement: bool


class Row(NamedTuple):
    """One encoding of one instruction. ``mask`` and ``value``: the fixed bits; the rest as given to row().

    ``access``: AccessType, None without an access. ``access_flags``: with those that follow from the kinds.
    ``sources`` and ``targets``: the registers that it reads and writes, implicit ones as well.
    """

    number: int
    layout: Format
    units: tuple[str, ...]
    text: str
    run: int
    kind: int
    isa_kind: int
    nat: str
    predicated: str
    size: int
    access: int | None
    access_flags: int
    branch: int | None
    whether: int
    many: bool
    clear: bool
    effect: int
    fp_operations: int
    fp_halves: bool
    op_x: int | str
    ip: bool
    emit: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    ctype: str
    over: tuple[str, ...]
    tie: Tie | None
    mask: int
    value: int
    registers: tuple[Register, ...]
    immediates: tuple[tuple[str, str, Operand], ...]  # (place: imm, y or x; name in the text; operand)
    sources: tuple[OperandUse, ...]
    targets: tuple[OperandUse, ...]

    @property
    def mnemonic(self) -> str:
        """The text before the operands."""
        return self.text.split(" ", 1)[0]


def made(
    number: int,
    layout: str,
    text: str,
    run: int,
    *,
    kind: int = 0,
    isa_kind: int = 0,
    nat: str = "propagate",
    predicated: str = "guard",
    size: int = 0,
    access_flags: int = 0,
    branch: int | None = None,
    whether: int = 0,
    many: bool = False,
    clear: bool = False,
    effect: int = 0,
    fp_operations: int = 0,
    fp_halves: bool = False,
    op_x: int | str = 0,
    ip: bool = False,
    emit: str = "plain",
    reads: str = "",
    writes: str = "",
    ctype: str = "",
    units: str = "",
    over: str | tuple[str, ...] = (),
    tie: str = "",
    **fixed: int,
) -> Row:
    """The row of a call of row() (arguments: encoding_rows.py). ValueError for arguments that do not fit."""
    form = FORMATS[layout]
    _check_choices(text, nat=(nat, NAT), predicated=(predicated, PREDICATED), emit=(emit, EMIT), ctype=(ctype, CTYPE))
    mask, value = _fixed_bits(form, text, fixed)
    kind, isa_kind = int(kind), int(isa_kind)
    slots = tuple(units.split()) if units else {"A": ("M", "I")}.get(form.unit, (form.unit,))
    if kind & CALLS:
        isa_kind |= RSE_EVENT
    if slots == ("B",):
        isa_kind |= SLOT_B
    updates = bool(kind & (LOAD | STORE | PREFETCH)) and not kind & ATOMIC
    operands = text.partition(" ")[2]
    registers = _registers(layout, operands, updates)
    read, written = tuple(reads.split()), tuple(writes.split())
    if not form.predicated and predicated == "guard":
        predicated = "none"
    return Row(
        number=number,
        layout=form,
        units=slots,
        text=text,
        run=run,
        kind=kind,
        isa_kind=isa_kind,
        nat=nat,
        predicated=predicated,
        size=size,
        access=_access(kind, int(effect)),
        access_flags=int(access_flags) | _flags(isa_kind),
        branch=None if branch is None else int(branch),
        whether=int(whether),
        many=many,
        clear=clear,
        effect=int(effect),
        fp_operations=fp_operations,
        fp_halves=fp_halves,
        op_x=op_x,
        ip=ip,
        emit=emit,
        reads=read,
        writes=written,
        ctype=ctype,
        over=(over,) if isinstance(over, str) else over,
        tie=_tie(form, text, tie),
        mask=mask,
        value=value,
        registers=registers,
        immediates=_immediates(layout, operands),
        sources=_sources(layout, registers, read, kind, isa_kind),
        targets=_targets(layout, registers, written, kind),
    )


def _access(kind: int, effect: int) -> int | None:
    """The kind of memory access of an instruction (AccessType)."""
    if effect == FLUSH_LINE:
        return ACCESS_FLUSH
    if kind & ATOMIC:
        return ACCESS_SEMAPHORE
    if kind & PREFETCH:
        return ACCESS_LFETCH
    if kind & LOAD:
        return ACCESS_FLOAT_LOAD if kind & FLOAT else ACCESS_LOAD
    if kind & STORE:
        return ACCESS_FLOAT_STORE if kind & FLOAT else ACCESS_STORE
    return None


@cache
def _flags(isa_kind: int) -> int:
    return sum(flag for kind, flag in FLAGS_BY_KIND.items() if isa_kind & kind)


@cache
def _sources(
    layout: str, registers: tuple[Register, ...], reads: tuple[str, ...], kind: int, isa_kind: int
) -> tuple[OperandUse, ...]:
    return tuple(operand_uses.sources(FORMATS[layout], registers, reads, kind, isa_kind))


@cache
def _targets(
    layout: str, registers: tuple[Register, ...], writes: tuple[str, ...], kind: int
) -> tuple[OperandUse, ...]:
    return tuple(operand_uses.targets(FORMATS[layout], registers, writes, kind))


def _check_choices(text: str, **given: tuple[str, Collection[str]]) -> None:
    for name, (choice, choices) in given.items():
        if choice not in choices:
            raise ValueError(f"{text}: {name} is {choice!r}, not one of {', '.join(choices)}")


def _fixed_bits(form: Format, text: str, fixed: dict[str, int]) -> tuple[int, int]:
    mask = value = 0
    for name, number in {**{zero: 0 for zero in form.fields if zero == "zero"}, **fixed}.items():
        if name not in form.fields:
            raise ValueError(f"{text}: format {form.name} has no field {name}")
        mask |= form.fields[name].mask
        value |= form.fields[name].put(number)
    if "op" not in fixed:
        raise ValueError(f"{text}: no major opcode given")
    return mask, value


def _tie(form: Format, text: str, tie: str) -> Tie | None:
    if not tie:
        return None
    a, sign, b = re.split(r"([=~])", tie)
    if form.fields[a].width != form.fields[b].width:
        raise ValueError(f"{text}: {a} and {b} differ in width")
    return Tie(a, b, sign == "~")


@cache
def operand_names(operands: str) -> list[str]:
    """The operand names in an assembler form (without its mnemonic), in order."""
    return [
        token.group()
        for token in _TOKEN.finditer(operands)
        if (token.group() in REGISTERS or token.group() in OPERANDS)
        and operands[token.start() - 1 : token.start()] not in (".", "@")
    ]


# Rows come by the thousand, and most differ from others only in completers: hence the caches.
@cache
def _immediates(layout: str, operands: str) -> tuple[tuple[str, str, Operand], ...]:
    found = []
    free = ["imm", "y"]
    for name in operand_names(operands):
        if name in REGISTERS:
            continue
        way = operand(FORMATS[layout], name)
        if way is None:
            raise ValueError(f"{operands}: format {layout} has no operand {name}")
        found.append(("x" if name in SMALL else free.pop(0), name, way))
    return tuple(found)


@cache
def _registers(layout: str, operands: str, updates: bool) -> tuple[Register, ...]:
    """Register operands with their roles: targets left of "=", else sources; [r3] is always a source, and also a target
    when text follows the brackets and ``updates`` (loads, stores, line prefetches)."""
    left, equals, _ = operands.partition("=")
    update = _UPDATE.search(operands) if updates else None
    found = []
    for name in dict.fromkeys(operand_names(operands)):
        if name not in REGISTERS:
            continue
        if name not in FORMATS[layout].fields:
            raise ValueError(f"{operands}: format {layout} has no field {name}")
        file, place = REGISTERS[name]
        bracketed = f"[{name}]" in operands
        target = bool(equals) and name in _TOKEN.findall(left) and not bracketed
        source = not target or name in _TOKEN.findall(operands.partition("=")[2])
        base = bracketed and update is not None
        found.append(Register(name, file, place, source, target or base, bracketed, base))
    return tuple(found)
