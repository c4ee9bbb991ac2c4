"""What x86 instructions read and write, and what their addresses are made of: by hand, from Intel's instruction
reference (SDM, volume 2) and the cross-reference of flags (volume 1, appendix A)."""

import capstone
import pytest
from capstone import x86
from grids import each
from hypothesis import given
from hypothesis import strategies as st
from x86_code import ASSEMBLES, describer, machine_code, name_of

from pfmon.engine.qemu._qemu import X86Describer
from pfmon.engine.qemu.describe.x86_registers import register
from pfmon.engine.qemu.qemu_targets import MODE_32, MODE_64
from pfmon.stream._stream import FormBit, OperandForm

pytestmark = ASSEMBLES

GENERAL = ["rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", *(f"r{number}" for number in range(8, 16))]
BITS = {
    **{name: number for number, name in enumerate(GENERAL)},
    "carry": 16,
    "others": 17,
    **{f"st{number}": 18 + number for number in range(8)},
    **{f"mm{number}": 18 + number for number in range(8)},
    **{f"k{number}": 25 + number for number in range(1, 7)},
    "k0": 26,
    "k7": 31,
    **{f"v{number}": 32 + number for number in range(32)},
}

ROWS = """
kaddd k1, k2, k3                | k1 < k2 k3
kunpckdq k1, k1, k3             | k1 < k1 k3
valignd zmm0, zmm1, zmm2, 3     | v0 < v1 v2
vgetexppd zmm0, zmm1            | v0 < v1
vpmovd2m k1, zmm0               | k1 < v0
vfpclasspd k1, zmm0, 1          | k1 < v0
vaddpd zmm0, zmm1, zmm2, {rn-sae} | v0 < v1 v2
vbroadcastf32x8 zmm0, [rax]     | v0 < [rax]
mov rax, rbx                    | rax < rbx
mov al, bl                      | rax < rbx
mov ah, bl                      | rax < rbx
mov eax, 5                      | rax <
mov eax, [rbx + rcx * 4 + 8]    | rax < [rbx rcx]
mov [rbx], eax                  | < rax [rbx]
mov eax, [rip + 8]              | rax <
lea rax, [rbx + rcx]            | rax < [rbx rcx]
movsxd rax, ebx                 | rax < rbx
movzx eax, bl                   | rax < rbx
xchg rax, rbx                   | rax rbx < rax rbx
add rax, rbx                    | rax carry others < rax rbx
sub eax, 5                      | rax carry others < rax
cmp rax, rbx                    | carry others < rax rbx
test eax, eax                   | carry others < rax
and eax, [rbx]                  | rax carry others < rax [rbx]
xor eax, eax                    | rax carry others < rax
neg eax                         | rax carry others < rax
not eax                         | rax < rax
inc eax                         | rax others < rax
dec r9                          | r9 others < r9
adc rax, rbx                    | rax carry others < rax rbx carry
sbb eax, eax                    | rax carry others < rax carry
adcx rax, rbx                   | rax carry < rax rbx carry
adox rax, rbx                   | rax others < rax rbx others
imul rax, rbx                   | rax carry others < rax rbx
imul rax, rbx, 5                | rax carry others < rbx
mul rcx                         | rax rdx carry others < rax rcx
div rcx                         | rax rdx carry others < rax rdx rcx
mulx rax, rbx, rcx              | rax rbx < rdx rcx
cdqe                            | rax < rax
cqo                             | rax rdx < rax
shl eax, 3                      | rax carry others < rax
shl eax, cl                     | rax carry others < rax rcx carry others
sar rax, 1                      | rax carry others < rax
shld eax, ebx, 3                | rax carry others < rax rbx
shrd eax, ebx, cl               | rax carry others < rax rbx rcx carry others
rol eax, 3                      | rax carry < rax
ror eax, cl                     | rax carry < rax rcx carry
rcl eax, 1                      | rax carry < rax carry
shlx rax, rbx, rcx              | rax < rbx rcx
rorx rax, rbx, 3                | rax < rbx
andn rax, rbx, rcx              | rax carry others < rbx rcx
bextr rax, rbx, rcx             | rax carry others < rbx rcx
blsr rax, rbx                   | rax carry others < rbx
pdep rax, rbx, rcx              | rax < rbx rcx
bt eax, 3                       | carry < rax
bts eax, ebx                    | rax carry < rax rbx
bsf eax, ebx                    | rax carry others < rbx
tzcnt eax, ebx                  | rax carry others < rbx
popcnt eax, ebx                 | rax carry others < rbx
bswap eax                       | rax < rax
crc32 eax, bl                   | rax < rax rbx
cmovb eax, ebx                  | rax < rax rbx carry
cmove eax, [rbx]                | rax < rax others [rbx]
cmova eax, ebx                  | rax < rax rbx carry others
setb al                         | rax < carry
setne [rbx]                     | < others [rbx]
setbe al                        | rax < carry others
setl al                         | rax < others
jb .                            | < carry
jae .                           | < carry
jbe .                           | < carry others
ja .                            | < carry others
je .                            | < others
jl .                            | < others
js .                            | < others
jo .                            | < others
jp .                            | < others
jrcxz .                         | < rcx
loop .                          | rcx < rcx
loopne .                        | rcx < rcx others
jmp rax                         | < rax
clc                             | carry <
cmc                             | carry < carry
cld                             | <
sahf                            | carry others < rax
lahf                            | rax < carry others
pushfq                          | rsp < rsp carry others
popfq                           | rsp carry others < rsp
push rbx                        | rsp < rsp rbx
pop rbx                         | rsp rbx < rsp
push [rbx]                      | rsp < rsp [rbx]
call rax                        | rsp < rsp rax
ret                             | rsp < rsp
leave                           | rsp rbp < rsp rbp
enter 8, 0                      | rsp rbp < rsp rbp
xlatb                           | rax < rax rbx
cmpxchg [rbx], ecx              | rax carry others < rax rcx [rbx]
cmpxchg edx, ecx                | rax rdx carry others < rax rcx rdx
cmpxchg16b [rdi]                | rax rdx others < rax rdx rbx rcx others [rdi]
xadd [rbx], ecx                 | rcx carry others < rcx [rbx]
movsb                           | rsi rdi < [rsi rdi]
rep movsq                       | rsi rdi rcx < rcx [rsi rdi]
rep stosd                       | rdi rcx < rax rcx [rdi]
lodsd                           | rsi rax < [rsi]
scasb                           | rdi carry others < rax [rdi]
repne scasb                     | rdi rcx carry others < rax rcx carry others [rdi]
cpuid                           | rax rbx rcx rdx < rax rcx
rdtsc                           | rax rdx <
syscall                         | rax rcx r11 <
rdrand eax                      | rax carry others <
pxor xmm1, xmm1                 | v1 < v1
movaps xmm1, xmm2               | v1 < v2
movss xmm1, xmm2                | v1 < v1 v2
movss xmm1, [rax]               | v1 < [rax]
movsd xmm9, [rax]               | v9 < [rax]
movlps xmm1, [rax]              | v1 < v1 [rax]
movhps [rax], xmm1              | < v1 [rax]
addps xmm1, xmm2                | v1 < v1 v2
addsd xmm1, [rax]               | v1 < v1 [rax]
sqrtsd xmm1, xmm2               | v1 < v1 v2
sqrtpd xmm1, xmm2               | v1 < v2
rcpss xmm1, xmm2                | v1 < v1 v2
cvtsi2sd xmm1, eax              | v1 < v1 rax
cvttsd2si rax, xmm1             | rax < v1
cvtss2sd xmm1, xmm2             | v1 < v1 v2
cvtdq2ps xmm1, xmm2             | v1 < v2
ucomisd xmm1, xmm2              | carry others < v1 v2
ptest xmm1, xmm2                | carry others < v1 v2
pinsrd xmm1, eax, 1             | v1 < v1 rax
pextrw eax, xmm1, 1             | rax < v1
pshufd xmm1, xmm2, 3            | v1 < v2
shufps xmm1, xmm2, 3            | v1 < v1 v2
blendvps xmm1, xmm2, xmm0       | v1 < v0 v1 v2
pcmpistri xmm1, xmm2, 3         | rcx carry others < v1 v2
pcmpestrm xmm1, xmm2, 3         | v0 carry others < v1 v2 rax rdx
movmskps eax, xmm1              | rax < v1
movq xmm1, rax                  | v1 < rax
vaddps ymm1, ymm2, ymm3         | v1 < v2 v3
vsqrtsd xmm1, xmm2, xmm3        | v1 < v2 v3
vfmadd213ps ymm1, ymm2, ymm3    | v1 < v1 v2 v3
vcmppd xmm1, xmm2, xmm3, 6      | v1 < v2 v3
vcmpeqps ymm1, ymm2, ymm3       | v1 < v2 v3
vinsertf128 ymm1, ymm2, xmm3, 1 | v1 < v2 v3
vextractf128 xmm1, ymm2, 1      | v1 < v2
vblendvps ymm1, ymm2, ymm3, ymm4 | v1 < v2 v3 v4
vbroadcastss ymm1, [rax]        | v1 < [rax]
vmaskmovps [rax], ymm1, ymm2    | < v1 v2 [rax]
vpgatherdd ymm1, [rax + ymm2 * 4], ymm3 | v1 v3 < v1 v3 [rax v2]
vzeroupper                      | <
kmovw k2, eax                   | k2 < rax
kandw k1, k2, k3                | k1 < k2 k3
kortestw k3, k4                 | carry others < k3 k4
vpaddd zmm1{k2}, zmm2, zmm3     | v1 < v1 k2 v2 v3
vmovdqu32 zmm1{k2}, zmm30       | v1 < v1 k2 v30
vpcmpeqd k2, zmm1, zmm2         | k2 < v1 v2
paddb mm1, mm2                  | mm1 < mm1 mm2
movq mm3, [rax]                 | mm3 < [rax]
fld st(1)                       | st7 < st1
fld dword ptr [rax]             | st7 < [rax]
fld1                            | st7 <
fild word ptr [rax]             | st7 < [rax]
fstp qword ptr [rax]            | < st0 [rax]
fst st(3)                       | st3 < st0
fxch st(2)                      | st0 st2 < st0 st2
fadd st, st(1)                  | st0 < st0 st1
fadd st(2), st                  | st2 < st0 st2
faddp st(1), st                 | st1 < st0 st1
fmul qword ptr [rax]            | st0 < st0 [rax]
fcom st(1)                      | < st0 st1
fucomi st, st(1)                | carry others < st0 st1
fcmovb st, st(1)                | st0 < st0 st1 carry
fcmovne st, st(1)               | st0 < st0 st1 others
fchs                            | st0 < st0
fsincos                         | st0 st7 < st0
fpatan                          | st1 < st0 st1
fprem                           | st0 < st0 st1
fnstsw ax                       | rax <
""".strip().splitlines()


def bits(names: str) -> int:
    return sum({1 << BITS[name] for name in names.replace("[", " ").replace("]", " ").split()})


@pytest.fixture(scope="module")
def code() -> dict[str, bytes]:
    """The instructions' code, from the assembler."""
    texts = [*(row.partition("|")[0].strip() for row in ROWS), *FORMS]
    return dict(zip(texts, machine_code(texts), strict=True))


@pytest.fixture(scope="module")
def described() -> X86Describer:
    return describer(MODE_64)


@each("row", ROWS)
def test_registers_of_an_instruction(row: str, code: dict[str, bytes], described: X86Describer) -> None:
    text, _, uses = row.partition("|")
    written, _, read = uses.partition("<")
    addressed = read[read.find("[") :] if "[" in read else ""
    expected = bits(read), bits(written), bits(addressed)
    assert described.registers_of(code[text.strip()])[:3] == expected


FORMS = {
    "mov eax, ebx": "r32 r32",
    "mov eax, eax": "r32 r32 same own",
    "movzx eax, al": "r32 r8 own",
    "mov ah, 1": "r8_high immediate",
    "xor eax, eax": "r32 r32 same own",
    "imul eax, ebx, 3": "r32 r32 immediate",
    "vpxor xmm1, xmm2, xmm2": "xmm xmm xmm same vex",
    "vpxor xmm1, xmm2, xmm3": "xmm xmm xmm vex",
    "vpxor xmm1, xmm1, xmm3": "xmm xmm xmm own vex",
    "vaddps ymm0, ymm1, [rax]": "ymm ymm m256 base vex",
    "andn eax, ebx, ecx": "r32 r32 r32 vex",
    "vaddps zmm0, zmm1, zmm2": "zmm zmm zmm vex",
    "mov rax, [rbx + rcx * 4 + 8]": "r64 m64 base index displaced scaled",
    "mov rax, [rbx + rcx]": "r64 m64 base index",
    "lea rax, [rbp + rcx]": "r64 m64 base index displaced",
    "lea rax, [r13 + rcx]": "r64 m64 base index displaced",
    "mov rax, [r12]": "r64 m64 base",
    "mov rax, [rbx + 2047]": "r64 m64 base displaced",
    "mov rax, [rbx + 2048]": "r64 m64 base displaced far",
    "mov rax, [rbx - 8]": "r64 m64 base displaced far",
    "mov al, [rip + 64]": "r8 m8 rip_relative displaced",
    "lea eax, [rbx * 2 + 4]": "r32 m32 index scaled displaced",
    "add ax, 0x1234": "r16 immediate length_changed",
    "add ax, 4": "r16 immediate",
    "mov word ptr [rax], 0x1234": "m16 immediate base length_changed",
    "imul ax, bx, 0x1234": "r16 r16 immediate length_changed",
    "movabs eax, [0x1234]": "r32 m32 displaced far",
    "ret 8": "immediate",
    "shl eax, cl": "r32 r8 by_cl",
    "shl cl, 1": "r8 immediate by_one",
    "rcl rax, 1": "r64 immediate by_one",
    "rol eax, 3": "r32 immediate",
    "shld eax, ebx, cl": "r32 r32 r8 by_cl",
    "mov eax, ecx": "r32 r32",
    "rep movsb": "m8 m8 base repeated",
    "repne scasb": "r8 m8 base repeated_not",
    "movsb": "m8 m8 base",
    "lock add [rax], ebx": "m32 r32 base locked",
    "xchg [rax], ebx": "m32 r32 base locked",
    "xchg eax, ebx": "r32 r32",
    "paddb mm0, mm1": "mm mm",
    "fld tbyte ptr [rax]": "m80 base",
    "fadd st(1)": "st",
    "faddp st(1), st": "st pops",
    "fmulp st(1), st": "st",
    "kmovw k1, eax": "opmask r32 vex",
    "mov ds, eax": "system r32",
    "cvtsi2sd xmm0, dword ptr [rax]": "xmm m32 base",
    "movups xmm0, [rax]": "xmm m128 base",
    "vmovups zmm0, [rax]": "zmm m512 base vex",
}
"""Instruction -> its operands and marks; a register operand's name is a OperandForm's."""


@each("text", FORMS)
def test_form_of_an_instruction(text: str, code: dict[str, bytes], described: X86Describer) -> None:
    form = described.registers_of(code[text])[3]
    operands = [form >> FormBit.FORM_OPERANDS + 5 * place & 31 for place in range(6)]
    found = [OperandForm(operand).name.removeprefix("FORM_").lower() for operand in operands if operand]
    repeated = form >> FormBit.FORM_REPEATED & 3
    found += ["repeated"] * (repeated == 1) + ["repeated_not"] * (repeated == 2)
    for bit in FormBit:
        if bit not in (FormBit.FORM_OPERANDS, FormBit.FORM_REPEATED) and form >> bit & 1:
            found.append({"FORM_OWN_SOURCE": "own"}.get(bit.name, bit.name.removeprefix("FORM_").lower()))
    assert sorted(found) == sorted(FORMS[text].split())
    assert name_of(form) in text.replace("movabs", "mov").split()[0] or name_of(form) in text or "rep" in text


@given(st.binary(max_size=15), st.sampled_from((MODE_32, MODE_64)))
def test_any_bytes_have_registers_and_a_form(code: bytes, mode: int) -> None:
    """capstone's registers are among them, but for flags and x87's; what it does not know has none."""
    decoder = capstone.Cs(capstone.CS_ARCH_X86, mode)
    decoder.detail = True
    one = next(decoder.disasm(code, 0, 1), None)
    found = describer(mode).registers_of(code)
    if one is None or one.id == x86.X86_INS_VZEROUPPER:
        assert one is not None or found == (0, 0, 0, 0)
        return
    assert found[3] & 0xFFF == one.id or one.insn_name() == "vcmp"
    numbers = [[register(one.reg_name(number)) for number in side] for side in one.regs_access()]
    for numbered, bits_found in zip(numbers, found, strict=False):
        assert not sum({1 << number for number in numbered if number < 64}) & ~bits_found
