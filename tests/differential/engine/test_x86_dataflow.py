"""Registers of random x86-64 instructions as the describer has them, against the host's processor, which executes each
with one register after another changed (x86_64_dataflow.c)."""

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import capstone
import pytest
from capstone import x86
from x86_code import ASSEMBLES, describer

from pfmon.stream._stream import FormBit, OperandForm

SOURCE = Path(__file__).resolve().parents[2] / "support" / "x86_64_dataflow.c"
FLAGS, GENERAL, RSP = 3 << 16, 0xFFFF, 1 << 4
PREFIXES = ([], [0x66], [0xF2], [0xF3])
LEFT_OUT = {
    "rdtsc", "rdtscp", "rdrand", "rdseed", "cpuid", "xgetbv", "rdpmc", "rdpid", "rdsspd", "rdsspq", "vzeroupper", "std",
    "salc", "xtest", "cld", "rdpkru", "rdpru", "smsw", "sldt", "str", "sidt", "sgdt", "lar", "lsl", "verr", "verw",
}  # fmt: skip
"""Mnemonics whose results depend on no register, or that an emulator may keep from programs; vzeroupper, for which
nothing waits here."""

pytestmark = [ASSEMBLES, pytest.mark.slow]


def random_code(seed: int) -> Iterator[bytes]:
    """Bytes that begin with an instruction without a memory operand."""
    chosen = random.Random(seed)
    decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    decoder.detail = True
    while True:
        modrm, rest = 0xC0 | chosen.getrandbits(6), bytes(chosen.getrandbits(8) for _ in range(9))
        opcode, rex = chosen.getrandbits(8), [0x40 | chosen.getrandbits(4)] if chosen.random() < 0.5 else []
        maps = chosen.choice([[], [0x0F], [0x0F], [0x0F, 0x38], [0x0F, 0x3A]])
        code = [*chosen.choice(PREFIXES), *rex, *maps, opcode, modrm]
        if chosen.random() < 0.4:
            code = [0xC4, chosen.randrange(8) << 5 | chosen.choice((1, 2, 3)), chosen.getrandbits(8), opcode, modrm]
        for one in decoder.disasm(bytes(code) + rest, 0, 1):
            if is_tried(one):
                yield bytes(one.bytes)


def is_tried(one: capstone.CsInsn) -> bool:
    groups = {
        capstone.CS_GRP_JUMP,
        capstone.CS_GRP_CALL,
        capstone.CS_GRP_RET,
        capstone.CS_GRP_INT,
        capstone.CS_GRP_PRIVILEGE,
    }
    forms = {x86.X86_OP_REG, x86.X86_OP_IMM}
    names = {one.reg_name(part.reg) for part in one.operands if part.type == x86.X86_OP_REG}
    simple = all(part.type in forms for part in one.operands) and not one.group(x86.X86_GRP_FPU)
    stack = any(
        name in ("rsp", "esp", "sp", "spl") or name.startswith(("st", "mm", "cr", "dr", "bnd", "k")) for name in names
    )
    segment = any(name.endswith("s") for name in names)
    stack |= one.mnemonic == "bswap" and one.operands[0].size == 2  # undefined
    stack |= one.mnemonic.startswith(
        ("j", "loop", "push", "pop", "enter", "leave", "xlat", "f", "emms", "maskmov", "vmaskmov", "xsave", "wr")
    )
    implicit = {"rsi", "rdi", "esi", "edi", "rsp"} & {one.reg_name(number) for number in one.regs_access()[0]} - names
    left_out = stack or segment or implicit or groups & set(one.groups) or one.mnemonic in LEFT_OUT
    return simple and not left_out


@pytest.fixture(scope="module")
def observer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("observer") / "observer"
    subprocess.run(["cc", "-O1", "-static", "-no-pie", "-o", made, SOURCE], check=True)
    return made


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(2, 20))])
def test_registers_are_those_of_the_processor(seed: int, observer: Path) -> None:
    described, codes = describer(), []
    for code in random_code(seed):
        codes.append(code)
        if len(codes) == 5000:
            break
    lines = "\n".join(code.hex() for code in codes) + "\n"
    observed = subprocess.run([observer], input=lines, text=True, capture_output=True, check=True).stdout.splitlines()
    assert len(observed) == len(codes)
    wrong: dict[str, str] = {}
    executed = 0
    for code, line in zip(codes, observed, strict=True):
        read, written, _, form = described.registers_of(code)
        if line == "no" or not form & 0xFFF:
            continue
        executed += 1
        changed, depended, own = (int(word, 16) for word in line.split())
        kept = own & written & ~FLAGS  # registers written in part
        if OperandForm(form >> FormBit.FORM_OPERANDS & 31) not in (OperandForm.FORM_R32, OperandForm.FORM_R64):
            kept &= ~GENERAL  # processors keep parts of these apart
        missing = (depended | kept) & ~read, changed & ~written & ~RSP
        if any(missing):
            decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
            text = " ".join(next(iter(decoder.disasm_lite(code, 0)))[2:])
            wrong[text.split()[0]] = f"{text}: not read {missing[0]:x}, not written {missing[1]:x}"
    assert executed > len(codes) / 3
    assert not wrong, "\n".join(wrong.values())
