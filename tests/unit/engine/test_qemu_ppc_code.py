"""What the plugin knows of PowerPC instructions (ppc.c), called by itself: which may fault, and which access memory."""

import ctypes
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from grids import first_quick
from host_programs import needs
from ppc_programs import QEMU_PPC, TARGETS, Target, write_elf
from qemu_guests import run

import pfmon
from pfmon.engine.api import ExitReport

SOURCE = Path(pfmon.__file__).parent / "engine" / "qemu" / "plugin" / "ppc.c"
pytestmark = [
    needs("cc"),
    QEMU_PPC,
]

BRANCHES = {(16, None), (18, None), (19, 16), (19, 528), (19, 560)}
MOVES = [31 << 26 | number << 16 | extended << 1 for extended in (339, 467) for number in (1, 8, 9)]
"""mfspr and mtspr of XER, LR and CTR."""


class Code(ctypes.Structure):
    """struct code (code.h), as far as this looks at it."""

    _fields_ = (("may_fault", ctypes.c_bool), ("conditional", ctypes.c_bool), ("tail", ctypes.c_uint8))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    made = tmp_path_factory.mktemp("ppc") / "ppc.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", made, SOURCE], check=True)
    loaded = ctypes.CDLL(str(made))
    loaded.ppc_accesses.restype = ctypes.c_uint8
    return loaded


def words() -> Iterator[int]:
    """Instructions of all primary and extended opcodes, whose other fields are zero."""
    for primary in range(64):
        yield from (primary << 26 | extended << 1 for extended in range(1024))


def harmless(library: ctypes.CDLL, target: Target) -> list[int]:
    """The instructions that are said not to fault, without branches."""
    code_of = getattr(library, f"{target.name}_code")
    code_of.restype = Code
    found = []
    for word in (*words(), *MOVES):
        primary, extended = word >> 26, word >> 1 & 1023
        is_branch = (primary, None) in BRANCHES or (primary, extended) in BRANCHES
        code = code_of(word.to_bytes(4, "little" if target.order == "<" else "big"), 4)
        if is_branch:
            assert not code.may_fault and code.tail == 0
        elif not code.may_fault:
            found.append(word)
    return found


@pytest.mark.parametrize("name", first_quick(TARGETS))
def test_instructions_that_are_said_not_to_fault_do_not(name: str, library: ctypes.CDLL, tmp_path: Path) -> None:
    """All of them in one program, on the processor that qemu takes if nobody says which."""
    target = TARGETS[name]
    chosen = [word for word in harmless(library, target) if word >> 26 in (19, 30, 31, 63) or word >> 1 & 1023 == 0]
    assert len(chosen) > (70 if target.bits == 32 else 80)
    for start in range(0, len(chosen), 100):
        part = chosen[start : start + 100]
        ends = [0x38000001, 0x38600000, 0x44000002]  # li 0, 1; li 3, 0; sc
        code = b"".join(word.to_bytes(4, "little" if target.order == "<" else "big") for word in part + ends)
        ran = run([write_elf(tmp_path / "program", code, target)])
        assert ran.ending == ExitReport(0), [hex(word) for word in part]
        assert ran.retired == len(part) + len(ends)


@pytest.mark.slow
def test_what_accesses_memory_may_fault(library: ctypes.CDLL) -> None:
    for target in TARGETS.values():
        assert not [hex(word) for word in harmless(library, target) if library.ppc_accesses(ctypes.c_uint32(word))]


KNOWN_31 = {
    20, 21, 23, 53, 55, 84, 87, 119, 149, 150, 151, 181, 183, 214, 215, 247, 279, 311, 341, 343, 373, 375, 407, 439,
    534, 535, 567, 599, 631, 662, 663, 695, 727, 759, 790, 918, 983, 310, 438,
}  # fmt: skip
"""Loads and stores of one place, of the PowerPC 604 and of 64-bit processors, by extended opcode (PowerPC 604 manual,
appendix A)."""
WITHOUT = {533, 597, 661, 725, 1014, 22, 86, 54, 246, 278, 470, 598, 854, 982, 758, 28, 266, 19, 339, 467}
"""lswx, lswi, stswx, stswi, dcbz, whose place qemu does not tell; icbt, dcbf, dcbst, dcbtst, dcbt, dcbi, sync,
eieio, icbi, dcba; and, add, mfcr, mfspr, mtspr."""


def test_loads_and_stores_have_an_address(library: ctypes.CDLL) -> None:
    def accesses(primary: int, extended: int = 0) -> int:
        return int(library.ppc_accesses(ctypes.c_uint32(primary << 26 | extended << 1)))

    assert [primary for primary in range(64) if accesses(primary)] == [6, *range(32, 46), *range(48, 59), 61, 62]
    assert {extended for extended in KNOWN_31 if not accesses(31, extended)} == set()
    assert {extended for extended in WITHOUT if accesses(31, extended)} == set()


def test_branches_are_conditional_by_their_field_bo(library: ctypes.CDLL) -> None:
    """Power ISA, book I, figure 40: 1z1zz is always."""
    for name, target in TARGETS.items():
        code_of = getattr(library, f"{name}_code")
        code_of.restype = Code
        order = "little" if target.order == "<" else "big"
        for form in (16 << 26 | 8, 19 << 26 | 16 << 1, 19 << 26 | 528 << 1):
            conditional = {bo for bo in range(32) if code_of((form | bo << 21).to_bytes(4, order), 4).conditional}
            assert conditional == set(range(32)) - {20, 21, 22, 23, 28, 29, 30, 31}
        assert not code_of((18 << 26).to_bytes(4, order), 4).conditional
