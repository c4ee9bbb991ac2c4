"""The x86_64 engine against the host's processor, instruction by instruction (x86_64_steps.py)."""

from pathlib import Path

import pytest
from grids import diagonal, few, first_quick
from qemu_guests import EXAMPLES, Ran, assemble, run
from x86_64_host import MARKS
from x86_64_random import random_program
from x86_64_steps import Counts, Step, counts, stepped

from pfmon.stream._stream import Kind

pytestmark = MARKS


def order(ran: Ran) -> list[int]:
    """The addresses of the instructions that a stream without addresses of accesses names, in its order."""
    blocks = (ran.guest.table.block(word & 0xFFFFFFFF) for word in ran.words if not word >> 63)
    return [one.address for block in blocks for one in block.instructions]


def summed(ran: Ran) -> Counts:
    """The counts of a run, by kinds of instructions and runs of blocks."""
    found = [0, 0, 0, 0]
    for block in map(ran.guest.table.block, ran.guest.table.numbers()):
        for one in block.instructions:
            signs = (1, one.kind & Kind.BRANCH, one.kind & Kind.LOAD, one.kind & Kind.STORE)
            times = ran.tally.runs(block.number)
            found = [count + (times if sign else 0) for count, sign in zip(found, signs, strict=True)]
    return Counts(*found)


def check(command: list[str | Path], directory: Path, printed: Path) -> None:
    """Compare order and counts."""
    steps: list[Step] = stepped(command, directory)
    with printed.open("w") as file:
        files = (0, file.fileno(), file.fileno())
        stream = run(command, engine="x86_64", files=files)
        others = [
            run(command, engine="x86_64", files=files, **{way: True})  # type: ignore[misc]  # one of Options
            for way in ("addresses", "totals", "slow")
        ]
    assert order(stream) == [step.ip for step in steps]
    for ran in (stream, *others):
        assert summed(ran) == counts(steps)


@diagonal
@pytest.mark.parametrize("seed", first_quick(few(range(30, 60), 4)))
@pytest.mark.parametrize("changing", [False, True])
def test_random_programs_retire_what_single_steps_do(seed: int, changing: bool, tmp_path: Path) -> None:
    check([random_program(seed, 300, tmp_path, changing=changing)], tmp_path, tmp_path / "printed")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), [("noploop", "5"), ("queens", "3"), ("hashmap", "8"), ("fib", "5")])
def test_examples_retire_what_single_steps_do(name: str, size: str, tmp_path: Path) -> None:
    check([str(EXAMPLES / "x86_64" / name), size], tmp_path, tmp_path / "printed")


def test_system_calls_faults_and_strings_retire_what_single_steps_do(tmp_path: Path) -> None:
    """A handler moves rip past the store that faults, whose instruction does not retire; the program ends by ud2."""
    body = """
        _start:
            mov $13, %eax
            mov $11, %edi
            lea action(%rip), %rsi
            xor %edx, %edx
            mov $8, %r10d
            syscall
            mov $3, %ebx
        1:  mov %ebx, %ecx
            mov %rsp, %rdi
            rep stosb
            mov $8, %edx
            inc %ebx
            mov %ebx, (%rdx)
            .byte 0x90
            cmp $6, %ebx
            jne 1b
            ud2
        handler:
            addq $2, 168(%rdx)
            ret
        restorer:
            mov $15, %eax
            syscall
        .data
        action: .quad handler, 0x04000004, restorer, 0
    """
    check([assemble(tmp_path, body)], tmp_path, tmp_path / "printed")
