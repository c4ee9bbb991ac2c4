"""Following programs of the other instruction sets that qemu executes: pointers of other sizes and byte orders."""

from collections.abc import Callable
from pathlib import Path

import pytest
from grids import first_quick
from host_programs import needs
from ppc_programs import DATA, ENTRY, PPC_ASSEMBLER, TARGETS, has_qemu, ppc_program
from qemu_guests import ASSEMBLER, assemble

import pfmon

FORKING_I386 = """
_start: mov $2, %eax
 int $0x80
 test %eax, %eax
 jz 2f
 mov $114, %eax
 mov $-1, %ebx
 xor %ecx, %ecx
 xor %edx, %edx
 xor %esi, %esi
 int $0x80
 mov $1, %eax
 mov $3, %ebx
 int $0x80
2: mov $1000, %ecx
1: dec %ecx
 jnz 1b
 mov $1, %eax
 mov $7, %ebx
 int $0x80
"""
EXECUTING_I386 = """
_start: mov $11, %eax
 mov $path, %ebx
 mov $arguments, %ecx
 xor %edx, %edx
 int $0x80
.data
path: .asciz "{path}"
.align 4
arguments: .long path, path, 0
"""
FORKING_PPC = """
 li 0, 2
 sc
 cmpwi 3, 0
 beq 2f
 li 0, 114
 li 3, -1
 li 4, 0
 li 5, 0
 li 6, 0
 sc
 li 0, 1
 li 3, 3
 sc
2: li 9, 1000
 mtctr 9
1: bdnz 1b
 li 0, 1
 li 3, 7
 sc
"""
EXECUTING_PPC = """
 b 1f
 .asciz "{{path}}"
 .balign 4
1: lis 14, {high}
 ori 14, 14, {low}
 lis 15, {data}
 {store} 14, 0(15)
 mr 3, 14
 mr 4, 15
 li 5, 0
 li 0, 11
 sc
"""


def check(make: Callable[[Path, str], Path], forking: str, executing: str, counts: list[int], tmp_path: Path) -> None:
    """A program executes another one, which has a child."""
    (tmp_path / "other").mkdir()
    other = make(tmp_path / "other", forking)
    run = pfmon.run([make(tmp_path, executing.replace("{path}", str(other)))], follow_all=True, capture=True)
    assert [(task.name, task.status) for task in run.tasks or ()] == [("1", None), ("1:1", 3), ("1.1", 7)]
    assert [task.retired for task in run.tasks or ()] == counts
    assert run.status == 3
    assert run.notes == ()


@ASSEMBLER
@needs("qemu-i386")
def test_i386_program_with_another_and_a_child(tmp_path: Path) -> None:
    def make(directory: Path, text: str) -> Path:
        return assemble(directory, text, "-m32")

    check(make, FORKING_I386, EXECUTING_I386, [5, 13, 2006], tmp_path)


@PPC_ASSEMBLER
@pytest.mark.parametrize("name", first_quick(sorted(TARGETS)))
def test_powerpc_program_with_another_and_a_child(name: str, tmp_path: Path) -> None:
    if not has_qemu(name):
        pytest.skip(f"qemu-{name} is not here (package qemu-user)")
    target = TARGETS[name]
    path, store = ENTRY + 4, "std" if target.bits == 64 else "stw"
    executing = EXECUTING_PPC.format(high=path >> 16, low=path & 0xFFFF, data=DATA >> 16, store=store)

    def make(directory: Path, text: str) -> Path:
        return ppc_program(directory, text, target)

    check(make, FORKING_PPC, executing.replace("{{path}}", "{path}"), [10, 13, 1007], tmp_path)
