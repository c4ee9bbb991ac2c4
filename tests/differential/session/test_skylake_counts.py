"""Exact events of Skylake's PMU, counted again by single steps of the host's processor and capstone, after the words of
Intel's event list."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import capstone
import pytest
from qemu_guests import EXAMPLES, assemble
from x86_64_host import MARKS
from x86_64_steps import Step, stepped

import pfmon

pytestmark = MARKS

MACHINE = """
base = "core2"
[machine]
source = "the test"
pmu = "skylake"
[qemu]
source = "the test"
cpu = "x86-64-v3"
"""
FP = "FP_ARITH_INST_RETIRED."
ONCE = ("add", "sub", "mul", "div", "min", "max", "sqrt")
PAIRS = ("hadd", "hsub", "addsub")
FUSED = [f"vf{kind}{order}" for kind in ("madd", "msub", "nmadd", "nmsub") for order in (132, 213, 231)]
FUSED_PAIRS = [f"vf{kind}{order}" for kind in ("maddsub", "msubadd") for order in (132, 213, 231)]
SIZES = {"ss": 4, "sd": 8, "ps": 4, "pd": 8}
PREFETCHES = {
    "prefetchnta": "NTA",
    "prefetcht0": "T0",
    "prefetcht1": "T1_T2",
    "prefetcht2": "T1_T2",
    "prefetchw": "PREFETCHW",
}


def arithmetic() -> dict[str, int]:
    """Mnemonic -> how often Intel's list counts it."""
    scalars = {f"{name}{form}": 1 for name in ONCE for form in SIZES}
    singles = {f"{name}{form}": 1 for name in ("rcp", "rsqrt") for form in ("ss", "ps")}
    pairs = {f"{name}{form}": 1 for name in PAIRS for form in ("ps", "pd")}
    dots = {"dpps": 2, "dppd": 2}
    legacy = scalars | singles | pairs | dots
    fused = {f"{name}{form}": 2 for name in FUSED for form in SIZES}
    fused |= {f"{name}{form}": 2 for name in FUSED_PAIRS for form in ("ps", "pd")}
    return legacy | {f"v{name}": count for name, count in legacy.items()} | fused


ARITHMETIC = arithmetic()
NEAR_BRANCHES = {capstone.CS_GRP_JUMP, capstone.CS_GRP_CALL, capstone.CS_GRP_RET}


def counted(steps: Sequence[Step]) -> Counter[str]:
    """What each event comes to."""
    disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    disassembler.detail = True
    found: Counter[str] = Counter()
    known: dict[bytes, capstone.CsInsn] = {}
    for step, following in pairwise([*steps, Step(0, b"")]):
        one = known.setdefault(step.code, next(disassembler.disasm(step.code, step.ip, 1)))
        found["INST_RETIRED.ANY"] += 1
        found += of_instruction(one)
        if NEAR_BRANCHES & set(one.groups):
            taken = following.ip != step.ip + one.size
            found["BR_INST_RETIRED.NEAR_TAKEN" if taken else "BR_INST_RETIRED.NOT_TAKEN"] += 1
    return found


def of_instruction(one: capstone.CsInsn) -> Counter[str]:
    """What an instruction adds, wherever it goes on."""
    found: Counter[str] = Counter()
    *prefixes, name = one.mnemonic.split()
    groups = set(one.groups)
    found["BR_INST_RETIRED.ALL_BRANCHES"] += bool(NEAR_BRANCHES & groups)
    found["BR_INST_RETIRED.NEAR_CALL"] += capstone.CS_GRP_CALL in groups
    found["BR_INST_RETIRED.NEAR_RETURN"] += capstone.CS_GRP_RET in groups
    found["BR_INST_RETIRED.CONDITIONAL"] += capstone.CS_GRP_JUMP in groups and name != "jmp"
    found["INST_RETIRED.NOP"] += name == "nop" or name.startswith("endbr")
    found["ROB_MISC_EVENTS.PAUSE_INST"] += name == "pause"
    found["MEM_INST_RETIRED.LOCK_LOADS"] += "lock" in prefixes
    if name in PREFETCHES:
        found[f"SW_PREFETCH_ACCESS.{PREFETCHES[name]}"] += 1
        found["SW_PREFETCH_ACCESS.ANY"] += 1
    if name in ARITHMETIC:
        found.update(of_arithmetic(name, one.operands[0].size))
    return found


def of_arithmetic(name: str, size: int) -> dict[str, int]:
    """What a floating-point instruction adds; ``size``: of its first operand in bytes."""
    times, form = ARITHMETIC[name], name[-2:]
    precision = "DOUBLE" if form[1] == "d" else "SINGLE"
    if form[0] == "s":
        return {f"{FP}SCALAR_{precision}": times, f"{FP}SCALAR": times}
    elements = size // SIZES[form]
    found = {f"{FP}{size * 8}B_PACKED_{precision}": times, f"{FP}VECTOR": times}
    return found | ({f"{FP}4_FLOPS": times} if elements == 4 else {})


EVENTS = (
    *("INST_RETIRED.ANY", "INST_RETIRED.NOP", "ROB_MISC_EVENTS.PAUSE_INST", "MEM_INST_RETIRED.LOCK_LOADS"),
    *(f"BR_INST_RETIRED.{what}" for what in ("ALL_BRANCHES", "CONDITIONAL", "NEAR_CALL", "NEAR_RETURN")),
    *("BR_INST_RETIRED.NEAR_TAKEN", "BR_INST_RETIRED.NOT_TAKEN"),
    *(f"SW_PREFETCH_ACCESS.{what}" for what in ("NTA", "T0", "T1_T2", "PREFETCHW", "ANY")),
    *(f"{FP}{what}" for what in ("SCALAR_DOUBLE", "SCALAR_SINGLE", "SCALAR", "4_FLOPS", "VECTOR")),
    *(f"{FP}{bits}B_PACKED_{what}" for bits in (128, 256) for what in ("DOUBLE", "SINGLE")),
)

# Every kind of counted instruction, some several times, and others that look like them and do not count.
KINDS = """
_start:
    lea data(%rip), %rsi
    mov $3, %ecx
1:  addsd %xmm1, %xmm0
    vmulss (%rsi), %xmm1, %xmm2
    sqrtpd %xmm3, %xmm4
    vdivps %ymm1, %ymm2, %ymm3
    vmaxpd (%rsi), %ymm1, %ymm5
    haddps %xmm1, %xmm0
    vaddsubpd %ymm1, %ymm2, %ymm3
    rsqrtps %xmm1, %xmm2
    rcpss %xmm1, %xmm2
    dpps $255, %xmm1, %xmm0
    dppd $51, %xmm1, %xmm0
    vdpps $255, %ymm1, %ymm2, %ymm3
    vfmadd231sd %xmm1, %xmm2, %xmm3
    vfnmsub213ps %ymm1, %ymm2, %ymm3
    vfmaddsub132pd %xmm1, %xmm2, %xmm3
    ucomisd %xmm0, %xmm1
    cvtsi2sd %eax, %xmm1
    cmpps $0, %xmm1, %xmm0
    roundsd $0, %xmm1, %xmm0
    xorps %xmm0, %xmm0
    movsd (%rsi), %xmm0
    paddd %xmm1, %xmm0
    prefetchnta (%rsi)
    prefetcht0 (%rsi)
    prefetcht1 (%rsi)
    prefetcht2 64(%rsi)
    prefetchw (%rsi)
    pause
    nop
    nopw 8(%rax,%rax,1)
    endbr64
    lock incl (%rsi)
    xchg %eax, 4(%rsi)
    call 2f
    test $1, %ecx
    jz 3f
    jmp 3f
2:  ret
3:  jrcxz 4f
    dec %ecx
    jnz 1b
4:  mov $60, %eax
    xor %edi, %edi
    syscall
.data
.balign 64
data: .fill 128
"""


def check(command: list[str], directory: Path) -> None:
    """Compare the counts of a program with those of its steps."""
    (directory / "machine.toml").write_text(MACHINE)
    run = pfmon.run(
        command,
        events=list(EVENTS),
        unlimited=True,
        machine=str(directory / "machine.toml"),
        engine="x86_64",
        stdout=pfmon.DEVNULL,
    )
    wanted = counted(stepped(command, directory))
    assert {count.name: count.value for count in run.counts} == {name: wanted[name] for name in EVENTS}


def test_instructions_of_every_kind_count_as_intels_list_says(tmp_path: Path) -> None:
    check([str(assemble(tmp_path, KINDS.replace("    xchg %eax, 4(%rsi)\n", "")))], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), [("nbody", "3"), ("hashmap", "8"), ("strings", "2")])
def test_examples_count_as_their_single_steps(name: str, size: str, tmp_path: Path) -> None:
    check([str(EXAMPLES / "x86_64" / name), size], tmp_path)


def test_an_exchange_with_memory_is_locked_without_a_prefix(tmp_path: Path) -> None:
    """SDM volume 2, XCHG."""
    (tmp_path / "machine.toml").write_text(MACHINE)
    program = str(assemble(tmp_path, KINDS))
    run = pfmon.run([program], events=["MEM_INST_RETIRED.LOCK_LOADS"], machine=str(tmp_path / "machine.toml"))
    assert run.counts[0].value == 6
