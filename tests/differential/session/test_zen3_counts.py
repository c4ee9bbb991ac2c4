"""Events of Zen 3's PMU: exact ones counted again by single steps of the host's processor and capstone, after the words
of AMD's list; modelled ones of programs that cause a known number of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import capstone
import pytest
from capstone import x86
from qemu_guests import ASSEMBLER, EXAMPLES, assemble
from x86_64_host import MARKS
from x86_64_steps import Step, stepped

import pfmon
from pfmon.pmu import get
from pfmon.signals.signal_names import is_produced, never_because

pytestmark = [*MARKS, ASSEMBLER]

FLOPS = "FP_RET_SSE_AVX_OPS."
KIND = {
    **dict.fromkeys(("add", "sub", "addsub", "hadd", "hsub"), "ADD_SUB_FLOPS"),
    "mul": "MULT_FLOPS",
    **dict.fromkeys(("div", "sqrt"), "DIV_FLOPS"),
    **{f"fmadd{order}": "MAC_FLOPS" for order in (132, 213, 231)},
}
SIZES = {"ss": 4, "sd": 8, "ps": 4, "pd": 8}
ARITHMETIC = {f"{v}{name}{form}": (what, form) for name, what in KIND.items() for form in SIZES for v in ("", "v")}
PREFETCHES = {"prefetchnta": "_NTA", "prefetchw": "_W", "prefetcht0": "", "prefetcht1": "", "prefetcht2": ""}
STACK = {"push": "STORE", "pop": "LOAD", "call": "STORE", "ret": "LOAD"}
TWO_PLACES = ("movsb", "movsq")
EVENTS = (
    *("EX_RET_INSTR", "EX_RET_BRN", "EX_RET_COND", "EX_RET_NEAR_RET", "EX_RET_IND_BRCH_INSTR", "EX_DIV_COUNT"),
    *("LS_RET_CPUID", "LS_RET_CL_FLUSH", "LS_RDTSC", "LS_DC_ACCESSES", "ALL_DATA_CACHE_ACCESSES"),
    *(f"LS_DISPATCH.{what}_DISPATCH" for what in ("LD", "STORE", "LD_ST")),
    *(f"EX_RET_MMX_FP_INSTR.{what}_INSTR" for what in ("SSE", "MMX", "X87")),
    *(f"LS_PREF_INSTR_DISP{what}" for what in ("", ".PREFETCH", ".PREFETCH_W", ".PREFETCH_NTA")),
    *(f"{FLOPS}{what}" for what in ("ADD_SUB_FLOPS", "MULT_FLOPS", "DIV_FLOPS", "MAC_FLOPS", "ALL")),
)

KINDS = """
_start:
    lea data(%rip), %rsi
    lea 64(%rsi), %rdi
    mov $3, %ebp
1:  addsd %xmm1, %xmm0
    vmulss (%rsi), %xmm1, %xmm2
    sqrtpd %xmm3, %xmm4
    vdivps %ymm1, %ymm2, %ymm3
    vmaxpd (%rsi), %ymm1, %ymm5
    haddps %xmm1, %xmm0
    vaddsubpd %ymm1, %ymm2, %ymm3
    rsqrtps %xmm1, %xmm2
    vfmadd231sd %xmm1, %xmm2, %xmm3
    vfmadd213ps %ymm1, %ymm2, %ymm3
    cvtsi2sd %eax, %xmm1
    paddd %xmm1, %xmm0
    movd %eax, %mm1
    paddb %mm1, %mm0
    movq2dq %mm1, %xmm3
    emms
    fld1
    fld (%rsi)
    faddp
    fistpl 8(%rsi)
    prefetchnta (%rsi)
    prefetcht0 (%rsi)
    prefetcht1 (%rsi)
    prefetcht2 64(%rsi)
    prefetchw (%rsi)
    clflush 192(%rsi)
    cpuid
    rdtsc
    xor %edx, %edx
    mov $7, %ecx
    div %ecx
    incl (%rsi)
    lock incl (%rsi)
    add (%rsi), %eax
    pushq (%rsi)
    popq 16(%rsi)
    movsb
    movsq
    movss %xmm0, 24(%rsi)
    lea 2f(%rip), %rax
    mov %rax, 32(%rsi)
    call *32(%rsi)
    lea 3f(%rip), %rax
    test $1, %ebp
    jz 3f
    jmp *%rax
2:  ret
3:  dec %ebp
    jnz 1b
    mov $60, %eax
    xor %edi, %edi
    syscall
.data
.balign 64
data: .fill 512
"""


def counted(steps: Iterable[Step]) -> Counter[str]:
    """What each event comes to."""
    disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    disassembler.detail = True
    found: Counter[str] = Counter()
    for step in steps:
        found += of_instruction(next(disassembler.disasm(step.code, step.ip, 1)))
    return found


def of_instruction(one: capstone.CsInsn) -> Counter[str]:
    """What an instruction adds."""
    name, groups = one.mnemonic.split()[-1], set(one.groups)
    in_register = one.operands and one.operands[0].type != x86.X86_OP_IMM
    found = Counter(["EX_RET_INSTR"])
    found["EX_RET_BRN"] += bool(groups & {capstone.CS_GRP_JUMP, capstone.CS_GRP_CALL, capstone.CS_GRP_RET})
    found["EX_RET_COND"] += capstone.CS_GRP_JUMP in groups and name != "jmp"
    found["EX_RET_NEAR_RET"] += capstone.CS_GRP_RET in groups
    found["EX_RET_IND_BRCH_INSTR"] += name in ("jmp", "call") and bool(in_register)
    found["EX_DIV_COUNT"] += name in ("div", "idiv")
    found["LS_RET_CPUID"] += name == "cpuid"
    found["LS_RET_CL_FLUSH"] += name == "clflush"
    found["LS_RDTSC"] += name == "rdtsc"
    if name in PREFETCHES:
        found["LS_PREF_INSTR_DISP"] += 1
        found[f"LS_PREF_INSTR_DISP.PREFETCH{PREFETCHES[name]}"] += 1
    registers = [one.reg_name(operand.reg) for operand in one.operands if operand.type == x86.X86_OP_REG]
    if any(register[1:3] == "mm" for register in registers):
        found["EX_RET_MMX_FP_INSTR.SSE_INSTR"] += 1
    elif name == "emms" or any(register.startswith("mm") for register in registers):
        found["EX_RET_MMX_FP_INSTR.MMX_INSTR"] += 1
    elif name.startswith("f"):
        found["EX_RET_MMX_FP_INSTR.X87_INSTR"] += 1
    if name in ARITHMETIC:
        what, form = ARITHMETIC[name]
        elements = one.operands[0].size // SIZES[form] if form[0] == "p" else 1
        found.update(dict.fromkeys((f"{FLOPS}{what}", f"{FLOPS}ALL"), elements * (2 if what == "MAC_FLOPS" else 1)))
    return found + of_accesses(one, name)


def of_accesses(one: capstone.CsInsn, name: str) -> Counter[str]:
    """The operations of an instruction that access memory, by AMD's words: a load, a store, or both at one address."""
    if name in ("lea", "nop", "clflush", *PREFETCHES):
        return Counter()
    done: list[str] = []
    for operand in one.operands:
        if operand.type == x86.X86_OP_MEM and name not in TWO_PLACES:
            done.append(direction(name, operand.access))
    done += [STACK[name]] if name in STACK else []
    done += ["LOAD", "STORE"] if name in TWO_PLACES else []
    words = {"LOAD": "LD", "STORE": "STORE", "BOTH": "LD_ST"}
    found = Counter(f"LS_DISPATCH.{words[what]}_DISPATCH" for what in done)
    found["ALL_DATA_CACHE_ACCESSES"] = len(done)
    found["LS_DC_ACCESSES"] = len(done) + done.count("BOTH")
    return found


def direction(name: str, access: int) -> str:
    """What an instruction does with its operand in memory (SDM volume 2)."""
    if name in ("fistp", "movss", "pop", "mov"):
        return "STORE" if access & capstone.CS_AC_WRITE or name == "fistp" else "LOAD"
    return "BOTH" if access & capstone.CS_AC_WRITE else "LOAD"


def counts(command: Sequence[str], events: Iterable[str], pmu: str = "zen3") -> dict[str, int]:
    run = pfmon.run(list(command), events=list(events), pmu=pmu, unlimited=True, stdout=pfmon.DEVNULL)
    return {count.name: int(count.value or 0) for count in run.counts}


def test_exact_events_count_as_single_steps(tmp_path: Path) -> None:
    program = [str(assemble(tmp_path, KINDS))]
    wanted = counted(stepped(program, tmp_path))
    assert all(wanted[name] for name in EVENTS)
    assert counts(program, EVENTS) == {name: wanted[name] for name in EVENTS}


def test_dot_products_multiply_and_add_each_element(tmp_path: Path) -> None:
    program = [str(assemble(tmp_path, "_start: dpps $255, %xmm1, %xmm0\n mov $60, %eax\n xor %edi, %edi\n syscall\n"))]
    names = [f"{FLOPS}{what}" for what in ("ADD_SUB_FLOPS", "MULT_FLOPS", "MAC_FLOPS", "ALL")]
    assert list(counts(program, names).values()) == [4, 4, 0, 8]


MAY_BE_ZERO = {"DE_DIS_DISPATCH_TOKEN_STALLS1.STORE_QUEUE_RSRC_STALL", "DE_SRC_OP_DISP.LOOP_BUFFER"}
"""What a machine may not have in this program: it has no loop buffer, or its store queue is never full."""

# Loops that cause every modelled event.
EVERYTHING = """
.bss
.balign 4096
area: .skip 0x4000000
.text
_start:
    mov $area, %r12
    mov $area, %rax                      # pages and lines that nothing has: loads, stores, prefetches
    mov $3000, %ecx
1:  mov (%rax), %rbx
    mov %rbx, 2112(%rax)
    prefetcht0 1024(%rax)
    prefetchw 3072(%rax)
    add $4096, %rax
    dec %ecx
    jnz 1b
    mov $3, %ebp                         # 128 KB: L2 has its lines; 2 MB: L3
2:  mov $area, %rax
    mov $2048, %ecx
3:  mov (%rax), %rbx
    add $64, %rax
    dec %ecx
    jnz 3b
    mov $area, %rax
    mov $2048, %ecx
4:  mov %rbx, (%rax)
    add $64, %rax
    dec %ecx
    jnz 4b
    mov $area, %rax
    mov $2048, %ecx
5:  prefetcht0 (%rax)
    add $64, %rax
    dec %ecx
    jnz 5b
    mov $area + 0x100000, %rax
    mov $32768, %ecx
6:  mov (%rax), %rbx
    prefetcht0 0x200000(%rax)
    add $64, %rax
    dec %ecx
    jnz 6b
    dec %ebp
    jnz 2b
    mov $500, %ecx                       # forwarded, blocked, split, across a page, locked and split, divisions
7:  mov %rbx, (%r12)
    mov (%r12), %rdx
    mov %bl, 3(%r12)
    mov (%r12), %rdx
    mov 60(%r12), %rdx
    mov 4092(%r12), %rdx
    lock incl 62(%r12)
    xor %edx, %edx
    mov $99, %eax
    mov $7, %ebx
    div %ebx
    dec %ecx
    jnz 7b
    mov $4000, %ecx                      # directions, targets and returns that nothing foresees
    mov $12345, %r8d
8:  imul $1103515245, %r8d, %r8d
    add $12345, %r8d
    bt $21, %r8d
    jc 9f
    nop
9:  lea 10f(%rip), %rax
    mov %r8d, %edx
    shr $19, %edx
    and $7, %edx
    lea (%rax,%rdx,2), %rax
    jmp *%rax
10: .rept 8
    nop
    nop
    .endr
    call 11f
    jmp 12f
11: lea 12f(%rip), %rax
    bt $25, %r8d
    jc 13f
    mov %rax, (%rsp)
13: ret
12: dec %ecx
    jnz 8b
    mov $4, %ebp                         # code of many pages
14: jmp 15f
    .balign 4096
15: .rept 600                            # more than the first-level TLB and the instruction cache hold
    jmp 16f
    .skip 4160 - 5
16:
    .endr
    dec %ebp
    jnz 14b
    mov $60, %eax
    xor %edi, %edi
    syscall
"""


@pytest.mark.slow
@pytest.mark.parametrize("pmu", ["zen3", "zen4"])
def test_every_modelled_event_counts_something(pmu: str, tmp_path: Path) -> None:
    program = [str(assemble(tmp_path, EVERYTHING))]
    wanted = [
        event.name
        for event in get(pmu).events
        if is_produced(event.signal) and event.fidelity == "modelled" and not never_because(event.signal)
    ]
    found = counts(program, wanted, pmu)
    assert len(wanted) > 60
    assert {name for name in wanted if not found[name]} <= MAY_BE_ZERO


def passes(times: int) -> str:
    """A loop of stores, loads that they forward, and loads from two pages."""
    return f"""
        .bss
        .balign 4096
        area: .skip 8192
        .text
        _start: mov $area, %eax
        mov ${times}, %ecx
        1: mov %rbx, 8(%rax)
        mov 12(%rax), %edx
        mov 4094(%rax), %edx
        idivl 64(%rax)
        dec %ecx
        jnz 1b
        mov $60, %eax
        xor %edi, %edi
        syscall
    """


def test_a_load_behind_a_store_is_forwarded_and_one_at_a_pages_end_is_split(tmp_path: Path) -> None:
    events = ["LS_STLF", "LS_MISAL_LOADS.MA4K", "LS_MISAL_LOADS.MA64"]
    text = passes(100).replace("idivl 64(%rax)", "nop")
    assert list(counts([str(assemble(tmp_path, text))], events).values()) == [100, 100, 100]


IDENTITIES = {
    "LS_MAB_ALLOC.LOAD_STORE_ALLOCATIONS": ("L1_DATA_CACHE_FILLS_ALL",),
    "L1_DATA_CACHE_FILLS_ALL": ("L1_DATA_CACHE_FILLS_FROM_WITHIN_SAME_CCX", "L1_DATA_CACHE_FILLS_FROM_MEMORY"),
    "L2_CACHE_ACCESSES_FROM_DC_MISSES": ("L2_REQUEST_G1.RD_BLK_L", "L2_REQUEST_G1.RD_BLK_X"),
    "L2_REQUEST_G1.ALL_NO_PREFETCH": ("L2_CACHE_REQ_STAT.IC_DC_MISS_IN_L2", "L2_CACHE_REQ_STAT.IC_DC_HIT_IN_L2"),
    "L2_REQUEST_G1.L2_HW_PF": ("L2_PF_HIT_L2", "L2_PF_MISS_L2_HIT_L3", "L2_PF_MISS_L2_L3"),
    "LS_L1_D_TLB_MISS.ALL": ("LS_L1_D_TLB_MISS.TLB_RELOAD_4K_L2_HIT", "LS_L1_D_TLB_MISS.TLB_RELOAD_4K_L2_MISS"),
    "BP_TLB_REL": ("BP_L1_TLB_MISS_L2_TLB_HIT", "BP_L1_TLB_MISS_L2_TLB_MISS"),
    "EX_RET_BRN_MISP": (*("EX_RET_MSPRD_BRNCH_INSTR_DIR_MSMTCH", "EX_RET_NEAR_RET_MISPRED", "EX_RET_BRN_IND_MISP"),),
}


@pytest.mark.parametrize(("name", "size"), [("hashmap", "8"), pytest.param("lz", "4", marks=pytest.mark.slow)])
def test_parts_add_up_to_the_whole(name: str, size: str) -> None:
    events = {*IDENTITIES, *(part for parts in IDENTITIES.values() for part in parts)}
    found = counts([str(EXAMPLES / "x86_64" / name), size], sorted(events))
    for whole, parts in IDENTITIES.items():
        assert found[whole] == sum(found[part] for part in parts), whole
    assert found["EX_RET_BRN_MISP"] > 0 and found["L2_REQUEST_G1.ALL_NO_PREFETCH"] > 0
