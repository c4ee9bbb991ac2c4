"""The runtime's code: whichever compiler made it, the guest's vector registers are left alone."""

import re
from pathlib import Path

import capstone
import pytest
from elftools.elf.elffile import ELFFile

from pfmon.engine.x86_64.x86_64_guest import runtime_path

VECTOR = re.compile(r"\b[xyz]?mm\d|\bst\(|\bk[0-7]\b")


def text() -> tuple[int, bytes]:
    try:
        with Path(runtime_path()).open("rb") as file:
            section = ELFFile(file).get_section_by_name(".text")
            return section["sh_addr"], section.data()
    except FileNotFoundError:
        pytest.skip("no x86_64 engine is built on this host")


def test_no_instruction_of_the_runtime_names_a_vector_register() -> None:
    address, code = text()
    decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    decoder.skipdata = True
    found = [f"{at:x} {name} {operands}" for at, _, name, operands in decoder.disasm_lite(code, address)]
    assert len(found) > 10_000
    assert [line for line in found if VECTOR.search(line)] == []
