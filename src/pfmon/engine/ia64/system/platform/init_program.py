"""The ELF file of the system's first program: its code (init.S), and room for its data (program_setup.py)."""

from __future__ import annotations

import struct
from importlib.resources import files

from pfmon.engine.ia64.system.platform.program_setup import DATA, END
from pfmon.program.elf import ET_EXEC, PF_R, PF_W, PF_X, PROGRAM_HEADER, PT_LOAD
from pfmon.program.elf_machine import EM_IA_64

CODE = 0x4000_0F00_0000_0000
"""The code's virtual address, which is no program's: Linux has code and data of programs in different regions."""
PAGE = 1 << 16
"""The largest page of a kernel: segments begin at multiples of it, in the file too."""
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
ABI64 = 1 << 4


def first_program() -> bytes:
    """The ELF file."""
    code = files(__package__).joinpath("init.bin").read_bytes()
    segments = (
        PROGRAM_HEADER.pack(PT_LOAD, PF_R | PF_X, PAGE, CODE, CODE, len(code), len(code), PAGE),
        PROGRAM_HEADER.pack(PT_LOAD, PF_R | PF_W, PAGE, DATA, DATA, 0, END - DATA, PAGE),
    )
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)
    sizes = (HEADER.size, PROGRAM_HEADER.size, len(segments), 64, 0, 0)
    head = HEADER.pack(identity, ET_EXEC, EM_IA_64, 1, CODE, HEADER.size, 0, ABI64, *sizes)
    return (head + b"".join(segments)).ljust(PAGE, b"\0") + code
