"""The command line of a Linux kernel (Documentation/admin-guide/kernel-parameters.txt)."""

from __future__ import annotations

import re

from pfmon.engine.system_settings import BootSettings
from pfmon.errors import PfmonError
from pfmon.program.image import Image

MOST_BYTES = 2047
"""COMMAND_LINE_SIZE of IA-64 is 2048."""
CONSOLE = re.compile(r"(?:^|\s)(?:console|earlycon)(?:=|\s|$)")
BREAKS = ((b"\x08\x00\x40\x00", 1, b"\xe0\x3f"), (b"\x10\x00\x80\x00", 6, b"\xc0\x7f"))
"""``break.m 0x80001`` in the first and in the second slot of a bundle (bits 5 to 45, 46 to 86): four bytes with all
bits that are set, their place in the bundle, and which bits of the bytes around them belong to the instruction."""
BUNDLE = 16


def command_line(image: Image, boot: BootSettings, uart: int) -> bytes:
    """The user's, behind a console where that names none. PfmonError: it is too long."""
    words = [boot.cmdline] if boot.cmdline else []
    if not CONSOLE.search(boot.cmdline):
        words.insert(0, _console(image, uart))
    line = " ".join(words).encode(errors="surrogateescape")
    if len(line) > MOST_BYTES:
        raise PfmonError(f"--cmdline: the command line is longer than {MOST_BYTES} bytes").about("--cmdline")
    return line


def _console(image: Image, uart: int) -> str:
    """The serial port, from the beginning on; a kernel with a console of simulator calls shows its beginning itself."""
    parts = (image.data[one.offset : one.offset + one.file_size] for one in image.elf.segments)
    if any(map(makes_simulator_calls, parts)):
        return "console=hvc0"
    return f"earlycon=uart8250,mmio,{uart:#x} console=ttyS0"


def makes_simulator_calls(data: bytes) -> bool:
    """Whether there is a bundle for one in code."""
    return any(_has_break(data, *one) for one in BREAKS)


def _has_break(data: bytes, pattern: bytes, place: int, own: bytes) -> bool:
    at = data.find(pattern)
    while at >= 0:
        before, behind = data[at - 1 : at], data[at + len(pattern) : at + len(pattern) + 1]
        if at % BUNDLE == place and not (before[0] & own[0] or (behind and behind[0] & own[1])):
            return True
        at = data.find(pattern, at + 1)
    return False
