"""Programs that mark regions, with the instructions of each region counted by hand."""

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ia64_assembly import Line
from ia64_program import DATA, EXIT, write_program

START, STOP = "start", "stop"
NAME_BYTES = 72
"""Of each name in the program's data: the longest ones with their 0."""


class Part(NamedTuple):
    """A mark (START, STOP) of a region, or ``work``: so many instructions."""

    what: str
    name: str = ""
    work: int = 0


def work(count: int) -> Part:
    """That many instructions."""
    return Part("work", work=count)


def start(name: str) -> Part:
    """The mark that begins a region."""
    return Part(START, name)


def stop(name: str) -> Part:
    """The mark that ends it."""
    return Part(STOP, name)


def x86_64(path: Path, parts: Sequence[Part]) -> Path:
    """An x86-64 program of the parts: an instruction loads the name's address, and one marks."""
    names = names_of(parts)
    lines = [".globl _start", "_start:"]
    for part in parts:
        if part.what == "work":
            lines += [f".rept {part.work}", "add $1, %ecx", ".endr"]
        else:
            lines += [
                f"lea names+{NAME_BYTES * names.index(part.name)}(%rip), %rax",
                f"nopl {'0x2b6d6670' if part.what == START else '0x2d6d6670'}(%rax)",
            ]
    lines += ["mov $60, %eax", "xor %edi, %edi", "syscall", ".data", "names:"]
    for name in names:
        lines += [f'1: .asciz "{name}"', f".org 1b + {NAME_BYTES}"]
    source = path.with_suffix(".s")
    source.write_text("\n".join(lines) + "\n")
    subprocess.run(["gcc", "-nostdlib", "-static", "-o", path, source], check=True)
    return path


def ia64(path: Path, parts: Sequence[Part]) -> Path:
    """An IA-64 program of the parts: bundles of three instructions; one of two loads the name's address, and one marks,
    in each of its slots in turn, between nops."""
    names = names_of(parts)
    lines: list[Line] = []
    for number, part in enumerate(parts):
        if part.what == "work":
            lines += [("MII", "adds r9=1,r9", "adds r10=1,r10", "adds r11=1,r11")] * part.work
        else:
            mark = f"0x{0x7066B if part.what == START else 0x7066E:x}"
            slots = [f"nop.m {mark}", "", ""], ["", f"nop.i {mark}", ""], ["", "", f"nop.i {mark}"]
            lines += [
                ("MLX", "", f"movl r14=0x{DATA + NAME_BYTES * names.index(part.name):x}"),
                ("MII", *slots[number % 3]),
            ]
    data = b"".join(name.encode().ljust(NAME_BYTES, b"\0") for name in names)
    return write_program(path, [*lines, *EXIT], data)


def names_of(parts: Sequence[Part]) -> list[str]:
    """Return the names of the regions."""
    return list(dict.fromkeys(part.name for part in parts if part.name))


class Counted(NamedTuple):
    """Instructions in each region, and how often it was entered."""

    instructions: dict[str, int]
    entered: dict[str, int]


def by_hand(parts: Sequence[Part], bundles: bool) -> Counted:
    """Count the instructions of each region, as a reader of the program would: from behind the start's nop to before
    the stop's. ``bundles``: of the IA-64 program."""
    names = names_of(parts)
    depth, found, entered = dict.fromkeys(names, 0), dict.fromkeys(names, 0), dict.fromkeys(names, 0)

    def run(count: int) -> None:
        for name in names:
            found[name] += count if depth[name] else 0

    for number, part in enumerate(parts):
        if part.what == "work":
            run(part.work * (3 if bundles else 1))
            continue
        slot = number % 3 if bundles else 0
        run((2 if bundles else 1) + slot)  # what loads the address, and what is in the bundle before the nop
        if part.what == STOP:
            depth[part.name] = max(0, depth[part.name] - 1)
        run(1)  # the nop itself is in other regions
        if part.what == START:
            entered[part.name] += not depth[part.name]
            depth[part.name] += 1
        run(2 - slot if bundles else 0)
    return Counted(found, entered)


def drawn(seed: int, names: Sequence[str] = ("a", "b b", "ccc"), count: int = 40) -> list[Part]:
    """Marks in a random order, nested in any way, with work between them; the last ones leave all regions."""
    draw = random.Random(seed)
    parts = [work(3)]
    for _ in range(count):
        parts.append(Part(draw.choice((START, START, STOP)), draw.choice(names)))
        if draw.random() < 0.7:
            parts.append(work(draw.randrange(1, 50)))
    parts += [stop(name) for name in names for _ in range(count)]
    return parts
