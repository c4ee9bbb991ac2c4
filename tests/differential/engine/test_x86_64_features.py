"""Instructions of the processors that the x86_64 engine has: others are illegal; AVX-512 does what it does natively."""

import random
import subprocess
from pathlib import Path

import pytest
from grids import few, first_quick
from qemu_guests import assemble, compile_c
from x86_64_host import AVX512, ENGINE, MARKS, V4, bytes_of, pfmon, printed, recorded

from pfmon.stream._stream import AccessKind

SUPPORT = Path(__file__).resolve().parents[2] / "support"
pytestmark = MARKS
COUNT = ["-e", "instructions_retired", "--outfile=/dev/null"]


@pytest.fixture(scope="module")
def natively(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that executes instructions one by one and says which are illegal, and where they fault."""
    made = tmp_path_factory.mktemp("natively") / "natively"
    subprocess.run(["cc", "-O1", "-w", "-o", made, SUPPORT / "x86_64_natively.c"], check=True)
    return made


def executed(program: Path, lines: list[bytes], cpu: str = "") -> list[str]:
    """What it says of the instructions: natively, or on that processor of the engine."""
    text = "".join(line.hex() + "\n" for line in lines)
    if cpu:
        told = printed(f"--set=qemu.cpu={cpu}", *COUNT, str(program), given=text).splitlines()
    else:
        told = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(told) == len(lines), told
    return told


def assembled(instructions: list[str], directory: Path) -> list[bytes]:
    """The bytes of instructions, by the assembler."""
    source, made = directory / "instructions.s", directory / "instructions.o"
    source.write_text("\n".join(instructions) + "\n")
    subprocess.run(["as", "-o", made, source], check=True)
    listing = subprocess.run(
        ["objdump", "-d", "--insn-width=16", made], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [bytes.fromhex(line.split("\t")[1]) for line in listing if line.count("\t") == 2]


MODELS = ("Conroe", "Nehalem", "x86-64-v3", "x86-64-v4")
INSTRUCTIONS = {
    "Conroe": """
        pshufb %xmm0, %xmm1; cmpxchg16b (%rax); haddps %xmm0, %xmm1; lahf; endbr64; lfence; clflush (%rax)
    """,
    "Nehalem": """
        popcnt %rcx, %rdx; pcmpgtq %xmm0, %xmm1; crc32b %cl, %edx; pextrq $1, %xmm1, %rcx; pcmpistri $3, %xmm1, %xmm2
    """,
    "x86-64-v3": """
        vaddps %ymm1, %ymm2, %ymm3; vpaddd %ymm1, %ymm2, %ymm3; andn %rcx, %rdx, %rbx; blsr %rcx, %rdx; rdtscp
        pdep %rcx, %rdx, %rbx; vcvtph2ps %xmm1, %ymm2; vfmadd132ps %ymm1, %ymm2, %ymm3; movbe (%rax), %rcx
        xsave (%rax); mulx %rcx, %rdx, %rbx
    """,
    "x86-64-v4": """
        vpaddd %zmm1, %zmm2, %zmm3; vpaddb %xmm17, %xmm2, %xmm3; vplzcntd %ymm1, %ymm2; vpmullq 64(%rax), %zmm1, %zmm2
        vpaddd 16(%rax), %xmm2, %xmm3{%k1}; kmovw %k1, %k2; kaddq %k1, %k2, %k3; kshiftlb $1, %k1, %k2
        vscalefss %xmm1, %xmm2, %xmm3
    """,
    "none": """
        rdrand %rcx; rdseed %ecx; rdpid %rcx; xsavec (%rax); xsaveopt (%rax); rdfsbase %rcx; wrgsbase %rcx
        aesenc %xmm1, %xmm2; vaesenc %xmm1, %xmm2, %xmm3; vaesenc %ymm1, %ymm2, %ymm3; pclmulqdq $0, %xmm1, %xmm2
        vpclmulqdq $0, %xmm1, %xmm2, %xmm3; sha1msg1 %xmm1, %xmm2; sha1rnds4 $1, %xmm1, %xmm2
        sha256rnds2 %xmm0, %xmm1, %xmm2; adcx %rcx, %rdx; adox %rcx, %rdx; gf2p8mulb %xmm1, %xmm2
        vgf2p8mulb %zmm1, %zmm2, %zmm3; clflushopt (%rax); clwb (%rax); clzero; monitorx; mwaitx; rdpru; rdpkru
        serialize; xtest; xbegin .+6; vpdpbusd %zmm1, %zmm2, %zmm3; vpermb %zmm1, %zmm2, %zmm3
        vpmadd52luq %zmm1, %zmm2, %zmm3; vpcompressb %zmm1, %zmm2; vpopcntb %zmm1, %zmm2; vpopcntd %zmm1, %zmm2
        vdpbf16ps %zmm1, %zmm2, %zmm3; vaddph %zmm1, %zmm2, %zmm3; vfmadd132ph %zmm1, %zmm2, %zmm3
        extrq %xmm1, %xmm2; movntss %xmm1, (%rax); {vex} vpdpbusd %ymm1, %ymm2, %ymm3; femms; tpause %ecx
        movdiri %ecx, (%rax); vmcall; vmmcall; ptwrite %ecx; vfmaddps %xmm1, %xmm2, %xmm3, %xmm4; cldemote (%rax)
    """,
}
"""By the first model that has them (System V ABI for AMD64, 3.1.1; a Core 2 has SSSE3)."""
NOPS = ("endbr64", "cldemote (%rax)")
"""These are nops where they are nothing else."""


ALIKE = {"zen3": "x86-64-v3", "zen4": "x86-64-v4"}
"""Model -> one with the same instructions."""


@pytest.mark.parametrize("cpu", [*MODELS, *ALIKE])
def test_instructions_of_later_processors_are_illegal(cpu: str, natively: Path, tmp_path: Path) -> None:
    if ALIKE.get(cpu, cpu) == "x86-64-v4" and AVX512.args[0]:
        pytest.skip(AVX512.kwargs["reason"])
    wanted, has = [], []
    for model, text in INSTRUCTIONS.items():
        for one in filter(None, map(str.strip, text.replace("\n", ";").split(";"))):
            wanted.append(one)
            has.append(one in NOPS or (model != "none" and MODELS.index(model) <= MODELS.index(ALIKE.get(cpu, cpu))))
    told = executed(natively, assembled(wanted, tmp_path), cpu)
    wrong = [(one, said) for one, known, said in zip(wanted, has, told, strict=True) if (said != "illegal") != known]
    assert not wrong


WITH_IMMEDIATE = (0x70, 0x71, 0x72, 0x73, 0xC2, 0xC4, 0xC5, 0xC6)
"""Opcodes of the second map (0F) that have an immediate byte; all of the third one (0F 3A) have."""


def evex(draw: random.Random, number: int) -> list[int]:
    """The prefix, and an opcode of that map: any mandatory prefix and W, registers with and without extensions, all
    lengths, broadcasts, masks k0, k1, and k5 with zeroing."""
    first = draw.choice((0xF0, 0xE0)) | number
    second = draw.choice((0x7C, 0x4C)) | draw.choice((0, 0x80)) | draw.randrange(4)
    third = 8 | draw.choice((0, 0x20, 0x40)) | draw.choice((0, 0x10)) | draw.choice((0, 1, 0x85))
    return [0x62, first, second, third, draw.randrange(256)]


def vex(draw: random.Random, number: int) -> list[int]:
    """The same with a prefix VEX, without vzeroupper (0F 77), which has no operands."""
    second = draw.choice((0x78, 0x70)) | draw.choice((0, 0x80)) | draw.randrange(8)
    return [0xC4, 0xE0 | number, second, draw.choice([one for one in range(0x30, 0x9A) if one != 0x77])]


def encodings(draw: random.Random, count: int) -> list[bytes]:
    """Random instructions with EVEX, some with VEX: of registers, or of one byte of displacement from rax."""
    lines = []
    for _ in range(count):
        form, number = draw.choice((0x48, 0x40, 0x50, 0x78, 0xC8, 0xD8)), draw.choice((1, 2, 3))
        start = vex(draw, number) if draw.random() < 0.1 else evex(draw, number)
        operands = [form, draw.choice([one for one in range(256) if one not in (0, 0x80)])] if form < 0xC0 else [form]
        immediate = [1] if number == 3 or (number == 1 and start[-1] in WITH_IMMEDIATE) else []
        lines.append(bytes([*start, *operands, *immediate]))
    return lines


@pytest.mark.slow
@AVX512
@pytest.mark.parametrize("seed", first_quick(few(range(20), 2)))
def test_random_encodings_fault_where_they_fault_natively(seed: int, natively: Path) -> None:
    """A fault tells the address that the processor computed. What is of later processors than x86-64-v4 is illegal."""
    lines = encodings(random.Random(seed), 3000)
    expected, told = executed(natively, lines), executed(natively, lines, "x86-64-v4")
    wrong = [(line.hex(), *pair) for line, *pair in zip(lines, expected, told, strict=True) if pair[0] != pair[1]]
    later = [one for one in wrong if one[2] == "illegal"]
    assert wrong == later and len(later) < 100 and sum(one not in ("illegal", "executes") for one in told) > 50


@pytest.mark.slow
@AVX512
@pytest.mark.parametrize("seed", first_quick(few(range(10), 2)))
def test_recorded_addresses_are_those_of_the_processor(seed: int, natively: Path, tmp_path: Path) -> None:
    """Each access has in the stream the displacement at which it faults natively where memory cannot be accessed."""
    lines = encodings(random.Random(100 + seed), 3000)
    faults = [(line, said) for line, said in zip(lines, executed(natively, lines, "x86-64-v4"), strict=True)]
    lines, expected = [], []
    for line, said in faults:
        if said not in ("illegal", "executes", "misaligned") and not is_gather(line):
            lines.append(line)
            expected.append(int(said))
    body = ".bss\n .balign 4096\nbuffer: .skip 65536\n .text\n_start:\n"
    body += "".join(f"mov $buffer+32768, %rax\n .byte {','.join(map(str, line))}\n" for line in lines)
    program = assemble(tmp_path, body + "mov $60, %eax\n xor %edi, %edi\n syscall\n", "-no-pie")
    buffer = next(
        int(line.split()[0], 16)
        for line in subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines()
        if line.endswith(" buffer")
    )
    made = [one.address - buffer - 32768 for one in recorded(program, "x86-64-v4")]
    assert made == expected and len(made) > 50


def is_gather(line: bytes) -> bool:
    """A gather or scatter, whose operand is not rax and a displacement."""
    return line[0] == 0x62 and line[1] & 7 == 2 and line[4] >> 4 in (9, 10) and line[4] & 15 < 4


@AVX512
def test_frames_and_xsave_hold_the_state_of_avx_512(tmp_path: Path) -> None:
    made = tmp_path / "state"
    subprocess.run(["cc", "-O1", "-w", "-o", made, SUPPORT / "x86_64_state.c"], check=True)
    native = subprocess.run([made], capture_output=True, check=True).stdout
    assert bytes_of(V4, *COUNT, str(made)) == native


@AVX512
def test_c_library_takes_the_processor_for_x86_64_v4(tmp_path: Path) -> None:
    source, made = tmp_path / "level.c", tmp_path / "level"
    source.write_text(
        "int main(void) {\n"
        '    return !!__builtin_cpu_supports("x86-64-v4") + 2 * !!__builtin_cpu_supports("avx512vbmi");\n'
        "}\n"
    )
    subprocess.run(["cc", "-o", made, source], check=True)
    assert [
        pfmon(ENGINE, f"--set=qemu.cpu={cpu}", *COUNT, str(made), status=None).returncode
        for cpu in ("x86-64-v3", "x86-64-v4")
    ] == [0, 1]


def test_c_library_takes_zen3_for_an_amd_of_x86_64_v3(tmp_path: Path) -> None:
    """Its caches are those of CPUID's leaf 8000001DH; `sysconf` of the C library reads that."""
    source, made = tmp_path / "amd.c", tmp_path / "amd"
    source.write_text(
        "#include <unistd.h>\n"
        "int main(void) {\n"
        "    int caches = sysconf(_SC_LEVEL2_CACHE_SIZE) == 512 << 10 && sysconf(_SC_LEVEL3_CACHE_SIZE) == 32 << 20;\n"
        '    return !!__builtin_cpu_is("amd") + 2 * !!__builtin_cpu_supports("x86-64-v3") + 4 * caches;\n'
        "}\n"
    )
    subprocess.run(["cc", "-o", made, source], check=True)
    assert pfmon(ENGINE, "--set=qemu.cpu=zen3", *COUNT, str(made), status=None).returncode == 7


ACCESSES = {
    "vmovups (%rax), %zmm1": (AccessKind.READ, 64),
    "vmovdqu8 %ymm1, (%rax){%k1}": (AccessKind.WRITE, 32),
    "vpmovqb %zmm1, (%rax)": (AccessKind.WRITE, 8),
    "vaddps (%rax){1to16}, %zmm1, %zmm2": (AccessKind.READ, 4),
    "vpaddq 64(%rax), %zmm1, %zmm2{%k1}": (AccessKind.READ, 64),
    "kmovw %k1, (%rax)": (AccessKind.WRITE, 2),
    "kmovq (%rax), %k1": (AccessKind.READ, 8),
    "vextractf64x4 $1, %zmm1, (%rax)": (AccessKind.WRITE, 32),
    "vcompressps %zmm1, (%rax)": (AccessKind.WRITE, 64),
    "vcvtps2udq (%rax), %zmm1": (AccessKind.READ, 64),
    "vinserti32x4 $1, (%rax), %zmm1, %zmm2": (AccessKind.READ, 16),
    "vpbroadcastb (%rax), %zmm1": (AccessKind.READ, 1),
    "vpmovzxbw (%rax), %zmm1": (AccessKind.READ, 32),
    "vmovss (%rax), %xmm1{%k1}": (AccessKind.READ, 4),
    "vpsllw (%rax), %zmm1, %zmm2": (AccessKind.READ, 16),
    "vrcp14ss (%rax), %xmm1, %xmm2": (AccessKind.READ, 4),
}
"""The kind and the bytes of an instruction's access."""


@AVX512
def test_accesses_of_avx_512_have_their_kinds_and_sizes(tmp_path: Path) -> None:
    code = "\n".join(ACCESSES)
    program = assemble(tmp_path, f"lea -2048(%rsp), %rax\n {code}\n mov $60, %eax\n xor %edi, %edi\n syscall\n")
    made = [(one.kind, one.size) for one in recorded(program, "x86-64-v4")]
    assert dict(zip(ACCESSES, made, strict=True)) == ACCESSES


V3_BITS = {
    "1 ecx": (0, 9, 12, 13, 19, 20, 22, 23, 26, 27, 28, 29),
    "7 ebx": (3, 5, 8),
    "7 ecx": (),
    "7 edx": (),
    "80000001 ecx": (0, 5),
    "d 1 eax": (),
    "xcr0": (0, 1, 2),
}
"""SSE3, SSSE3, FMA, CX16, SSE4.1, SSE4.2, MOVBE, POPCNT, XSAVE, OSXSAVE, AVX, F16C; BMI1, AVX2, BMI2; LAHF, LZCNT
(System V ABI for AMD64, 3.1.1; bits: SDM volume 2, CPUID)."""
V4_BITS = V3_BITS | {"7 ebx": (3, 5, 8, 16, 17, 28, 30, 31), "xcr0": (0, 1, 2, 5, 6, 7)}
"""And AVX512F, DQ, CD, BW, VL."""
PRINTS_CPUID = """
    #include <cpuid.h>
    #include <stdio.h>
    int main(void) {
        unsigned a, b, c, d;
        __cpuid(1, a, b, c, d); printf("1 ecx %u\\n", c);
        __cpuid_count(7, 0, a, b, c, d); printf("7 ebx %u\\n7 ecx %u\\n7 edx %u\\n", b, c, d);
        __cpuid(0x80000001, a, b, c, d); printf("80000001 ecx %u\\n", c);
        __cpuid_count(0xD, 1, a, b, c, d); printf("d 1 eax %u\\n", a);
        __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0)); printf("xcr0 %u\\n", a);
    }
"""


@pytest.mark.parametrize(("cpu", "bits"), [("x86-64-v3", V3_BITS), pytest.param("x86-64-v4", V4_BITS, marks=AVX512)])
def test_cpuid_has_the_features_of_its_level_alone(cpu: str, bits: dict[str, tuple[int, ...]], tmp_path: Path) -> None:
    program = compile_c(tmp_path, PRINTS_CPUID)
    told = printed(f"--set=qemu.cpu={cpu}", *COUNT, str(program))
    found = {name: int(value) for name, value in (line.rsplit(" ", 1) for line in told.splitlines())}
    assert found == {name: sum(1 << bit for bit in set_bits) for name, set_bits in bits.items()}
