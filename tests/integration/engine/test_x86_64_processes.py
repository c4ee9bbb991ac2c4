"""The x86_64 engine: processes that the program makes behave as natively and are not counted."""

import subprocess
from pathlib import Path

import pytest
from qemu_guests import assemble
from x86_64_host import MARKS, compiled, outcomes
from x86_64_steps import stepped

pytestmark = MARKS


@pytest.mark.slow
def test_child_of_vfork_shares_the_memory_until_it_executes(tmp_path: Path) -> None:
    """Also posix_spawn, which learns so that there is no program; system and popen; children that are killed."""
    program = compiled(tmp_path, "processes")
    native = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    found = outcomes([program], tmp_path)
    assert {told for _, told, _ in found.values()} == {native} and "spawn 2 0" in native
    assert len(set(found.values())) == 1


@pytest.mark.slow
def test_instructions_of_a_child_that_shares_the_memory_are_not_counted(tmp_path: Path) -> None:
    """The child executes the parent's code and code of its own, then the parent does."""
    body = """
        _start:
            call work
            mov $58, %eax
            syscall
            test %eax, %eax
            jnz 1f
            .rept 3
            call work
            .endr
            mov $60, %eax
            xor %edi, %edi
            syscall
        1:  call work
            mov $60, %eax
            mov $3, %edi
            syscall
        work:
            mov $1000, %ecx
        2:  dec %ecx
            jnz 2b
            ret
    """
    program = assemble(tmp_path, body)
    steps = len(stepped([program], tmp_path))
    assert set(outcomes([program], tmp_path).values()) == {(3, "", steps)} and 4000 < steps < 5000
