"""The x86_64 engine: system calls as programs make them."""

from pathlib import Path

import pytest
from qemu_guests import assemble
from x86_64_host import MARKS, outcomes

pytestmark = MARKS

EPOCH = 1_767_225_600
"""2026-01-01 00:00:00 UTC."""


def test_vsyscalls_return_the_fixed_time_and_retire_nothing(tmp_path: Path) -> None:
    """The exit status has a bit for each function that went wrong; 22 instructions are written here."""
    body = f"""
        _start:
            sub $64, %rsp
            xor %ebx, %ebx
            mov $0xffffffffff600000, %rax
            mov %rsp, %rdi
            lea 16(%rsp), %rsi
            call *%rax
            cmpq ${EPOCH}, (%rsp)
            setne %bl
            mov $0xffffffffff600400, %rax
            lea 32(%rsp), %rdi
            call *%rax
            cmp (%rsp), %rax
            setne %bh
            mov $0xffffffffff600800, %rax
            lea 48(%rsp), %rdi
            xor %esi, %esi
            call *%rax
            lea (%rbx,%rax,4), %edi
            shr $8, %ebx
            lea (%rdi,%rbx,2), %edi
            mov $60, %eax
            syscall
            ud2
    """
    assert set(outcomes([assemble(tmp_path, body)], tmp_path).values()) == {(0, "", 22)}


@pytest.mark.parametrize("bad", ["mov $8, %edi", "mov %rsp, %rdi\n mov $16, %esp", "xor %edi, %edi\n inc %rax"])
def test_bad_vsyscalls_end_in_a_segmentation_fault(bad: str, tmp_path: Path) -> None:
    """A pointer and a stack that are not mapped, as at the kernel's; an address at which none begins."""
    program = assemble(tmp_path, f"_start: mov $0xffffffffff600400, %rax\n {bad}\n jmp *%rax\n")
    assert {status for status, _, _ in outcomes([program], tmp_path).values()} == {139}
