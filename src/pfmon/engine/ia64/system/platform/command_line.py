"""The command line of a Linux kernel (Documentation/admin-guide/kernel-parameters.txt)."""

from __future__ import annotations

import re

from pfmon.engine.system_settings import BootSettings
from pfmon.program.image import Image

MOST_BYTES = 2047
"""COMMAND_LINE_SIZE of IA-64 is 2048."""
CONSOLE = re.compile(r"(?:^|\s)(?:console|earlycon)(?:=|\s|$)")
SIMULATOR_CALL = re.compile(rb"[\x00-\x1f]\x08\x00\x40\x00[\x00\x40\x80\xc0]", re.DOTALL)
"""A bundle that begins with ``break.m 0x80001``: 41 bits behind the template."""
BUNDLE = 16


def command_line(image: Image, boot: BootSettings, uart: int) -> bytes:
    """The user's, behind a console where that names none."""
    words = [boot.append] if boot.append else []
    if not CONSOLE.search(boot.append):
        words.insert(0, _console(image, uart))
    return " ".join(words).encode(errors="surrogateescape")


def _console(image: Image, uart: int) -> str:
    """The serial port, from the beginning on; a kernel with a console of simulator calls shows its beginning itself."""
    if makes_simulator_calls(image.data):
        return "console=hvc0"
    return f"earlycon=uart8250,mmio,{uart:#x} console=ttyS0"


def makes_simulator_calls(data: bytes) -> bool:
    """Whether there is a bundle for one in a file."""
    return any(found.start() % BUNDLE == 0 for found in SIMULATOR_CALL.finditer(data))
