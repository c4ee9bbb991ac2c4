"""The x86_64 engine against the host's processor, by random programs, and its decoder against capstone."""

import random
import subprocess
from pathlib import Path

import capstone
import pytest
from grids import few, first_quick
from x86_64_host import MARKS, PFMON, V3
from x86_64_random import random_program

RUNTIME = Path(__file__).resolve().parents[3] / "src" / "pfmon" / "engine" / "x86_64" / "runtime"
SUPPORT = Path(__file__).resolve().parents[2] / "support"
pytestmark = MARKS

INSTRUCTIONS = ["-e", "instructions_retired"]
WAYS = [INSTRUCTIONS, [*INSTRUCTIONS, "--slow"], ["-e", "instructions_retired,unhalted_core_cycles"]]


@pytest.mark.parametrize("seed", first_quick(few(range(24), 6)))
def test_random_programs_end_in_the_state_of_native_ones(seed: int, tmp_path: Path) -> None:
    program = random_program(seed, 400, tmp_path)
    native = subprocess.run([program], capture_output=True, timeout=60, check=True).stdout
    for number, way in enumerate(WAYS):
        made = tmp_path / str(number)
        done = subprocess.run(
            [*PFMON, V3, *way, f"--outfile={made}", program],
            capture_output=True,
            timeout=60,
            check=True,
        )
        assert done.stdout == native, way
    counts = {(tmp_path / str(number)).read_text().split()[0] for number in range(len(WAYS))}
    assert len(counts) == 1


def decoded(lines: list[bytes], directory: Path) -> list[tuple[int, int]]:
    """Length and whether it is an instruction, as the engine's decoder has them."""
    made = directory / "decoder"
    sources = [SUPPORT / "x86_64_decoder.c", RUNTIME / "decode.c"]
    subprocess.run(["cc", "-O1", "-I", RUNTIME, "-o", made, *sources], check=True)
    given = "".join(line.hex() + "\n" for line in lines)
    told = subprocess.run([made], input=given, capture_output=True, text=True, check=True).stdout
    return [(int(length), int(known)) for length, known in map(str.split, told.splitlines())]


@pytest.mark.parametrize("count", [5_000, pytest.param(300_000, marks=pytest.mark.exhaustive)])
def test_decoder_finds_the_lengths_that_capstone_finds(count: int, tmp_path: Path) -> None:
    """Instructions that capstone knows: EVEX and XOP are not of the processors that the engine has. For capstone ud1
    has no operands, and branches with a prefix 66 are AMD's."""
    draw = random.Random(count)
    disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    lines, lengths = [], []
    while len(lines) < count:
        line = draw.randbytes(15)
        if draw.random() < 0.5:
            line = (
                draw.choice([b"\x0f", b"\x66\x0f", b"\xf2\x0f", b"\x48", b"\xc5\xfb", b"\xc4\xe2\x71", b"\x0f\x38"])
                + line
            )
        found = next(disassembler.disasm_lite(line[:15], 0, 1), None)
        if found is not None and not found[2].startswith(("ud", "j", "ret")) and found[1] <= 15:
            lines.append(line[:15])
            lengths.append(found[1])
    wrong = [
        (line.hex(), length, mine)
        for line, length, (mine, known) in zip(lines, lengths, decoded(lines, tmp_path), strict=True)
        if known and mine != length
    ]
    assert not wrong, f"{len(wrong)}: {wrong[:10]}"
