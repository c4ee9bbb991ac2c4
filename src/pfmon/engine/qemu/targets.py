"""What qemu executes: one row an instruction set."""

from __future__ import annotations

from pfmon.light_typing import NamedTuple
from pfmon.stream.table import InstructionSet

X86 = 3
"""capstone's numbers of architectures (CS_ARCH_*),"""

MODE_32, MODE_64 = 1 << 2, 1 << 3
"""... and of their modes (CS_MODE_*)."""


PAYLOAD_BYTES = 16
"""Of an instruction in the block table: its code, then zeros (describe.pxd)."""


class Target(NamedTuple):
    """qemu's name of it; the module that knows its mnemonics, and who describes them; capstone's architecture and
    mode."""

    name: str
    module: str
    architecture: int
    mode: int


TARGETS = {
    InstructionSet.X86_64: Target("x86_64", "pfmon.engine.qemu.x86", X86, MODE_64),
    InstructionSet.I386: Target("i386", "pfmon.engine.qemu.x86", X86, MODE_32),
}
"""By instruction set."""
