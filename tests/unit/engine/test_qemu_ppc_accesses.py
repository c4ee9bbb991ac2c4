"""Addresses of memory accesses in the streams of PowerPC programs."""

from pathlib import Path

import pytest
from grids import each
from ppc_programs import (
    DATA,
    ENTRY,
    PPC_ASSEMBLER,
    QEMU_PPC,
    READ_ONLY,
    TARGETS,
    executed,
    is_load,
    is_store,
    machine_codes,
    ppc_program,
    write_elf,
)
from qemu_guests import EXAMPLES, accesses, run

from pfmon.stream._stream import AccessKind

pytestmark = [
    pytest.mark.slow,
    PPC_ASSEMBLER,
    QEMU_PPC,
]
R, W = AccessKind.READ, AccessKind.WRITE
EXIT = "li 0, 1\n li 3, 0\n sc"

ACCESSING = {
    "lwz 5, 4(9)": (R, 4, 4),
    "lbzu 5, 3(9)": (R, 3, 1),
    "sthx 5, 9, 10": (W, 8, 2),
    "lfd 1, 16(9)": (R, 16, 8),
    "stfiwx 1, 9, 10": (W, 8, 4),
    "lwarx 5, 9, 10": (R, 8, 4),
    "lhbrx 5, 9, 10": (R, 8, 2),
}
"""Code, where r9 has an address and r10 is 8, and its access: sort, bytes behind that address, how many."""


@each("name", TARGETS)
@each("code", ACCESSING)
def test_access_has_its_address(code: str, name: str, tmp_path: Path) -> None:
    before, behind = f"lis 9, {DATA >> 16}\n li 10, 8", f"dcbt 9, 10\n {EXIT}"
    codes = machine_codes((before, behind, *ACCESSING), TARGETS[name])
    program = write_elf(tmp_path / "program", codes[before] + codes[code] + codes[behind], TARGETS[name])
    ran = run([program], addresses=True)
    kind, offset, size = ACCESSING[code]
    assert list(accesses(ran)) == [(ENTRY + 8, kind, DATA + offset, size)]


@pytest.mark.parametrize("name", TARGETS)
def test_accesses_of_a_loop_are_in_program_order(name: str, tmp_path: Path) -> None:
    loop = "li 4, 3\n mtctr 4\n 1: lwzu 5, 4(9)\n stw 5, 64(9)\n bdnz 1b"
    ran = run([ppc_program(tmp_path, f"lis 9, {DATA >> 16}\n {loop}\n {EXIT}", TARGETS[name])], addresses=True)
    made = [(one.kind, one.address) for one in accesses(ran)]
    assert made == [(kind, DATA + 4 * i + far) for i in (1, 2, 3) for kind, far in ((R, 0), (W, 64))]


@pytest.mark.parametrize("code", ["lmw 28, 4(9)", "stmw 28, 4(9)", "lswi 4, 9, 10", "stswi 4, 9, 10", "dcbz 0, 9"])
def test_access_whose_address_qemu_does_not_tell_is_left_out(code: str, tmp_path: Path) -> None:
    ran = run([ppc_program(tmp_path, f"lis 9, {DATA >> 16}\n {code}\n lwz 3, 32(9)\n {EXIT}")], addresses=True)
    assert [(one.kind, one.address) for one in accesses(ran)] == [(R, DATA + 32)]


def test_access_that_faults_is_not_made(tmp_path: Path) -> None:
    code = f"lis 9, {DATA >> 16}\n lis 8, {READ_ONLY >> 16}\n lwz 5, 0(8)\n stw 5, 0(9)\n stw 5, 4(8)\n stw 5, 8(9)"
    ran = run([ppc_program(tmp_path, f"{code}\n {EXIT}")], addresses=True)
    assert [(one.kind, one.address) for one in accesses(ran)] == [(R, READ_ONLY), (W, DATA)]


def test_examples_make_as_many_accesses_as_qemu_executes_loads_and_stores(tmp_path: Path) -> None:
    command = [EXAMPLES / "ppc64" / "queens", "5"]
    expected = [
        address for block in executed(command, tmp_path) for address, word in block if is_load(word) or is_store(word)
    ]
    traced = run(command, addresses=True)
    assert [one.ip for one in accesses(traced)] == expected
    assert traced.retired == run(command).retired
