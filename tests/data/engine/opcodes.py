"""Makes opcodes.txt.gz and rows.tsv.gz: IA-64 encodings and what GNU objdump says of them.

Run it with the package importable and binutils-ia64-linux-gnu installed:

    PYTHONPATH=src python tests/data/engine/opcodes.py

opcodes.txt.gz holds texts only, in the order of systematic(), which does not know our rows: every major
opcode with every value of bits 36 to 27, and slots that are random throughout. rows.tsv.gz holds for each of
our rows encodings with random operands: unit, slot, L slot (hex), text. In both an empty text is an encoding
that objdump rejects.
"""

import gzip
import random
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

HERE = Path(__file__).parent
SYSTEMATIC = HERE / "opcodes.txt.gz"
ROWS = HERE / "rows.tsv.gz"

BASE = 0x4000000000000000  # address of the first bundle
RANDOM_SLOTS = 3000  # per unit
VALUES = 4  # encodings per row: operand bits all 0, all 1, then random

# A bundle for a slot of each unit: template, and the place of the slot (of the L+X pair: 1).
BUNDLES = {"M": (0x08, 0), "I": (0x00, 1), "F": (0x0C, 1), "B": (0x16, 0), "X": (0x04, 1)}
NOPS = {0x08: (0x08000000, 0x08000000, 0x08000000), 0x00: (0x08000000, 0x08000000, 0x08000000),
        0x0C: (0x08000000, 0x08000000, 0x08000000), 0x16: (2 << 37, 2 << 37, 2 << 37),
        0x04: (0x08000000, 0, 0x08000000)}  # fmt: skip

Slot = tuple[str, int, int]  # unit, encoding, L slot


def systematic() -> Iterator[Slot]:
    """The slots of opcodes.txt.gz, the same on every run."""
    numbers = random.Random(41)
    for unit in BUNDLES:
        for op in range(16):
            for extension in range(1024):
                if unit != "X" or op in (0, 6, 0xC, 0xD) or extension % 64 == 0:
                    encoding = op << 37 | extension << 27 | numbers.getrandbits(27)
                    yield unit, encoding, numbers.getrandbits(41) if unit == "X" else 0
        for _ in range(RANDOM_SLOTS):
            yield unit, numbers.getrandbits(41), numbers.getrandbits(41) if unit == "X" else 0


def address(index: int) -> int:
    """Of the bundle that the slot number ``index`` of a file stands in."""
    return BASE + 16 * index


def bundle(unit: str, encoding: int, extension: int) -> bytes:
    """One slot among nops."""
    template, place = BUNDLES[unit]
    slots = list(NOPS[template])
    slots[place] = encoding
    if unit == "X":
        slots[1], slots[2] = extension, encoding
    value = template | slots[0] << 5 | slots[1] << 46 | slots[2] << 87
    return value.to_bytes(16, "little")


def objdump(slots: Iterable[Slot]) -> list[str]:
    """What objdump prints for each, without the stop; "" where it prints data."""
    slots = list(slots)
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(bundle(*slot) for slot in slots))
        file.flush()
        command = ["ia64-linux-gnu-objdump", "-D", "-b", "binary", "-m", "ia64-elf64", "--no-show-raw-insn"]
        command += ["-z", f"--adjust-vma={BASE:#x}", file.name]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = {}
    for line in output.splitlines():
        if match := re.match(r"\s*([0-9a-f]+):\t(?:\[[A-Z]+\])?\s*(.*)", line):
            found[int(match[1], 16)] = match[2].removesuffix(";;").strip()
    texts = [found[address(index) + 6 * BUNDLES[slot[0]][1]] for index, slot in enumerate(slots)]
    return ["" if text.startswith("data8") else _without_0x(text) for text in texts]


def _without_0x(text: str) -> str:
    """Of a file without symbols, objdump prints branch targets with 0x in front; of an ELF file, without."""
    if re.match(r"(\(p\d+\) )?(br(?!eak)|chk|fchkf|mov\S* b\d=)", text):
        return re.sub(r"\b0x(?=[0-9a-f]+$|[0-9a-f]+,)", "", text)
    return text


def of_rows() -> Iterator[Slot]:
    """Encodings of every row: fixed bits as the row says, ties kept, operands varied, ignored bits 0."""
    from pfmon.isa.ia64.instruction_set import INSTRUCTIONS

    for row in INSTRUCTIONS:
        numbers = random.Random(row.text)
        for number in range(VALUES):
            value = row.value
            for field in row.layout.fields.values():
                free = field.mask & ~row.mask
                value |= ((0, -1)[number] if number < 2 else numbers.getrandbits(82)) & free
            if row.tie:
                a, b = row.layout.fields[row.tie.a], row.layout.fields[row.tie.b]
                wanted = a.get(value) ^ (((1 << a.width) - 1) if row.tie.complement else 0)
                value = value & ~b.mask | b.put(wanted)
            for unit in row.units:
                yield unit, value & (1 << 41) - 1, value >> 41


def main() -> None:
    with gzip.GzipFile(SYSTEMATIC, "wb", mtime=0) as file:
        file.write("".join(text + "\n" for text in objdump(systematic())).encode())
    slots = list(dict.fromkeys(of_rows()))
    with gzip.GzipFile(ROWS, "wb", mtime=0) as file:
        for (unit, encoding, extension), text in zip(slots, objdump(slots), strict=True):
            file.write(f"{unit}\t{encoding:x}\t{extension:x}\t{text}\n".encode())


if __name__ == "__main__":
    main()
