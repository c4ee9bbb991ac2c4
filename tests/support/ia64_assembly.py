"""Assembler text to bundles, for tests of running code: an instruction a bundle, or a bundle as it is given.

    assemble(["loop:", "ld8 r5=[r6],8", "(p6) br.cond.sptk.few loop", BREAK])

Operands stand as in the rows' texts (objdump's order); labels and absolute addresses serve as branch targets.
"""

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from pfmon.isa.ia64.assemble import encode
from pfmon.isa.ia64.bundle import TEMPLATES
from pfmon.isa.ia64.formats import SLOT_BITS
from pfmon.isa.ia64.instruction import operand_names
from pfmon.isa.ia64.instruction_set import INSTRUCTIONS
from pfmon.isa.ia64.operands import APPLICATION_REGISTERS, CONTROL_REGISTERS, REGISTERS

BREAK = "break.i 0"
CODE = 0x100000
NOP = {"M": "nop.m 0", "I": "nop.i 0", "F": "nop.f 0", "B": "nop.b 0"}
# Where an instruction of a unit goes when it stands alone: template (with a stop at its end), slot.
ALONE = {"M": ("MII", 0), "I": ("MII", 1), "F": ("MFI", 1), "B": ("MIB", 2), "X": ("MLX", 1)}
NUMBERS = {t.units: n for n, t in TEMPLATES.items() if t.stops == (False, False, True)}
FILES = {"GR": "r", "FR": "f", "PR": "p", "BR": "b"}
SPECIAL = {
    "AR": {f"ar.{name}": number for number, name in APPLICATION_REGISTERS.items()},
    "CR": {f"cr.{name}": number for number, name in CONTROL_REGISTERS.items()},
}


@cache
def _forms() -> dict[str, list[tuple[re.Pattern[str], str]]]:
    """By mnemonic: the pattern of each text, and the text."""
    found: dict[str, dict[str, re.Pattern[str]]] = {}
    for row in INSTRUCTIONS:
        mnemonic, _, operands = row.text.partition(" ")
        pattern = re.escape(operands)
        for name in operand_names(operands):
            pattern = re.sub(rf"(?<![a-z.]){name}(?![0-9])", _group(name), pattern, count=1)
        found.setdefault(mnemonic, {})[row.text] = re.compile(pattern)
    return {name: [(p, text) for text, p in forms.items()] for name, forms in found.items()}


def _group(name: str) -> str:
    file = REGISTERS[name][0] if name in REGISTERS else ""
    if file in FILES:
        return rf"{FILES[file]}(?P<{name}>\\d+)"
    return rf"(?P<{name}>[^,\\]=]+)"


def _value(name: str, text: str, labels: dict[str, int]) -> int:
    file = REGISTERS[name][0] if name in REGISTERS else ""
    if file in SPECIAL and text in SPECIAL[file]:
        return SPECIAL[file][text]
    if text in labels:
        return labels[text]
    if file in SPECIAL:
        return int(text.removeprefix(file.lower()))
    return int(text, 0)


def instruction(text: str, address: int = CODE, labels: dict[str, int] | None = None) -> tuple[str, int, int]:
    """(unit, slot, L slot) of one instruction; ValueError says why there is none."""
    match = re.fullmatch(r"(?:\(p(\d+)\) )?(\S+) ?(.*)", text)
    assert match is not None, text
    qp, mnemonic, operands = int(match[1] or 0), match[2], match[3].replace(" ", "")
    reasons = []
    for pattern, form in _forms().get(mnemonic, []):
        found = pattern.fullmatch(operands)
        if found is None:
            continue
        try:
            values = {name: _value(name, value, labels or {}) for name, value in found.groupdict().items()}
            return encode(form, qp, address, **values)
        except ValueError as reason:
            reasons.append(str(reason))
    raise ValueError(f"{text}: {'; '.join(reasons) or 'no such form'}")


@lru_cache(4096)
def _anywhere(text: str) -> tuple[str, int, int] | None:
    """The same of one that no label has a part in and that is the same at every address; None: it is not."""
    try:
        here, there = (instruction(text, address) for address in (CODE, CODE + 16))
    except ValueError:
        return None
    return here if here == there else None


def _placed(text: str, address: int, labels: dict[str, int] | None) -> tuple[str, int, int]:
    return _anywhere(text) or instruction(text, address, labels)


def join(template: int, slots: Iterable[int]) -> bytes:
    """A bundle of a template number and three 41-bit slots."""
    first, second, third = slots
    bundle = template | first << 5 | second << 5 + SLOT_BITS | third << 5 + 2 * SLOT_BITS
    return bundle.to_bytes(16, "little")


def bundle(units: str, *texts: str, address: int = CODE, labels: dict[str, int] | None = None) -> bytes:
    """A bundle of three instructions (two for MLX); an empty text is a nop."""
    if units == "MLX":
        slot, extension = _placed(texts[1], address, labels)[1:]
        return join(NUMBERS[units], (_placed(texts[0] or NOP["M"], address, labels)[1], extension, slot))
    parts = [_placed(text or NOP[unit], address, labels) for text, unit in zip(texts, units, strict=True)]
    for part, unit in zip(parts, units, strict=True):
        assert part[0] == unit or (part[0] == "M" and unit == "I"), (units, texts)
    return join(NUMBERS[units], (part[1] for part in parts))


def alone(text: str, address: int, labels: dict[str, int]) -> bytes:
    """A bundle of one instruction and nops."""
    unit, slot, extension = _placed(text, address, labels)
    units, place = ALONE[unit]
    if unit == "X":
        return join(NUMBERS[units], (_placed(NOP["M"], address, labels)[1], extension, slot))
    slots = [_placed(NOP[u], address, labels)[1] for u in units]
    slots[place] = slot
    return join(NUMBERS[units], slots)


Line = str | bytes | tuple[str, ...]


def labels_of(lines: Iterable[Line], base: int = CODE) -> dict[str, int]:
    """The addresses of the labels ("name:") among lines."""
    labels: dict[str, int] = {}
    for line in lines:
        if isinstance(line, str) and line.endswith(":"):
            labels[line[:-1]] = base
        else:
            base += len(line) if isinstance(line, bytes) else 16
    return labels


def assemble(lines: Iterable[Line], base: int = CODE) -> bytes:
    """Code of lines: texts, whole bundles as (units, text, text, text), bytes, and labels "name:"."""
    lines = list(lines)
    labels = labels_of(lines, base)
    code = b""
    for line in lines:
        address = base + len(code)
        if isinstance(line, bytes):
            code += line
        elif isinstance(line, tuple):
            code += bundle(line[0], *line[1:], address=address, labels=labels)
        elif not line.endswith(":"):
            code += alone(line, address, labels)
    return code
