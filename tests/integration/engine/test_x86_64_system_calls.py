"""The x86_64 engine: system calls as programs make them."""

import subprocess
from pathlib import Path

import pytest
from grids import first_quick
from qemu_guests import assemble
from x86_64_host import MARKS, PFMON, outcomes

pytestmark = [*MARKS, pytest.mark.slow]

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


@pytest.mark.slow
@pytest.mark.parametrize(
    "bad", first_quick(["mov $8, %edi", "mov %rsp, %rdi\n mov $16, %esp", "xor %edi, %edi\n inc %rax"])
)
def test_bad_vsyscalls_end_in_a_segmentation_fault(bad: str, tmp_path: Path) -> None:
    """A pointer and a stack that are not mapped, as at the kernel's; an address at which none begins."""
    program = assemble(tmp_path, f"_start: mov $0xffffffffff600400, %rax\n {bad}\n jmp *%rax\n")
    assert {status for status, _, _ in outcomes([program], tmp_path).values()} == {139}


@pytest.mark.slow
@pytest.mark.parametrize("number", first_quick([317, 157]), ids=["seccomp", "prctl"])
def test_filters_of_system_calls_are_refused(number: int, tmp_path: Path) -> None:
    """seccomp(SECCOMP_SET_MODE_STRICT), prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT): EINVAL is 22."""
    first = 0 if number == 317 else 22
    body = f"""
        _start:
            mov ${number}, %eax
            mov ${first}, %edi
            mov ${first // 22}, %esi
            xor %edx, %edx
            syscall
            neg %eax
            mov %eax, %edi
            mov $60, %eax
            syscall
    """
    assert {one[0] for one in outcomes([assemble(tmp_path, body)], tmp_path).values()} == {22}


RANDOM = """
    _start:
        mov $2, %eax
        lea path(%rip), %rdi
        xor %esi, %esi
        syscall
        mov %eax, %edi
        mov %eax, %r12d
        xor %eax, %eax
        lea -64(%rsp), %rsi
        mov $7, %edx
        syscall
        mov %r12d, %edi
        mov $19, %eax
        lea parts(%rip), %rsi
        mov $2, %edx
        syscall
        mov $1, %eax
        mov $1, %edi
        lea -64(%rsp), %rsi
        mov $7, %edx
        syscall
        mov $1, %eax
        lea text(%rip), %rsi
        mov $40, %edx
        syscall
        mov $60, %eax
        xor %edi, %edi
        syscall
    .data
    path: .asciz "DEVICE"
    .balign 8
    parts: .quad text, 8, text + 16, 8
    text: .skip 40, 65
"""
"""Prints 7 bytes that it read, and 40 that begin with A but for 8 and 8 that it read."""


@pytest.mark.slow
@pytest.mark.parametrize("device", ["/dev/urandom", "/dev/random"])
def test_devices_of_random_bytes_give_those_of_the_seed(device: str, tmp_path: Path) -> None:
    program = assemble(tmp_path, RANDOM.replace("DEVICE", device))
    told = [
        subprocess.run([*PFMON, "-e", "none", *options, program], capture_output=True, check=True).stdout
        for options in ([], [], ["--seed=9"], ["--host-random"])
    ]
    assert told[0] == told[1] and len(set(told)) == 3
    for one in told:
        assert len(one) == 47 and one[15:23] == b"A" * 8 and one[31:] == b"A" * 16
        assert len(set(one[:15])) > 8 and len(set(one[23:31])) > 4
