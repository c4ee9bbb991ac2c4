"""The x86_64 engine: paths, for which one word or one counter stands."""

import subprocess
from pathlib import Path

import pytest
from qemu_guests import QEMU, assemble
from x86_64_host import ENGINE, MARKS, V3, compiled, outcomes, pfmon, recorded

pytestmark = MARKS


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Calls that return elsewhere, faults in later blocks, code ahead that changes, code far away, recursion."""
    return compiled(tmp_path_factory.mktemp("paths"), "paths", "-static")


@pytest.mark.slow
def test_paths_compute_what_the_program_does_natively(program: Path, tmp_path: Path) -> None:
    """One instruction a block, words of blocks, addresses and counters give the same count."""
    native = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    ways = outcomes([program], tmp_path, V3)
    assert {one[:2] for one in ways.values()} == {(0, native)}
    assert len({one[2] for one in ways.values()}) == 1


def test_functions_execute_what_they_do_instruction_by_instruction(program: Path) -> None:
    words = ("-e", "instructions_retired,branch_instructions_retired", "--per-function", "--outfile=/dev/stderr")
    blocks, slow = (pfmon(ENGINE, V3, *words, *way, str(program)).stderr for way in ([], ["--slow"]))
    assert blocks == slow


@QEMU
@pytest.mark.slow
def test_addresses_are_those_under_qemu(tmp_path: Path) -> None:
    """Where both engines see the same addresses: a program without system calls but the last, in loops with calls."""
    body = """
        lea -4096(%rsp), %rbx
        mov $300, %ebp
        mov $7, %r12d
    1:  imul $1103515245, %r12d, %r12d
        add $12345, %r12d
        mov %r12d, %eax
        shr $20, %eax
        test $1, %al
        jz 2f
        call 5f
    2:  test $2, %al
        jnz 3f
        movzbl %al, %ecx
        add %r12d, (%rbx,%rcx,8)
        jmp 4f
    3:  push %rax
        mov (%rsp), %r11
        pop %r10
    4:  dec %ebp
        jnz 1b
        mov $60, %eax
        xor %edi, %edi
        syscall
    5:  test $4, %al
        jz 6f
        mov %rax, 16(%rbx)
        ret
    6:  call 7f
        mov 24(%rbx), %r11
        ret
    7:  incl 32(%rbx)
        ret
    """
    made = assemble(tmp_path, body)
    whole, slow, qemu = (recorded(made, *run) for run in (("x86-64-v3",), ("x86-64-v3", True), ("", False, "qemu")))
    assert whole == slow and len(whole) > 1000
    moved = qemu[0].address - whole[0].address  # the stack's place
    assert [one._replace(address=one.address + moved) for one in whole] == qemu
