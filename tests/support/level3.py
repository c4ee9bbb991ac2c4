"""System images in which a static program of Linux for IA-64 runs at level 3 (tests/data/engine/level3.S).

python tests/support/level3.py               # assembles the kernel (binutils-ia64-linux-gnu)
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from elf_images import Piece, elf_image

FOLDER = Path(__file__).resolve().parents[1] / "data" / "engine"
SOURCE, KERNEL = FOLDER / "level3.S", FOLDER / "level3.bin"
KERNEL_AT, ENTRY = 0x100000, 0x107000
PARAMETERS = 0x1F0000
TICKS = PARAMETERS + 32
AREA_BITS = 26
AREA = 1 << AREA_BITS
STACK = 0x8000000000000000
STACK_TOP, BACKING_STORE = STACK + AREA // 2, STACK + AREA // 2 + (1 << 20)
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")


def segments_of(file: bytes) -> list[tuple[int, bytes]]:
    """(virtual address, content) of what an executable loads."""
    offset, size, number = (HEADER.unpack_from(file)[place] for place in (5, 9, 10))
    found = (SEGMENT.unpack_from(file, offset + size * i) for i in range(number))
    return [(va, file[at : at + length]) for kind, _, at, va, _, length, _, _ in found if kind == 1]


def entry_of(file: bytes) -> int:
    """Where an executable begins."""
    return int(HEADER.unpack_from(file)[4])


def arguments_at(arguments: Sequence[bytes]) -> bytes:
    """The words above the stack pointer of a new program: argc, argv, an empty environment and auxiliary vector."""
    strings, place = b"", STACK_TOP + 16 + 8 * (len(arguments) + 8)
    words = [len(arguments)]
    for argument in arguments:
        words.append(place + len(strings))
        strings += argument + b"\0"
    return b"".join(word.to_bytes(8, "little") for word in (*words, *[0] * 7)) + strings


def level3_image(program: Path, *arguments: str, period: int = 0) -> bytes:
    """An image that runs the program; ``period``: instructions between two interrupts of the timer, 0: none."""
    file = program.read_bytes()
    areas: dict[int, int] = {}
    loaded = [(KERNEL_AT, KERNEL.read_bytes())]
    for va, content in segments_of(file):
        area = areas.setdefault(va & -AREA, (len(areas) + 1) * AREA)
        loaded.append((area + va % AREA, content))
    stack = areas.setdefault(STACK, (len(areas) + 1) * AREA)
    words = arguments_at([b"program", *(argument.encode() for argument in arguments)])
    loaded.append((stack + STACK_TOP % AREA + 16, words))
    numbers = [entry_of(file), STACK_TOP, BACKING_STORE, period, 0, len(areas)]
    for va, pa in areas.items():
        numbers += [va, pa, AREA_BITS]
    loaded.append((PARAMETERS, b"".join(number.to_bytes(8, "little") for number in numbers)))
    return elf_image(ENTRY, [Piece(content, place, place) for place, content in loaded])


TOOLS = ("cpp", "ia64-linux-gnu-as", "ia64-linux-gnu-ld", "ia64-linux-gnu-objcopy")


def can_assemble() -> bool:
    """Whether the assembler is here."""
    return all(map(shutil.which, TOOLS))


def assembled() -> bytes:
    """The kernel, from its source."""
    preprocess, assemble, link, copy = TOOLS
    with tempfile.TemporaryDirectory() as place:
        text, thing, linked, binary = (f"{place}/level3.{kind}" for kind in ("s", "o", "elf", "bin"))
        for words in (
            [preprocess, "-P", "-x", "assembler-with-cpp", str(SOURCE), text],
            [assemble, "-o", thing, text],
            [link, "-N", f"--section-start=.ivt={KERNEL_AT:#x}", "-e", f"{ENTRY:#x}", "-static", "-o", linked, thing],
            [copy, "-O", "binary", "-j", ".ivt", linked, binary],
        ):
            subprocess.run(words, check=True, capture_output=True)
        return Path(binary).read_bytes()


if __name__ == "__main__":
    KERNEL.write_bytes(assembled())
