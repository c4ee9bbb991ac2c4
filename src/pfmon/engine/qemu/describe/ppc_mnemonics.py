"""Properties of PowerPC mnemonics: kinds, access sizes, and integer unit operations.

capstone gives an instruction's mnemonic, and little else: neither which operand is read or written, nor sizes, nor
calls. Branches come from the encoding (ppc_describer.pyx). ``UNDECODED`` has encodings of the first PowerPC processors
unknown to capstone.
Source: Power ISA, book I; PowerPC 604 manual, chapter 2.
"""

from __future__ import annotations

import re
from functools import cache

from pfmon.engine.qemu._qemu import PpcDescriber, PpcRule
from pfmon.engine.qemu.describe.ppc_forms import EXTENSIONS, forms
from pfmon.stream._stream import AccessKind, BlockTable, BranchKind, Kind, PpcKind

DESCRIBER = PpcDescriber

SIZES = {
    1: r"lbz(?:u|x|ux)?|lbarx|stb(?:u|x|ux|cx)?|lvebx|stvebx|lxsibzx|stxsibx|lxvrbx|stxvrbx",
    2: r"lh[az](?:u|x|ux)?|lhbrx|lharx|sth(?:u|x|ux|cx|brx)?|lvehx|stvehx|lxsihzx|stxsihx|lxvrhx|stxvrhx",
    4: r"lwz(?:u|x|ux)?|lwa(?:x|ux)?|lwbrx|lwarx|stw(?:u|x|ux|cx|brx)?|lfs(?:u|x|ux)?|stfs(?:u|x|ux)?|lfiw[az]x|stfiwx"
    r"|lvewx|stvewx|lxsiw[az]x|stxsiwx|lxsspx?|stxsspx?|lxvwsx|eciwx|ecowx|lwat|stwat|lxvrwx|stxvrwx",
    8: r"ld(?:u|x|ux|brx|arx)?|std(?:u|x|ux|brx|cx)?|lfd(?:u|x|ux)?|stfd(?:u|x|ux)?|lxsdx?|stxsdx?"
    r"|lxvdsx|ldat|stdat|lxvrdx|stxvrdx",
    16: r"lq|stq|lqarx|stqcx|lvxl?|stvxl?|lxvx?|stxvx?|lxvd2x|stxvd2x|lxvw4x|stxvw4x|lxvh8x|stxvh8x|lxvb16x|stxvb16x"
    r"|lxvll?|stxvll?|lfdpx?|stfdpx?",
    32: r"lxvpx?|stxvpx?",
}
"""Loads and stores by size in bytes; the first letter distinguishes them."""

ACCESS = re.compile("|".join(f"(?P<bytes{size}>{pattern})" for size, pattern in SIZES.items()))

MULTIPLE = {"lmw": PpcRule.WORDS, "stmw": PpcRule.WORDS}
MULTIPLE |= {"lswi": PpcRule.BYTES, "stswi": PpcRule.BYTES, "lswx": PpcRule.SOME, "stswx": PpcRule.SOME}
MULTIPLE |= {"dcbz": PpcRule.LINE, "dcbzl": PpcRule.LINE}
"""Multiple accesses, whose size is in the encoding or known only at execution."""

FLOATING_ARITHMETIC = re.compile(
    r"f(?:n?m(?:add|sub)|add|sub|mul|div|sqrt|re|rsqrte|sel|cmp[uo]|ct|cf|ri|rsp|tdiv|tsqrt)\w*"
    r"|xs(?!abs|n?abs|neg|cpsgn)\w+|xv(?!abs|nabs|neg|cpsgn)\w+[sd]p\w*|v\w+fp|vrfi\w|vc[ft]\wxs|vcf\wx"
)
"""Mnemonics that compute with floating-point numbers, including vector instructions."""

FLOATING_MOVE = re.compile(r"f(?:mr|neg|abs|nabs|cpsgn)|x[sv](?:abs|nabs|neg|cpsgn)\w+|m[tf]fs\w*|mcrfs")
"""Mnemonics that move floating-point numbers or their status."""

FLOATING_ACCESS = re.compile(r"l(?:f|xs(?!i[bh]))\w+|st(?:f|xs(?!i[bh]))\w+")
"""Loads and stores of floating-point registers."""

INTEGER = re.compile(
    r"(?:add|sub|mul|div|mod|madd[hl]d|neg|and|or|xor|nand|ext|cnt|popcnt|cmp)\w*|nor|not|eqv|isel|li|lis|la|mr|x?nop"
    r"|s[lr]a?[dw]i?|rl\w+|rot\w+|clr(?!bhrb)\w+|ins[lr][wd]i|t[dw]\w*|trap|setb|darn|lnia|bpermd|addpcis|prty[wd]"
    r"|mcrxrx?|m[tf](?!f|vs|vrd)\w+"
)
"""Operations of a PowerPC 604's integer units: arithmetic, logic, shifts, comparisons, traps, and moves to and from
special registers and the whole condition register (PowerPC 604 manual, section 6.4). Nops are integer instructions."""

NAMED = {
    "nop": Kind.NOP,
    "xnop": Kind.NOP,
    "sc": Kind.SYSTEM,
    "scv": Kind.SYSTEM,
    "isync": Kind.SERIALIZE,
    **dict.fromkeys(("dcbt", "dcbtst", "dcbtt", "dcbtstt", "dcbtct", "dcbtds", "dcbtstct", "dcbtstds"), Kind.PREFETCH),
}
"""Kinds by mnemonic, where no pattern applies."""

SYNCHRONIZING = {
    **dict.fromkeys(("sync", "lwsync", "ptesync", "msync"), PpcKind.SYNC),
    **dict.fromkeys(("eieio", "mbar"), PpcKind.EIEIO),
    "icbi": PpcKind.ICBI,
}

TO_SPECIAL, FROM_SPECIAL = (f"{way}(?!f|v|cr|ocrf|msr|sr|tb|bhrb)\\w+" for way in ("mt", "mf"))
OF_UNITS = {
    PpcKind.RESERVES: re.compile(r"l[bhwdq]arx"),
    PpcKind.FLUSHES: re.compile(r"scv?|isync|mtxer|mcrxr"),
    PpcKind.CACHE: re.compile(r"dcb\w+|icbi\w*|(?:lw|pte|m)?sync|eieio|mbar"),
    PpcKind.MULTIPLE_CYCLE: re.compile(rf"(?:mul|div|mod|madd[hl]d)\w*|{TO_SPECIAL}|{FROM_SPECIAL}"),
    PpcKind.MFSPR: re.compile(FROM_SPECIAL),
    PpcKind.MTSPR: re.compile(TO_SPECIAL),
}
"""Operations of other units than the simple integer ones, and those with events of their own (PowerPC 604 manual,
chapter 6 and tables 9-2 and 9-3)."""

WITH_OVERFLOW = {
    8: "subfc",
    10: "addc",
    40: "subf",
    104: "neg",
    136: "subfe",
    138: "adde",
    200: "subfze",
    202: "addze",
    232: "subfme",
    233: "mulld",
    234: "addme",
    235: "mullw",
    266: "add",
    393: "divdeu",
    395: "divweu",
    425: "divde",
    427: "divwe",
    457: "divdu",
    459: "divwu",
    489: "divd",
    491: "divw",
}
"""Extended opcodes whose form with OE set (addo) capstone does not decode."""

UNDECODED_31 = {
    533: "lswx",
    661: "stswx",
    310: "eciwx",
    438: "ecowx",
    512: "mcrxr",
    791: "lfdpx",
    919: "stfdpx",
    276: "lqarx",
    182: "stqcx",
    13: "lxvrbx",
    45: "lxvrhx",
    77: "lxvrwx",
    109: "lxvrdx",
    333: "lxvpx",
    141: "stxvrbx",
    173: "stxvrhx",
    205: "stxvrwx",
    237: "stxvrdx",
    461: "stxvpx",
}
"""Extended opcodes of primary opcode 31 unknown to capstone."""

UNDECODED = {
    0xFC0007FE: {
        **{31 << 26 | (0x200 | extended) << 1: name for extended, name in WITH_OVERFLOW.items()},
        **{31 << 26 | extended << 1: name for extended, name in UNDECODED_31.items()},
        63 << 26 | 32 << 1: "fcmpo",
    },
    0xFC00000F: {6 << 26: "lxvp", 6 << 26 | 1: "stxvp"},
    0xFC000003: {57 << 26: "lfdp", 61 << 26: "stfdp", 62 << 26 | 2: "stq"},
    0xFC000000: {56 << 26: "lq"},
}
"""Mnemonics of instructions that capstone 5 does not decode, by fixed bits (Power ISA, appendix of opcode maps)."""


NO_REGISTER = 255
"""capstone's registers are unused: operands follow from encodings."""


def describer(table: BlockTable, library: str, architecture: int, mode: int) -> PpcDescriber:
    """The describer of PowerPC instructions, with the capstone library at this path."""
    made = PpcDescriber(table, library, facts, lambda _: NO_REGISTER, architecture, mode)
    made.set_undecoded((value, mask, facts(name)) for mask, names in UNDECODED.items() for value, name in names.items())
    made.set_forms(EXTENSIONS, forms())
    return made


@cache  # each process of a program that is followed asks for all
def facts(name: str) -> tuple[int, int, int, int, int, int]:
    """Of a mnemonic: kinds, branch kind, rule (ppc_describer.pxd), access kind, size in bytes, and PowerPC kinds."""
    kind, access, size = _access(name)
    kind |= NAMED.get(name, 0)
    if kind & Kind.PREFETCH:
        size = 1
    if (FLOATING_ACCESS.fullmatch(name) and kind) or FLOATING_MOVE.fullmatch(name):
        kind |= Kind.FLOAT
    elif FLOATING_ARITHMETIC.fullmatch(name):
        kind |= Kind.FLOAT | Kind.FP_OPERATION
    isa_kind = SYNCHRONIZING.get(name, 0)
    if INTEGER.fullmatch(name) and not kind & ~Kind.NOP:
        isa_kind |= PpcKind.INTEGER
    for flag, pattern in OF_UNITS.items():
        if pattern.fullmatch(name):
            isa_kind |= flag
    return kind, BranchKind.NO_BRANCH, MULTIPLE.get(name, PpcRule.MNEMONIC_SIZE), access, size, isa_kind


def _access(name: str) -> tuple[int, int, int]:
    """Kinds, AccessKind and bytes of a load or store."""
    found = ACCESS.fullmatch(name)
    if found is None and name not in MULTIPLE:
        return 0, AccessKind.NO_ACCESS, 0
    size = int((found.lastgroup or "").removeprefix("bytes")) if found else 0
    if name.endswith("at"):
        return Kind.LOAD | Kind.STORE | Kind.ATOMIC, AccessKind.READ_WRITE, size
    if name.startswith("l"):
        return Kind.LOAD, AccessKind.READ, size
    return Kind.STORE, AccessKind.WRITE, size
