"""The x86_64 engine: the address space of a program."""

import subprocess
from pathlib import Path

import pytest
from grids import first_quick
from qemu_guests import assemble
from x86_64_host import MARKS, compiled, outcomes, refusals

pytestmark = [*MARKS, pytest.mark.slow]


@pytest.fixture(scope="module")
def mappings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that prints what it sees of mappings."""
    return compiled(tmp_path_factory.mktemp("mappings"), "mappings")


@pytest.mark.parametrize("part", first_quick(["moves", "places", "sizes", "overflow"]))
def test_mappings_break_and_stack_are_as_natively(mappings: Path, part: str, tmp_path: Path) -> None:
    native = subprocess.run([mappings, part], capture_output=True, text=True, timeout=60, check=False)
    status = native.returncode if native.returncode >= 0 else 128 - native.returncode
    found = set(outcomes([mappings, part], tmp_path).values())
    assert {one[:2] for one in found} == {(status, native.stdout)} and len(found) == 1


@pytest.mark.slow
@pytest.mark.parametrize("error", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
def test_address_sanitizer_finds_its_shadow_free(error: bool, tmp_path: Path) -> None:
    """Without its search for leaks, which makes a thread. It reads /proc/self/maps, so that counts differ."""
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(
        "#include <stdlib.h>\n"
        "int main(int argc, char **argv) { char *p = malloc(10); p[argc > 1 ? 10 : 9] = 1; free(p); }\n"
    )
    made = subprocess.run(["cc", "-O0", "-fsanitize=address", "-o", program, source], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("this compiler has no AddressSanitizer")
    words = [program, "x"] if error else [program]
    found = outcomes(words, tmp_path, "--env=ASAN_OPTIONS=detect_leaks=0")
    assert {status for status, _, _ in found.values()} == {int(error)}


@pytest.mark.slow
@pytest.mark.parametrize("address", first_quick([0x7000_0000, 0x7100_0000_0000]), ids=["code cache", "memory"])
def test_program_that_maps_over_the_runtime_is_refused(address: int, tmp_path: Path) -> None:
    """mmap with MAP_FIXED."""
    body = f"""
        _start:
            mov $9, %eax
            mov ${address}, %rdi
            mov $4096, %esi
            mov $3, %edx
            mov $0x32, %r10d
            mov $-1, %r8
            xor %r9d, %r9d
            syscall
            ud2
    """
    for status, said in refusals([assemble(tmp_path, body)]):
        assert status == 125 and "--engine=qemu" in said
