"""Shared objects for x86-64 programs, made here, and a program that loads and unloads them. What their functions retire
is counted by hand."""

import subprocess
from pathlib import Path

WORK = """
.text
.globl work, {own}
.type work, @function
.type {own}, @function
work: mov %edi, %ecx
1: dec %ecx
 jnz 1b
 ret
.size work, . - work
{own}: nop
 jmp work
.size {own}, . - {own}
.section .note.GNU-stack, "", @progbits
"""
"""`work(n)` loops; a function of its own name comes to it."""

OVERHEAD = 2
"""Instructions of work(n) beside two for each turn."""

LOADER = """
#include <dlfcn.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    for (int i = 1; i + 2 < argc; i += 3) {
        void *object = dlopen(argv[i], RTLD_NOW);
        void (*function)(long) = object ? (void (*)(long))dlsym(object, argv[i + 1]) : 0;
        if (!function) return 1;
        function(atol(argv[i + 2]));
        if (dlclose(object)) return 2;
    }
    return 0;
}
"""
"""Arguments: a shared object, a function of it, a number for that; and so on. Each is unloaded again."""


def work(turns: int) -> int:
    """Instructions of work(turns)."""
    return OVERHEAD + 2 * turns


def write_object(directory: Path, name: str, own: str, *options: str) -> Path:
    """A shared object with `work` and a function of its own. Where these have one name, or names of one length, the
    code is the same and at the same places."""
    source, made = directory / f"{name}.S", directory / f"{name}.so"
    source.write_text(WORK.format(own=own))
    command = ["cc", "-shared", "-nostdlib", *options, "-o", made, source]
    subprocess.run(command, check=True, capture_output=True)
    return made


def write_loader(directory: Path) -> Path:
    """The program that loads them."""
    source, program = directory / "loader.c", directory / "loader"
    source.write_text(LOADER)
    subprocess.run(["cc", "-O1", "-o", program, source, "-ldl"], check=True, capture_output=True)
    return program


def write_caller(directory: Path, *link: Path | str) -> Path:
    """A program that is linked with an object, or has `work` itself, and calls work(1000)."""
    source, program = directory / "caller.c", directory / "caller"
    source.write_text("void work(long); int main(void) { work(1000); return 0; }")
    subprocess.run(["cc", "-O1", "-o", program, source, *link], check=True, capture_output=True)
    return program


def address_in(path: Path, name: str) -> int:
    """Where nm says that a symbol is."""
    listed = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
    return next(int(line.split()[0], 16) for line in listed.splitlines() if line.split()[2:] == [name])
