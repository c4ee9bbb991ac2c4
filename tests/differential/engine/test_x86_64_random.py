"""The x86_64 engine against the host's processor, by random programs, and its decoder against capstone."""

import random
import subprocess
from pathlib import Path
from typing import NamedTuple

import capstone
import pytest
from grids import diagonal, few, first_quick
from x86_64_host import AVX512, MARKS, V3, V4, bytes_of
from x86_64_random import random_program

RUNTIME = Path(__file__).resolve().parents[3] / "src" / "pfmon" / "engine" / "x86_64" / "runtime"
SUPPORT = Path(__file__).resolve().parents[2] / "support"
pytestmark = MARKS

INSTRUCTIONS = ["-e", "instructions_retired"]
WAYS = [INSTRUCTIONS, [*INSTRUCTIONS, "--slow"], ["-e", "instructions_retired,unhalted_core_cycles"]]


FAR = "-Wl,-Ttext-segment=0x200000000000"
"""More than 2 GB from the code cache, so that operands relative to rip need a register there."""


@diagonal
@pytest.mark.parametrize(
    ("options", "changing"), [((), False), ((FAR,), False), ((), True)], ids=["near", "far", "changing"]
)
@pytest.mark.parametrize("seed", first_quick(few(range(24), 3)))
def test_random_programs_end_in_the_state_of_native_ones(
    seed: int, options: tuple[str, ...], changing: bool, tmp_path: Path
) -> None:
    ends_as_natively(random_program(seed, 400, tmp_path, *options, changing=changing), V3, tmp_path)


@AVX512
@pytest.mark.parametrize("options", [(), (FAR,)], ids=["near", "far"])
@pytest.mark.parametrize("seed", first_quick(few(range(40), 3)))
def test_random_programs_of_avx_512_end_in_the_state_of_native_ones(
    seed: int, options: tuple[str, ...], tmp_path: Path
) -> None:
    ends_as_natively(random_program(seed, 400, tmp_path, *options, avx512=True), V4, tmp_path)


def ends_as_natively(program: Path, cpu: str, directory: Path) -> None:
    """The program prints what it prints natively, and counts the same in each way."""
    native = subprocess.run([program], capture_output=True, timeout=60, check=True).stdout
    for number, way in enumerate(WAYS):
        made = directory / str(number)
        assert bytes_of(cpu, *way, f"--outfile={made}", str(program)) == native, way
    counts = {(directory / str(number)).read_text().split()[0] for number in range(len(WAYS))}
    assert len(counts) == 1


class Decoded(NamedTuple):
    """What the engine's decoder has of an instruction: ``feature`` by enum feature of encoding_rows.h."""

    length: int
    known: int
    feature: int
    displacement: int


def decoded(lines: list[bytes], directory: Path) -> list[Decoded]:
    """The instructions as the engine's decoder has them."""
    made = directory / "decoder"
    decoder = RUNTIME / "translation"
    sources = [SUPPORT / "x86_64_decoder.c", decoder / "decode.c", decoder / "encoding_rows.c"]
    subprocess.run(["cc", "-O1", "-I", RUNTIME, "-o", made, *sources], check=True)
    given = "".join(line.hex() + "\n" for line in lines)
    told = subprocess.run([made], input=given, capture_output=True, text=True, check=True).stdout
    return [Decoded(*map(int, line.split())) for line in told.splitlines()]


def evex(draw: random.Random) -> bytes:
    """A prefix EVEX whose fixed bits are right, with a vector's length."""
    first, second = draw.randrange(256) & 0xF0 | draw.choice((1, 2, 3)), draw.randrange(256) | 4
    return bytes([0x62, first, second, draw.randrange(32) | draw.choice((0, 0x20, 0x40)) | draw.choice((0, 0x80))])


@pytest.mark.parametrize("count", [5_000, pytest.param(300_000, marks=pytest.mark.exhaustive)])
def test_decoder_finds_the_lengths_that_capstone_finds(count: int, tmp_path: Path) -> None:
    """Instructions that capstone knows, but for XOP, and for extrq and insertq, which have no row. For capstone ud1 has
    no operands, and branches with a prefix 66 are AMD's."""
    draw = random.Random(count)
    disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    lines, lengths = [], []
    while len(lines) < count:
        line = draw.randbytes(15)
        if draw.random() < 0.5:
            line = (
                draw.choice(
                    [b"\x0f", b"\x66\x0f", b"\xf2\x0f", b"\x48", b"\xc5\xfb", b"\xc4\xe2\x71", b"\x0f\x38", evex(draw)]
                )
                + line
            )
        found = next(disassembler.disasm_lite(line[:15], 0, 1), None)
        if found is not None and not found[2].startswith(("ud", "j", "ret", "extrq", "insertq")) and found[1] <= 15:
            lines.append(line[:15])
            lengths.append(found[1])
    wrong = [
        (line.hex(), length, mine)
        for line, length, (mine, known, *_) in zip(lines, lengths, decoded(lines, tmp_path), strict=True)
        if known and mine != length
    ]
    assert not wrong, f"{len(wrong)}: {wrong[:10]}"


@pytest.mark.parametrize("count", [3_000, pytest.param(100_000, marks=pytest.mark.exhaustive)])
def test_displacements_of_evex_are_those_of_capstone(count: int, tmp_path: Path) -> None:
    """Instructions of x86-64-v4, and of later AVX-512, with one byte of displacement from rax."""
    draw = random.Random(count)
    disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    disassembler.detail = True
    lines, expected = [], []
    while len(lines) < count:
        prefix = evex(draw)
        line = bytes(
            [0x62, prefix[1] | 0x60, *prefix[2:3], prefix[3] | 8, draw.randrange(256), 0x40 | draw.randrange(8) << 3]
        )
        line += draw.randbytes(1) + bytes([draw.randrange(8), 1, 1, 1, 1, 1, 1, 1])
        found = next(disassembler.disasm(line, 0, 1), None)
        if found is None:
            continue
        memory = next((one for one in found.operands if one.type == capstone.x86.X86_OP_MEM), None)
        if memory is not None:
            lines.append(line)
            expected.append((found.mnemonic, memory.mem.disp))
    wrong = [
        (line.hex(), *right, mine.displacement)
        for line, right, mine in zip(lines, expected, decoded(lines, tmp_path), strict=True)
        if mine.known and mine.feature <= 4 and mine.displacement != right[1]
    ]
    assert not wrong, f"{len(wrong)}: {wrong[:10]}"


FP16 = """
    vaddph %zmm1, %zmm2, %zmm3; vaddph 64(%rax), %zmm2, %zmm3; vaddph 0x12345(%rax,%rbx,2), %zmm2, %zmm3
    vmovsh 2(%rax), %xmm1; vmovw %ecx, %xmm1; vcvtph2dq 32(%rax), %zmm1; vcvtsh2si %xmm1, %rcx
    vfmadd132ph %zmm1, %zmm2, %zmm3; vfcmulcph 64(%rax), %zmm1, %zmm2; vrcpph %zmm1, %zmm2
    vscalefsh 2(%rax), %xmm1, %xmm2; vcmpph $1, %zmm1, %zmm2, %k1; vrndscaleph $3, 64(%rax), %zmm2
    vgetmantsh $1, %xmm1, %xmm2, %xmm3
"""
"""Of the maps 3, 5 and 6."""


@pytest.mark.slow
def test_decoder_finds_the_lengths_of_fp16(tmp_path: Path) -> None:
    """capstone 5 does not have these; the assembler does."""
    source, made = tmp_path / "fp16.s", tmp_path / "fp16.o"
    source.write_text(FP16)
    subprocess.run(["as", "-o", made, source], check=True)
    told = subprocess.run(["objdump", "-d", "--insn-width=16", made], capture_output=True, text=True, check=True).stdout
    lines = [bytes.fromhex(line.split("\t")[1]) for line in told.splitlines() if line.count("\t") == 2]
    padded = [line + bytes(15 - len(line)) for line in lines]
    assert len(lines) == 14 and [one.length for one in decoded(padded, tmp_path)] == [len(line) for line in lines]
