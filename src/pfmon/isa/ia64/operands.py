"""Assembler operands of IA-64: their fields in an instruction, and how they print.

Source: Software Developer's Manual, volume 3, 4.8 ("Immediate Formation") and the operand columns of the
format tables. Operands that are registers share their field's name (r1, f2, p1, b2, ar3, cr3).
"""

from __future__ import annotations

from typing import NamedTuple

from pfmon.isa.ia64.formats import Format


class Operand(NamedTuple):
    """An immediate: value = base + step * (fields joined, highest first), sign-extended when ``signed``.

    ``table`` gives the values of a field that is only an index. ``relative``: the bundle's address is added.
    ``style`` is how objdump prints it: dec, hex, or target (a 16-digit address).
    """

    fields: tuple[str, ...]
    signed: bool = False
    base: int = 0
    step: int = 1
    relative: bool = False
    table: tuple[int, ...] = ()
    style: str = "dec"


BUNDLE = 16  # bytes; branch displacements count bundles


def _target(*fields: str) -> Operand:
    return Operand(fields, signed=True, step=BUNDLE, relative=True, style="target")


# Name in an assembler form -> the ways it is encoded; the first whose fields the format has is used, and a
# "FORMAT.name" key takes precedence.
OPERANDS: dict[str, tuple[Operand, ...]] = {
    "count2": (Operand(("ct2d",), base=1),),
    "I1.count2": (Operand(("ct2d",), table=(0, 7, 15, 16)),),
    "imm1": (Operand(("s",), signed=True),),
    "imm8": (Operand(("s", "imm7b"), signed=True),),
    "imm9": (Operand(("s", "i", "imm7b"), signed=True), Operand(("s", "i", "imm7a"), signed=True)),
    "imm14": (Operand(("s", "imm6d", "imm7b"), signed=True),),
    "imm22": (Operand(("s", "imm5c", "imm9d", "imm7b"), signed=True),),
    "mhtype8": (Operand(("mht8c",), style="hex"),),
    "count5": (Operand(("count5b",)), Operand(("ccount5c",), base=31, step=-1)),
    "count6": (Operand(("count6d",)), Operand(("cpos6c",), base=63, step=-1), Operand(("pos6b",))),
    "pos6": (
        Operand(("pos6b",)),
        Operand(("cpos6b",), base=63, step=-1),
        Operand(("cpos6c",), base=63, step=-1),
        Operand(("cpos6d",), base=63, step=-1),
    ),
    "len6": (Operand(("len6d",), base=1),),
    "len4": (Operand(("len4d",), base=1),),
    "imm21": (Operand(("i", "imm20a"), style="hex"),),
    "imm24": (Operand(("i", "i2d", "imm21a"), style="hex"),),
    "imm62": (Operand(("i", "imm41", "imm20a"), style="hex"),),
    "imm64": (Operand(("i", "imm41", "ic", "imm5c", "imm9d", "imm7b"), style="hex"),),
    "tgt25": (_target("s", "imm13c", "imm7a"), _target("s", "imm20b"), _target("s", "imm20a")),
    "tgt64": (_target("i", "imm39", "imm20b"),),
    "tag13": (_target("timm9c"), _target("t2e", "timm7a")),
    "mask17": (Operand(("s", "mask8c", "mask7a"), signed=True, step=2, style="hex"),),
    "imm44": (Operand(("s", "imm27a"), signed=True, step=1 << 16, style="hex"),),
    "inc3": (Operand(("s", "i2b"), table=(16, 8, 4, 1, -16, -8, -4, -1)),),
    "imm2": (Operand(("i2b",)),),
    "sof": (Operand(("sof",)),),
    "sol": (Operand(("sol",)),),
    "sor": (Operand(("sor",), step=8),),
    "fclass9": (Operand(("fclass7c", "fc2"), style="hex"),),
    "amask7": (Operand(("amask7b",), style="hex"),),
    "omask7": (Operand(("omask7c",), style="hex"),),
}

# Immediates that go to Op.x (the others fill Op.imm, then Op.y).
SMALL = frozenset({"len4", "len6", "sor"})

# Registers: the field's name -> (register file, place among Op.r1..r4 as 0..3).
REGISTERS: dict[str, tuple[str, int]] = {
    "r1": ("GR", 0), "r2": ("GR", 1), "r3": ("GR", 2),
    "f1": ("FR", 0), "f2": ("FR", 1), "f3": ("FR", 2), "f4": ("FR", 3),
    "p1": ("PR", 0), "p2": ("PR", 3),
    "b1": ("BR", 0), "b2": ("BR", 1),
    "ar3": ("AR", 2), "cr3": ("CR", 2),
}  # fmt: skip

# Application registers by number (SDM volume 1, 3.1.8); others print as arNUMBER.
APPLICATION_REGISTERS: dict[int, str] = {
    **{number: f"k{number}" for number in range(8)},
    16: "rsc", 17: "bsp", 18: "bspstore", 19: "rnat", 21: "fcr", 24: "eflag", 25: "csd", 26: "ssd",
    27: "cflg", 28: "fsr", 29: "fir", 30: "fdr", 32: "ccv", 36: "unat", 40: "fpsr", 44: "itc", 64: "pfs",
    65: "lc", 66: "ec",
}  # fmt: skip

# Control registers by number (SDM volume 2, 3.3.3).
CONTROL_REGISTERS: dict[int, str] = {
    0: "dcr", 1: "itm", 2: "iva", 8: "pta", 16: "ipsr", 17: "isr", 19: "iip", 20: "ifa", 21: "itir",
    22: "iipa", 23: "ifs", 24: "iim", 25: "iha", 64: "lid", 65: "ivr", 66: "tpr", 67: "eoi",
    68: "irr0", 69: "irr1", 70: "irr2", 71: "irr3", 72: "itv", 73: "pmv", 74: "cmcv", 80: "lrr0", 81: "lrr1",
}  # fmt: skip


def operand(layout: Format, name: str) -> Operand | None:
    """The immediate ``name`` as ``layout`` encodes it, or None when it is not an immediate of that format."""
    for way in OPERANDS.get(f"{layout.name}.{name}", OPERANDS.get(name, ())):
        if all(field in layout.fields for field in way.fields):
            return way
    return None
