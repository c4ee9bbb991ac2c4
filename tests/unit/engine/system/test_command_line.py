"""The command line of a kernel: which console it has where the user names none."""

import pytest
from elf_images import MB, Piece, elf_image

from pfmon.engine.ia64.system.platform.command_line import command_line, makes_simulator_calls
from pfmon.engine.system_settings import BootSettings
from pfmon.program import system_image
from pfmon.program.image import Image

NOP_M, NOP_I = 1 << 27, 1 << 27
CALL = 0x80001 << 6
"""break.m 0x80001: imm20a in bits 25:6 (format M37)."""
MII, MMI = 0, 8
SERIAL = b"earlycon=uart8250,mmio,0xf0000000 console=ttyS0"


def bundle(template: int, *slots: int) -> bytes:
    return (template | slots[0] << 5 | slots[1] << 46 | slots[2] << 87).to_bytes(16, "little")


def kernel(code: bytes) -> Image:
    return system_image.load("kernel", elf_image(MB, [Piece(code, MB, MB)])).image


PLAIN = bundle(MII, NOP_M, NOP_I, NOP_I)
FIRST, SECOND = bundle(MII, CALL, NOP_I, NOP_I), bundle(MMI, NOP_M, CALL, NOP_I)


@pytest.mark.parametrize(("code", "found"), [(PLAIN, False), (FIRST, True), (SECOND, True)])
def test_simulator_calls_are_found_in_bundles(code: bytes, found: bool) -> None:
    assert makes_simulator_calls(bytes(64) + PLAIN + code) is found


@pytest.mark.parametrize("other", [CALL | 1 << 36, CALL | 1, CALL | 1 << 27, CALL << 1, CALL | 1 << 40])
def test_other_instructions_are_none(other: int) -> None:
    assert not makes_simulator_calls(bundle(MMI, other, NOP_M, NOP_I) + bundle(MMI, NOP_M, other, NOP_I))


def test_calls_are_at_bundles_alone() -> None:
    assert not makes_simulator_calls(bytes(3) + FIRST + SECOND)


@pytest.mark.parametrize(
    ("code", "given", "line"),
    [
        (PLAIN, "", SERIAL),
        (SECOND, "", b"console=hvc0"),
        (PLAIN, "quiet", SERIAL + b" quiet"),
        (PLAIN, "console=ttyS1 quiet", b"console=ttyS1 quiet"),
        (PLAIN, "quiet earlycon", b"quiet earlycon"),
        (PLAIN, "noconsole=1", SERIAL + b" noconsole=1"),
    ],
)
def test_console_is_added_where_there_is_none(code: bytes, given: str, line: bytes) -> None:
    assert command_line(kernel(code), BootSettings(given), 0xF000_0000) == line
