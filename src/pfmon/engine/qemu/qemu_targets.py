"""The targets that qemu executes: one row per instruction set."""

from __future__ import annotations

from typing import NamedTuple

from pfmon.stream._stream import InstructionSet

X86, PPC = 3, 4
"""capstone's numbers of architectures (CS_ARCH_*)."""

LITTLE_ENDIAN, MODE_32, MODE_64, BIG_ENDIAN = 0, 1 << 2, 1 << 3, 1 << 31
"""capstone's modes (CS_MODE_*)."""


PAYLOAD_BYTES = 48
"""Payload of an instruction in the block table: its code, zero-padded to 16 bytes, its registers
(isa/common/operand_masks.pxd), and its form (isa/x86/x86_operands.pxd; 0 for PowerPC)."""


class QemuTarget(NamedTuple):
    """qemu's name of the target; the module with its mnemonics and its describer; capstone's architecture and mode."""

    name: str
    module: str
    architecture: int
    mode: int


X86_MNEMONICS, PPC_MNEMONICS = "pfmon.engine.qemu.describe.x86_mnemonics", "pfmon.engine.qemu.describe.ppc_mnemonics"

TARGETS = {
    InstructionSet.X86_64: QemuTarget("x86_64", X86_MNEMONICS, X86, MODE_64),
    InstructionSet.I386: QemuTarget("i386", X86_MNEMONICS, X86, MODE_32),
    InstructionSet.PPC64: QemuTarget("ppc64", PPC_MNEMONICS, PPC, MODE_64 | BIG_ENDIAN),
    InstructionSet.PPC: QemuTarget("ppc", PPC_MNEMONICS, PPC, MODE_32 | BIG_ENDIAN),
    InstructionSet.PPC64LE: QemuTarget("ppc64le", PPC_MNEMONICS, PPC, MODE_64 | LITTLE_ENDIAN),
}
"""Targets by instruction set."""
