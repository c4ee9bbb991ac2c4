"""The ELF file of the system's first program: its code (init.S), and what it is to run."""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from importlib.resources import files

from pfmon.engine.system_settings import PackedProgram
from pfmon.program.elf import ET_EXEC, PF_R, PF_W, PF_X, PROGRAM_HEADER, PT_LOAD
from pfmon.program.elf_machine import EM_IA_64

CODE, DATA = 0x4000_0000_0000_0000, 0x6000_0000_0000_0000
"""Where they are linked: regions of their own, as Linux has it for code and data."""
PAGE = 1 << 16
"""The largest page of a kernel: segments begin at multiples of it, in the file too."""
BUFFERS, BUFFER_BYTES = 0x2000, 0x1000
STRINGS = BUFFERS + 2 * BUFFER_BYTES
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
ABI64 = 1 << 4
MOUNTS = (("/proc", "proc"), ("/sys", "sysfs"), ("/dev", "devtmpfs"))


def first_program(wanted: PackedProgram, program: str) -> bytes:
    """The ELF file. ``program``: the guest's path of what it runs."""
    return _elf(files(__package__).joinpath("init.bin").read_bytes(), _data(wanted, program))


class _Strings:
    """Texts that a zero ends, and arrays of their addresses, from an address on."""

    def __init__(self, address: int) -> None:
        self._address = address
        self.content = bytearray()

    def text(self, content: bytes) -> int:
        """Add a text; its address."""
        return self._add(content + b"\0")

    def array(self, texts: Sequence[bytes]) -> int:
        """Add texts and an array that a zero ends; the address of the array."""
        places = [self.text(one) for one in texts]
        return self._add(struct.pack(f"<{len(places) + 1}Q", *places, 0))

    def _add(self, content: bytes) -> int:
        self.content += bytes(-len(self.content) % 8)
        at = self._address + len(self.content)
        self.content += content
        return at


def _data(wanted: PackedProgram, program: str) -> bytes:
    strings = _Strings(DATA + STRINGS)
    words = (
        strings.text(os.fsencode(program)),
        strings.array(wanted.arguments),
        strings.array(wanted.environment),
        strings.text(os.fsencode(wanted.directory)),
        strings.array([text.encode() for mount in MOUNTS for text in mount]),
        strings.array([_absolute(wanted, guest) for guest, _ in wanted.outputs]),
    )
    head = struct.pack(f"<{len(words)}Q", *words)
    return head + bytes(STRINGS - len(head)) + bytes(strings.content)


def _absolute(wanted: PackedProgram, path: str) -> bytes:
    """A path from the directory in which the program begins."""
    return os.fsencode(path if path.startswith("/") else f"{wanted.directory}/{path}")


def _elf(code: bytes, data: bytes) -> bytes:
    place = PAGE + len(code) + PAGE - 1 & -PAGE
    segments = [(CODE, PAGE, code, PF_R | PF_X), (DATA, place, data, PF_R | PF_W)]
    headers = b"".join(
        PROGRAM_HEADER.pack(PT_LOAD, flags, offset, address, address, len(content), len(content), PAGE)
        for address, offset, content, flags in segments
    )
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)
    sizes = (HEADER.size, PROGRAM_HEADER.size, len(segments), 64, 0, 0)
    head = HEADER.pack(identity, ET_EXEC, EM_IA_64, 1, CODE, HEADER.size, 0, ABI64, *sizes)
    start = (head + headers).ljust(PAGE, b"\0")
    return (start + code).ljust(place, b"\0") + data
