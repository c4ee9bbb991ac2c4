"""Gathers and scatters: the addresses of their elements in the stream, as the manual defines them (SDM volume 2,
VGATHERDPS and its like), by the x86_64 engine and under qemu."""

import random
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from grids import few, first_quick
from qemu_guests import QEMU, Access, assemble
from x86_64_host import AVX512, MARKS, V3, pfmon, printed, recorded

from pfmon.stream._stream import AccessKind

pytestmark = MARKS

DATA = 65536
"""Bytes that are gathered; the base register points to their middle."""


class Gather(NamedTuple):
    """``index`` and ``element`` as d or q; ``vector``: bytes of its vector; ``scale``, ``displacement`` and ``base``
    register of its operand."""

    index: str
    element: str
    vector: int
    scale: int
    displacement: int
    base: str
    scatters: bool = False
    evex: bool = False

    @property
    def elements(self) -> int:
        """As many as fit both as indices and as elements."""
        return self.vector // max(SIZES[self.index], SIZES[self.element])

    def registers(self, data: int, index: int) -> tuple[str, str]:
        """The names of the registers of data and of indices: the narrower ones have half a vector."""
        widths = {one: self.elements * SIZES[one] for one in (self.index, self.element)}
        names = {16: "xmm", 32: "ymm", 64: "zmm"}
        return (
            f"%{names[max(16, widths[self.element])]}{data}",
            f"%{names[max(16, widths[self.index])]}{index}",
        )


SIZES = {"d": 4, "q": 8}


class Drawn(NamedTuple):
    """A gather's indices, and the elements that its mask selects."""

    gather: Gather
    indices: list[int]
    selected: list[bool]

    @property
    def addresses(self) -> list[int]:
        """Of the selected elements, from the base register on; None for others, which are at the end."""
        gather = self.gather
        return [
            index * gather.scale + gather.displacement
            for index, wanted in zip(self.indices, self.selected, strict=True)
            if wanted
        ]


def drawn(draw: random.Random, evex: bool) -> Drawn:
    """A random one."""
    gather = Gather(
        draw.choice("dq"),
        draw.choice("dq"),
        draw.choice((16, 32, 64) if evex else (16, 32)),
        draw.choice((1, 2, 4, 8)),
        draw.choice((0, 8, 64, -128, 1016, 4000)),
        draw.choice(("rax", "rbx", "rbp", "rdi", "r10", "r11", "r12", "r13")),
        evex and draw.random() < 0.4,
        evex,
    )
    return Drawn(
        gather,
        [draw.randrange(-2000, 2000) for _ in range(gather.elements)],
        [draw.random() < 0.6 for _ in range(gather.elements)],
    )


def assembly(one: Drawn, number: int) -> str:
    """Its instructions, which are followed by a load that ends the block's record."""
    gather = one.gather
    data, index = gather.registers(29 if gather.evex else 9, 23 if gather.evex else 12)
    operand = f"{gather.displacement}(%{gather.base},{index},{gather.scale})"
    name = f"vp{'scatter' if gather.scatters else 'gather'}{gather.index}{gather.element}"
    tables = (
        f"1{number:04}: .{'long' if gather.index == 'd' else 'quad'} {','.join(map(str, one.indices))}\n .balign 64\n"
    )
    if gather.evex:
        bits = sum(1 << place for place, wanted in enumerate(one.selected) if wanted)
        prepared = f"mov ${bits}, %ecx\n kmovw %ecx, %k3\n vmovdqu64 1{number:04}b(%rip), %zmm23\n"
        masked = f"{name} {data}, {operand}{{%k3}}\n" if gather.scatters else f"{name} {operand}, {data}{{%k3}}\n"
    else:
        words = ",".join(str(-1 if wanted else 1) for wanted in one.selected)
        tables += f"2{number:04}: .{'long' if gather.element == 'd' else 'quad'} {words}\n .balign 64\n"
        prepared = f"vmovdqu 1{number:04}b(%rip), %ymm12\n vmovdqu 2{number:04}b(%rip), %ymm7\n"
        mask = data.replace("mm9", "mm7")
        masked = f"{name} {mask}, {operand}, {data}\n"
    return (
        f" .data\n .balign 64\n{tables} .skip 64\n .text\n{prepared} lea middle(%rip), %{gather.base}\n"
        f" .globl at{number}\n at{number}: {masked} mov middle(%rip), %{gather.base}\n"
    )


def program_of(wanted: list[Drawn], directory: Path) -> tuple[Path, dict[str, int]]:
    """A program that executes them, and the addresses of its symbols."""
    text = "".join(assembly(one, number) for number, one in enumerate(wanted))
    data = f" .bss\n .balign 4096\n .skip {DATA // 2}\n .globl middle\nmiddle: .skip {DATA // 2}\n"
    end = "mov $60, %eax\n xor %edi, %edi\n syscall\n"
    program = assemble(directory, f"{data} .text\n_start:\n{text}\n{end}", "-no-pie")
    listed = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    return program, {name: int(address, 16) for address, _, name in map(str.split, listed.splitlines())}


def check(wanted: list[Drawn], made: list[Access], symbols: dict[str, int]) -> None:
    """Each has its elements' addresses, in order, then zeros; sizes and kinds are theirs."""
    by_ip: dict[int, list[Access]] = {}
    for one in made:
        by_ip.setdefault(one.ip, []).append(one)
    for number, one in enumerate(wanted):
        found = by_ip[symbols[f"at{number}"]]
        addresses = [symbols["middle"] + offset for offset in one.addresses]
        assert [access.address for access in found] == addresses + [0] * (one.gather.elements - len(addresses)), one
        kind = AccessKind.WRITE if one.gather.scatters else AccessKind.READ
        assert {(access.kind, access.size) for access in found} == {(kind, SIZES[one.gather.element])}, one


@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize("seed", first_quick(few(range(6), 2)))
def test_gathers_have_the_addresses_of_their_elements(seed: int, slow: bool, tmp_path: Path) -> None:
    draw = random.Random(seed)
    wanted = [drawn(draw, evex=False) for _ in range(60)]
    program, symbols = program_of(wanted, tmp_path)
    check(wanted, recorded(program, "x86-64-v3", slow), symbols)


@AVX512
@pytest.mark.parametrize("seed", first_quick(few(range(6), 2)))
def test_gathers_and_scatters_of_avx_512_have_them_too(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    wanted = [drawn(draw, evex=draw.random() < 0.8) for _ in range(60)]
    program, symbols = program_of(wanted, tmp_path)
    check(wanted, recorded(program, "x86-64-v4"), symbols)


@QEMU
@pytest.mark.parametrize("seed", first_quick(few(range(6), 1)))
def test_gathers_have_them_under_qemu(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    wanted = [drawn(draw, evex=False) for _ in range(60)]
    program, symbols = program_of(wanted, tmp_path)
    check(wanted, recorded(program, "Haswell", engine="qemu"), symbols)


@pytest.mark.slow
def test_records_of_gathers_stay_in_one_buffer(tmp_path: Path) -> None:
    """Behind one word more each time, the end of a buffer of 32,768 words is at every place of a record."""
    body = """
        .data
        .balign 64
    all: .fill 8, 4, -1
        .text
        .rept WORDS
        jmp 2f
    2:
        .endr
        mov $9000, %edx
        vpxor %ymm1, %ymm1, %ymm1
    1:  vmovdqu all(%rip), %ymm2
        vpgatherdd %ymm2, all(,%ymm1,4), %ymm3
        dec %edx
        jnz 1b
        mov $60, %eax
        xor %edi, %edi
        syscall
    """
    for words in range(11):
        program = assemble(tmp_path, body, "-no-pie", f"-Wa,--defsym,WORDS={words}")
        symbol = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
        place = next(int(line.split()[0], 16) for line in symbol.splitlines() if line.endswith(" all"))
        made = recorded(program, "x86-64-v3")
        assert len(made) == 9 * 9000 and {one.address for one in made} == {place}


PAGES = """
    .bss
    .balign 4096
    .globl pages
pages: .skip 65536
    .data
    .balign 64
indices: .long INDICES
    .text
    vmovdqu indices(%rip), %ymm1
    vpslld $10, %ymm1, %ymm1
    mov $1000, %edx
1:  vpcmpeqd %ymm2, %ymm2, %ymm2
    lea pages(%rip), %rbx
    vpgatherdd %ymm2, (%rbx,%ymm1,4), %ymm3
    dec %edx
    jnz 1b
    mov $60, %eax
    xor %edi, %edi
    syscall
"""
"""Gathers elements of those pages a thousand times."""


def counted(program: Path, *options: str) -> int:
    """The count of the last option's event."""
    return int(printed(V3, *options, str(program)).split()[0])


@pytest.mark.slow
def test_data_trigger_is_reached_by_any_element(tmp_path: Path) -> None:
    """From the first gather on, which is the sixth of 3 + 5 * 1000 + 3 instructions."""
    program = assemble(tmp_path, PAGES.replace("INDICES", "0, 1, 2, 3, 4, 5, 6, 7"), "-no-pie")
    for place, expected in (("pages", 5001), ("pages+0x7000", 5001), ("pages+0x7004", 0), ("pages+0x8000", 0)):
        trigger = f"--trigger-data-start-addresses={place}"
        assert counted(program, trigger, "-e", "instructions_retired") == expected, place


def test_machine_has_every_element_in_its_caches(tmp_path: Path) -> None:
    """Elements in eight pages miss seven lines more than those in one."""
    misses = []
    for indices in ("0, 1, 2, 3, 4, 5, 6, 7", "0, 0, 0, 0, 0, 0, 0, 0"):
        program = assemble(tmp_path, PAGES.replace("INDICES", indices), "-no-pie")
        misses.append(counted(program, "-e", "llc_misses"))
    assert misses[0] - misses[1] == 7


def test_recording_of_gathers_counts_as_the_run(tmp_path: Path) -> None:
    program = assemble(tmp_path, PAGES.replace("INDICES", "0, 1, 2, 3, 4, 5, 6, 7"), "-no-pie")
    made, events = tmp_path / "recorded", ["-e", "instructions_retired,unhalted_core_cycles,llc_misses"]
    run = printed(V3, *events, f"--record={made}", str(program))
    assert pfmon(*events, f"--replay={made}").stdout == run
