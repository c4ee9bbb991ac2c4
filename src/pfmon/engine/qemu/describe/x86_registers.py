"""Registers of x86 instructions: their bits in RegisterMasks (isa/x86/x86_operands.pxd), flags by mnemonic, and
registers that capstone's lists lack.

The flags are in two parts, as processors rename them: carry, and the others. An instruction that leaves some of the
others as they are reads them, too; only rotations, which write OF, count as writing carry alone.
Source: Intel SDM, volume 1, appendix A (EFLAGS cross-reference), and volume 2, the instruction reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from pfmon.engine.qemu._qemu import X86Rule
from pfmon.stream._stream import OperandForm

GENERAL = ("ax", "cx", "dx", "bx", "sp", "bp", "si", "di")
FLAG_CARRY, FLAGS_OTHER, STACK_BASE, OPMASK_BASE, VECTOR_BASE, NO_REGISTER = 16, 17, 18, 26, 32, 255
"""Bits of carry, of the other flags, of the first register of x87 or MMX, of k1, of the first vector register."""

CARRY, OTHERS = 1 << FLAG_CARRY, 1 << FLAGS_OTHER
FLAGS = CARRY | OTHERS
RAX, RCX, RDX, RBX, RSP, RBP = (1 << number for number in range(6))
R11, XMM0 = 1 << 11, 1 << VECTOR_BASE


class Registers(NamedTuple):
    """Registers that an instruction reads and writes beyond capstone's lists, as bits, and a set of X86Rule."""

    read: int = 0
    written: int = 0
    rules: int = 0


CONDITIONS = {
    OTHERS: "o no e ne s ns p np l ge le g",
    CARRY: "b ae",
    FLAGS: "be a",
}
"""Flags that conditions read."""

WRITE_FLAGS = [
    "add",
    "sub",
    "cmp",
    "test",
    "and",
    "or",
    "xor",
    "neg",
    "mul",
    "imul",
    "div",
    "idiv",
    "cmpxchg",
    "xadd",
    "shl",
    "sal",
    "shr",
    "sar",
    "shld",
    "shrd",
    "bsf",
    "bsr",
    "tzcnt",
    "lzcnt",
    "popcnt",
    "andn",
    "bextr",
    "blsi",
    "blsr",
    "blsmsk",
    "bzhi",
    "ptest",
    "vptest",
    "vtestps",
    "vtestpd",
    "comiss",
    "comisd",
    "ucomiss",
    "ucomisd",
    "vcomiss",
    "vcomisd",
    "vucomiss",
    "vucomisd",
    "pcmpestri",
    "pcmpestrm",
    "pcmpistri",
    "pcmpistrm",
    "vpcmpestri",
    "vpcmpestrm",
    "vpcmpistri",
    "vpcmpistrm",
    "cmpsb",
    "cmpsw",
    "cmpsq",
    "scasb",
    "scasw",
    "scasd",
    "scasq",
    "sahf",
    "popf",
    "popfd",
    "popfq",
    "rdrand",
    "rdseed",
    "aam",
    "aad",
    "fcomi",
    "fcompi",
    "fucomi",
    "fucompi",
    "kortestb",
    "kortestw",
    "kortestd",
    "kortestq",
    "ktestb",
    "ktestw",
    "ktestd",
    "ktestq",
    "xtest",
    "tpause",
    "umwait",
    "blcfill",
    "blci",
    "blcic",
    "blcmsk",
    "blcs",
    "blsfill",
    "blsic",
    "t1mskc",
    "tzmsk",
]
"""Mnemonics that write all flags; those that leave some undefined among them."""

BY_FLAGS = {
    (FLAGS, FLAGS): "daa das aaa aas",
    (CARRY, FLAGS): "adc sbb",
    (CARRY, CARRY): "adcx cmc rcl rcr",
    (OTHERS, OTHERS): "adox cmpxchg8b cmpxchg16b arpl lar lsl verr verw",
    (0, OTHERS): "inc dec",
    (0, CARRY): "bt btc btr bts clc stc rol ror",
    (FLAGS, 0): "lahf pushf pushfd pushfq",
    (CARRY, 0): "salc fcmovb fcmovnb",
    (OTHERS, 0): "into loope loopne fcmove fcmovne fcmovu fcmovnu",
    (FLAGS, 0, 1): "fcmovbe fcmovnbe",
}
"""Flags read, flags written (and a number that keeps keys apart) -> mnemonics."""

IMPLICIT = {
    "cmpxchg": (0, RAX),
    "enter": (RSP | RBP, RSP | RBP),
    "xlatb": (RAX | RBX, RAX),
    "syscall": (0, RAX | RCX | R11),
    **dict.fromkeys(("pcmpestri", "vpcmpestri"), (RAX | RDX, RCX)),
    **dict.fromkeys(("pcmpestrm", "vpcmpestrm"), (RAX | RDX, XMM0)),
    **dict.fromkeys(("pcmpistri", "vpcmpistri"), (0, RCX)),
    **dict.fromkeys(("pcmpistrm", "vpcmpistrm"), (0, XMM0)),
}
"""Registers read and written by mnemonics whose operands do not name them."""

GATHERS = [
    f"v{kind}{index}{element}" for kind in ("gather", "pgather") for index in "dq" for element in ("ps", "pd", "d", "q")
]
SCATTERS = [name.replace("gather", "scatter") for name in GATHERS]
RULES = {
    X86Rule.READS_DESTINATION: [
        "adox",
        "cmpxchg",
        "cvtsi2ss",
        "cvtsi2sd",
        "cvtss2sd",
        "cvtsd2ss",
        "sqrtss",
        "sqrtsd",
        "rcpss",
        "rsqrtss",
        *GATHERS,
    ],
    X86Rule.WRITES_FIRST: ["cmpxchg"],
    X86Rule.CLEARS_MASK: GATHERS + SCATTERS,
    X86Rule.KEEPS_VECTORS: ["vzeroupper"],
    X86Rule.SHIFTS: ["shl", "sal", "shr", "sar", "rol", "ror", "rcl", "rcr", "shld", "shrd"],
    X86Rule.REPEATS: [
        f"{name}{size}" for name in ("movs", "stos", "lods", "cmps", "scas", "ins", "outs") for size in "bwdq"
    ],
    X86Rule.KEEPS_LENGTH: ["ret", "retf", "retfq", "enter"],
    X86Rule.WRITES_NOTHING: ["vmaskmovdqu"],
}
"""Rule -> its mnemonics."""


@cache  # each process of a program that is followed asks for it
def registers() -> dict[str, Registers]:
    """What capstone's lists lack, by mnemonic."""
    found: dict[str, Registers] = {}
    for names, more in _parts():
        for name in names:
            was = found.get(name, Registers())
            found[name] = Registers(was.read | more.read, was.written | more.written, was.rules | more.rules)
    return found


def _parts() -> Iterator[tuple[Iterable[str], Registers]]:
    for flags, conditions in CONDITIONS.items():
        for condition in conditions.split():
            yield (f"j{condition}", f"set{condition}"), Registers(flags)
            yield (f"cmov{condition}",), Registers(flags, 0, X86Rule.READS_DESTINATION)
    yield WRITE_FLAGS, Registers(0, FLAGS)
    for (read, written, *_), names in BY_FLAGS.items():
        yield names.split(), Registers(read, written)
    for name, (read, written) in IMPLICIT.items():
        yield (name,), Registers(read, written)
    for rule, mnemonics in RULES.items():
        yield mnemonics, Registers(0, 0, rule)


@cache
def register(name: str) -> int:
    """The bit of a register and all of its parts; NO_REGISTER: no instruction waits for it, or others say so (flags,
    x87)."""
    if match := re.fullmatch(r"r(\d+)[bwd]?", name):
        return int(match[1])
    if match := re.fullmatch(r"[xyz]mm(\d+)", name):
        return VECTOR_BASE + int(match[1])
    if match := re.fullmatch(r"mm([0-7])", name):
        return STACK_BASE + int(match[1])
    if match := re.fullmatch(r"k([0-7])", name):
        return OPMASK_BASE + min(max(int(match[1]), 1), 6) - 1
    whole = name[1:] if len(name) == 3 and name[0] in "re" else name
    if whole in GENERAL:
        return GENERAL.index(whole)
    if len(name) == 2 and name[1] in "lh" and f"{name[0]}x" in GENERAL:
        return GENERAL.index(f"{name[0]}x")
    if name in ("sil", "dil", "spl", "bpl"):
        return GENERAL.index(name[:2])
    return NO_REGISTER


FORMS = {
    r"[a-d]l|[sd]il|[sb]pl|r\d+b": OperandForm.FORM_R8,
    r"[a-d]h": OperandForm.FORM_R8_HIGH,
    r"[a-d]x|[sd]i|[sb]p|r\d+w": OperandForm.FORM_R16,
    r"e([a-d]x|[sd]i|[sb]p)|r\d+d": OperandForm.FORM_R32,
    r"r([a-d]x|[sd]i|[sb]p)|r\d+": OperandForm.FORM_R64,
    r"xmm\d+": OperandForm.FORM_XMM,
    r"ymm\d+": OperandForm.FORM_YMM,
    r"zmm\d+": OperandForm.FORM_ZMM,
    r"mm\d": OperandForm.FORM_MM,
    r"st\(\d\)": OperandForm.FORM_ST,
    r"k\d": OperandForm.FORM_OPMASK,
    r"[c-gs]s|cr\d+|dr\d+": OperandForm.FORM_SYSTEM,
}
"""Names of registers -> their form."""


@cache
def form(name: str) -> int:
    """The OperandForm of a register."""
    return next((form for pattern, form in FORMS.items() if re.fullmatch(pattern, name)), OperandForm.FORM_OTHER)
