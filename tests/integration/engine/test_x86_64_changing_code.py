"""The x86_64 engine: code that changes while it executes."""

import subprocess
import time
from pathlib import Path

import pytest
from qemu_guests import assemble
from x86_64_host import ENGINE, MARKS, PFMON, WAYS, compiled, outcomes, pfmon
from x86_64_steps import stepped

pytestmark = [*MARKS, pytest.mark.slow]


@pytest.mark.slow
def test_stores_of_program_and_kernel_change_the_code_that_executes(tmp_path: Path) -> None:
    """The rest of a block that writes over itself; system calls and frames of signals in pages of code."""
    program = compiled(tmp_path, "changing_code")
    native = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    found = outcomes([program], tmp_path)
    assert {told for _, told, _ in found.values()} == {native} and "kernel 4104 402" in native
    assert len(set(found.values())) == 1


TRAMPOLINES = """
#include <stdio.h>
static int twice(int (*f)(int), int n) { return f(n) + f(n + 1); }
static int outer(int k, int depth) {
    int inner(int x) { return x * k; }
    int sum = twice(inner, depth);
    return depth ? sum + outer(k + 1, depth - 1) : sum;
}
int main(void) { int sum = 0; for (int i = 0; i < 50; i++) sum += outer(i, i % 9); printf("%d\\n", sum); return 0; }
"""
"""GCC writes code on the stack for the address of a function within a function."""


@pytest.mark.slow
def test_code_on_the_stack_executes(tmp_path: Path) -> None:
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(TRAMPOLINES)
    subprocess.run(["gcc", "-O1", "-w", "-o", program, source], check=True)
    native = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    found = set(outcomes([program], tmp_path).values())
    assert {told for _, told, _ in found} == {native} and len(found) == 1


@pytest.mark.exhaustive
def test_full_code_cache_is_filled_anew(tmp_path: Path) -> None:
    """Each turn stores to the page of its code, which is translated again: more than 208 MB in all, with records of
    addresses."""
    body = """
        _start:
            mov $100000, %ebx
        1:  movb $0x90, 2f(%rip)
            call 2f
            dec %ebx
            jnz 1b
            mov $60, %eax
            xor %edi, %edi
            syscall
        2:  nop
            .rept 126
            mov 100(%rsp), %rax
            .endr
            ret
    """
    program, counts = assemble(tmp_path, body, "-Wl,-N"), tmp_path / "counts"
    subprocess.run([*PFMON, *WAYS["addresses"], f"--outfile={counts}", program], timeout=120, check=True)
    assert int(counts.read_text().split()[0]) == (4 + 128) * 100_000 + 4


@pytest.mark.slow
def test_block_that_writes_over_itself_retires_what_steps_count(tmp_path: Path) -> None:
    """By a store and by a repeated string instruction; 20500 is the sum of what the changed instructions add."""
    body = """
        _start:
            mov $200, %r12d
        1:  nop
            mov %r12d, 2f+1(%rip)
            nop
        2:  mov $7, %eax
            add %eax, %ebx
            lea from(%rip), %rsi
            lea 3f(%rip), %rdi
            mov $8, %ecx
            rep movsb
            inc %ebx
        3:  .fill 8, 1, 0xCC
            dec %r12d
            jnz 1b
            cmp $20500, %ebx
            setne %dil
            movzx %dil, %edi
            mov $60, %eax
            syscall
        from:
            nop
            lea 1(%rbx), %ebx
            .fill 4, 1, 0x90
    """
    program = assemble(tmp_path, body, "-Wl,-N")
    steps = len(stepped([program], tmp_path))
    assert set(outcomes([program], tmp_path).values()) == {(0, "", steps)} and steps > 3000


@pytest.mark.slow
def test_indirect_branches_are_as_fast_after_translations_were_forgotten(tmp_path: Path) -> None:
    """Twenty million calls and returns are found in the table (blocks.c), whether or not a store changed the code."""
    body = """
        _start:
            lea function(%rip), %rbx
            mov $10, %r14d
            call turns
            movb $0x90, {place}(%rip)
            mov $20000000, %r14d
            call turns
            mov $60, %eax
            xor %edi, %edi
            syscall
        turns:
            call *%rbx
            dec %r14d
            jnz turns
            ret
        function:
            nop
            ret
        .section .bss
        data: .skip 8192
    """
    times = []
    for place in ("data+4096", "function"):
        folder = tmp_path / place
        folder.mkdir()
        program = assemble(folder, body.format(place=place), "-Wl,-N")
        began = time.monotonic()
        subprocess.run([*PFMON, *WAYS["totals"], program], capture_output=True, timeout=60, check=True)
        times.append(time.monotonic() - began)
    assert times[1] < 4 * times[0]


@pytest.fixture(scope="module")
def patched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that changes functions which call each other."""
    return compiled(tmp_path_factory.mktemp("patched"), "patched_code")


@pytest.mark.parametrize("seed", [*range(1, 4), *(pytest.param(n, marks=pytest.mark.exhaustive) for n in range(4, 60))])
def test_functions_that_are_changed_one_by_one(seed: int, patched: Path, tmp_path: Path) -> None:
    """Pages with data and code, calls and jumps from other pages, loops that became paths: the program itself knows the
    results."""
    words = [patched, str(seed), "400"]
    native = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found = set(outcomes(words, tmp_path).values())
    assert {(status, told) for status, told, _ in found} == {(0, native)} and len(found) == 1


def test_many_changes_of_few_pages(patched: Path) -> None:
    """Pages that change often are compared with memory, and protected again when they have not changed for long."""
    native = subprocess.run([patched, "1", "20000"], capture_output=True, text=True, check=True).stdout
    assert pfmon(ENGINE, "-e", "instructions_retired", str(patched), "1", "20000").stdout.startswith(native)
