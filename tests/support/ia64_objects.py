"""Shared objects for IA-64 programs, made here, and a program that maps one after the other at the same place."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from ia64_assembly import Line
from ia64_program import DATA, EXIT, PAGE, TEXT, symbols, write_program

WORK = ["mov.i ar.lc=r20", "loop:", "br.cloop.sptk.few loop", "br.ret.sptk.few b0"]
"""Loops r20 + 1 times: a bundle a line."""

PROGRAMS = Path(__file__).parents[1] / "data" / "linux"
BUNDLE = 16
OPEN, MMAP, MUNMAP = 1028, 1151, 1152


def work(turns: int) -> int:
    """Instructions of WORK: three slots a bundle, a branch in the last."""
    return 3 * 2 + 3 * (turns + 1)


def write_object(path: Path, name: str) -> Path:
    """A file whose code has a symbol of that name; the code is that of all others."""
    return write_program(path, WORK, debug=symbols({name: (TEXT, 3 * BUNDLE)}))


def called(number: int) -> list[str]:
    """Make a system call."""
    return [f"adds r15={number},r0", "break.m 0x100000"]


def write_dynamic(directory: Path, objects: Sequence[tuple[Path, int]], told: bool = True) -> Path:
    """A program whose interpreter, in the directory as a sysroot, maps the code of each and calls it, and ends.
    ``told``: it seems to say before the run what it will map; else that is as with dlopen."""
    (directory / "lib").mkdir()
    write_mapper(directory / "lib" / "interpreter", objects, unmaps=False, told=told)
    return Path(shutil.copy(PROGRAMS / "dynamic", directory))


def write_mapper(path: Path, objects: Sequence[tuple[Path, int]], unmaps: bool = True, told: bool = True) -> Path:
    """A program that maps the code of each, calls it with r20 as given, and unmaps it. ``told``: as a dynamic linker it
    seems to know LD_TRACE_LOADED_OBJECTS."""
    data, lines = b"", list[Line](["alloc r38=ar.pfs,8,0,0"])
    for file, turns in objects:
        lines += [f"movl r32={DATA + len(data):#x}", "adds r33=0,r0", *called(OPEN), "adds r36=0,r8"]
        lines += ["adds r32=0,r0", f"movl r33={PAGE:#x}", "adds r34=5,r0", "adds r35=2,r0", f"movl r37={PAGE:#x}"]
        lines += [*called(MMAP), "adds r21=0,r8", "mov b6=r8", f"adds r20={turns},r0", "br.call.sptk.few b0=b6"]
        if unmaps:
            lines += ["adds r32=0,r21", f"movl r33={PAGE:#x}", *called(MUNMAP)]
        data += bytes(file) + b"\0"
    return write_program(
        path, [*lines, *EXIT], data + b"LD_TRACE_LOADED_OBJECTS" * told, symbols({"main": (TEXT, BUNDLE * len(lines))})
    )
