"""Properties of x86 mnemonics: kinds, branch kinds, and operand rules.

capstone gives the operands. Whether a memory operand is read or written follows from its position and the mnemonic, as
capstone is wrong for many (fstp, movups, cmpxchg, test). This module also has accesses without a written operand (the
stack's), branches, and instructions on floating-point registers.
Source: Intel SDM, volume 2, the instruction reference.
"""

from __future__ import annotations

import re
from functools import cache

from pfmon.engine.qemu._qemu import MnemonicRule, X86Describer
from pfmon.engine.qemu.describe.x86_registers import form, register, registers
from pfmon.engine.qemu.describe.x87_registers import x87_registers
from pfmon.stream._stream import AccessKind, BlockTable, BranchKind, Kind, X86Kind

JUMP = Kind.BRANCH
CALL = Kind.BRANCH | Kind.CALL | Kind.STORE
RETURN = Kind.BRANCH | Kind.RETURN | Kind.INDIRECT | Kind.LOAD

NAMED: dict[str, int] = {
    **dict.fromkeys(("nop", "endbr32", "endbr64", "fnop", "pause"), Kind.NOP),
    **dict.fromkeys(("push", "pushf", "pushfd", "pushfq", "pushal", "pushaw", "enter"), Kind.STORE),
    **dict.fromkeys(("pop", "popf", "popfd", "popfq", "popal", "popaw", "leave"), Kind.LOAD),
    **dict.fromkeys(("ret", "retf", "retfq", "iret", "iretd", "iretq"), RETURN),
    **dict.fromkeys(("call", "lcall"), CALL),
    **dict.fromkeys(("jmp", "ljmp", "jcxz", "jecxz", "jrcxz", "loop", "loope", "loopne"), JUMP),
    **dict.fromkeys(("syscall", "sysenter", "int", "int1", "int3", "into"), Kind.SYSTEM),
    **dict.fromkeys(("cpuid", "serialize"), Kind.SERIALIZE),
    **dict.fromkeys(("maskmovq", "maskmovdqu"), Kind.STORE),
    "xlatb": Kind.LOAD,
}
"""Kinds beyond those of written operands. Near returns and calls move the return address."""

SIZES = {
    "pushal": 32,
    "popal": 32,
    "pushaw": 16,
    "popaw": 16,
    "xlatb": 1,
    **dict.fromkeys(("fxsave", "fxsave64", "fxrstor", "fxrstor64"), 512),
    **dict.fromkeys((f"x{what}{wide}" for what in ("save", "savec", "saveopt", "rstor") for wide in ("", "64")), 576),
}
"""Sizes of accesses without a written operand that are not pointer-sized, or that capstone takes for 8 bytes; of XSAVE
the area without extensions (Intel SDM volume 1, 13.4)."""

CONDITIONAL_JUMP = re.compile(r"j(?!mp)\w+|loop\w*")
NO_ACCESSES = {"lea", "nop", "fnop", "endbr32", "endbr64", "invlpg", "clwb", "cldemote"}
PREFETCH = re.compile(r"prefetch\w*")
FLUSH = re.compile(r"clflush(?:opt)?")
NON_TEMPORAL = re.compile(r"v?movnt(?!dqa)\w+|v?maskmov(?:q|dqu)")
"""Stores past the caches: movntdqa is a load."""

FLOATING_ARITHMETIC = re.compile(
    r"v?(?:add|sub|mul|div|sqrt|min|max|rcp|rsqrt|round|cmp|comi|ucomi|addsub|hadd|hsub|dp|cvtt?\w*2)(?:ss|sd|ps|pd)?"
    r"(?:ss|sd|ps|pd|u?si|u?dq|pi|u?qq|ph)"
    r"|v(?:rcp14|rsqrt14|getexp|getmant|rndscale|scalef|fixupimm|fpclass|range|reduce)(?:ss|sd|ps|pd)"
    r"|vf(?:n?m(?:add|sub)|maddsub|msubadd)\w+"
    r"|f(?:i?(?:add|subr?|mul|divr?|com)\w*|sqrt|abs|chs|sin|cos|sincos|ptan|patan|2xm1|yl2x\w*|rndint|scale|prem1?"
    r"|ucom\w*|tst|xam|xtract)"
)
"""Mnemonics that compute with floating-point numbers: SSE, AVX, AVX-512, x87."""

FLOATING_MOVE = re.compile(
    r"v?(?:mov[auhl]?(?:hl|lh|nt)?|and|andn|or|xor|shuf|unpck[hl]|blendv?|broadcast|maskmov|perm\w*|insert|extract|movmsk"
    r"|movddup|movs[hl]dup)(?:ss|sd|ps|pd)|v?movsldup|v?movshdup|v?movddup"
    r"|v(?:compress|expand|blendm|gather[dq]|scatter[dq])p[sd]|v(?:broadcast|insert|extract|shuf)f\d+x\d"
    r"|f(?:i?ld\w*|[in]?st\w*|xch|free|incstp|decstp|cmov\w+|n?init|n?clex|wait|n?save|rstor|xsave\w*|xrstor\w*)"
)
"""Mnemonics that move floating-point numbers."""

COUNTED_ARITHMETIC = re.compile(
    r"v?(?:(?:add|sub|mul|div|min|max|sqrt)(?P<of>[sp][sd])|(?:rcp|rsqrt)(?P<single>[sp]s)"
    r"|(?:hadd|hsub|addsub)(?P<pairs>p[sd])|(?P<dot>dp)(?P<dots>p[sd]))"
    r"|(?P<fused>vf)(?:n?m(?:add|sub)|maddsub|msubadd)(?:132|213|231)(?P<terms>[sp][sd])"
)
"""Mnemonics that FP_ARITH_INST_RETIRED counts (Intel's event list of Skylake)."""

ADDS = re.compile(r"v?(?:add|sub|hadd|hsub|addsub|dp)(?:[sp][sd])")
MULTIPLIES = re.compile(r"v?(?:mul|dp)(?:[sp][sd])")
DIVIDES = re.compile(r"v?(?:div|sqrt)(?:[sp][sd])")

X86_KINDS = {
    **dict.fromkeys(("div", "idiv"), X86Kind.DIVIDES),
    **dict.fromkeys(("push", "pop", "movsb", "movsw", "movsd", "movsq"), X86Kind.APART),
    **dict.fromkeys(("rdtsc", "rdtscp"), X86Kind.READS_CLOCK),
    **dict.fromkeys(("ldmxcsr", "stmxcsr", "vldmxcsr", "vstmxcsr", "vzeroupper", "vzeroall"), X86Kind.VECTOR),
    "clflush": X86Kind.FLUSHES_LINE,
    "emms": X86Kind.MMX,
    "pause": X86Kind.PAUSE,
    "prefetchnta": X86Kind.PREFETCH_FAR,
    **dict.fromkeys(("prefetcht1", "prefetcht2"), X86Kind.PREFETCH_OTHER),
    **dict.fromkeys(("prefetchw", "prefetchwt1"), X86Kind.PREFETCH_FAR | X86Kind.PREFETCH_OTHER),
}

WRITES_FIRST = re.compile(
    r"v?p?mov\w*|kmov\w|set\w+|stos\w|pop|fn?st\w*|fist\w*|fbstp|fn?save|fxsave\w*|xsave\w*|v?p?extr\w+|v?stmxcsr"
    r"|vp?maskmov\w+|vp?scatter\w+|vp?compress\w+|vcvtps2ph|s[gil]dt|str|smsw"
)
"""Mnemonics that only write their first operand."""

READS_FIRST = re.compile(
    r"cmp(?!xchg)\w*|test|bt|push|l?call|l?jmp|i?mul|i?div|scas\w|lods\w|xrstor\w*|fxrstor\w*|v?ldmxcsr"
    r"|f(?:i?ld\w*|bld|i?(?:add|subr?|mul|divr?|comp?)|rstor)|l[gil]dt|ltr|lmsw|ver[rw]|bound"
)
"""Mnemonics that only read their first operand. All others do both; later operands are read."""


def describer(table: BlockTable, library: str, architecture: int, mode: int) -> X86Describer:
    """The describer of x86 instructions, with the capstone library at this path."""
    made = X86Describer(table, library, facts, register, architecture, mode)
    made.set_registers(registers(), form, x87_registers())
    return made


@cache  # each process of a program that is followed asks for all
def facts(name: str) -> tuple[int, int, int, int, int, int]:
    """Of a mnemonic: kinds, branch kind, rule (block_describer.pxd), access kind of a first operand in memory, size of
    the access in bytes (0: as capstone says, or a pointer's), and x86 kinds."""
    kind, branch, rule = _kinds(name)
    if WRITES_FIRST.fullmatch(name):
        first = AccessKind.WRITE
    elif READS_FIRST.fullmatch(name):
        first = AccessKind.READ
    else:
        first = AccessKind.READ_WRITE
    return kind, branch, rule, first, SIZES.get(name, 0), _x86_kinds(name)


def _kinds(name: str) -> tuple[int, int, int]:
    kind = NAMED.get(name, 0)
    if CONDITIONAL_JUMP.fullmatch(name):
        return JUMP, BranchKind.DIRECT, MnemonicRule.CONDITIONAL
    if kind & Kind.BRANCH:
        returns = kind & Kind.RETURN
        return kind, BranchKind.RETURN_BRANCH if returns else BranchKind.DIRECT, 0 if returns else MnemonicRule.JUMPS
    if FLOATING_ARITHMETIC.fullmatch(name):
        kind |= Kind.FLOAT | Kind.FP_OPERATION
    elif FLOATING_MOVE.fullmatch(name):
        kind |= Kind.FLOAT
    elif PREFETCH.fullmatch(name):
        kind |= Kind.PREFETCH
    return kind, BranchKind.NO_BRANCH, _rule(name)


def _x86_kinds(name: str) -> int:
    """The flags of X86Kind of a mnemonic; those of a vector's length come from its operands."""
    if CONDITIONAL_JUMP.fullmatch(name):
        return X86Kind.CONDITIONAL
    if not (found := COUNTED_ARITHMETIC.fullmatch(name)):
        bypasses = FLUSH.fullmatch(name) or NON_TEMPORAL.fullmatch(name)
        return X86_KINDS.get(name, 0) | X86Kind.BYPASSES_CACHES * bool(bypasses)
    form = next(of for of in found.group("of", "single", "pairs", "dots", "terms") if of)
    kinds = X86Kind.FP_ARITH | X86Kind.FP_DOUBLE * (form[1] == "d") | X86Kind.FP_PACKED * (form[0] == "p")
    kinds |= X86Kind.FP_ADDS * bool(ADDS.fullmatch(name)) | X86Kind.FP_MULTIPLIES * bool(MULTIPLIES.fullmatch(name))
    kinds |= X86Kind.DIVIDES * bool(DIVIDES.fullmatch(name))
    return kinds | X86Kind.FP_TWICE * bool(found["dot"] or found["fused"])


def _rule(name: str) -> int:
    if name in NO_ACCESSES:
        return MnemonicRule.NO_ACCESSES
    if PREFETCH.fullmatch(name) or FLUSH.fullmatch(name):
        return MnemonicRule.FETCHES
    return MnemonicRule.EXCHANGES if name == "xchg" else MnemonicRule.NO_RULE
