"""Disassembly, by capstone."""

from __future__ import annotations

from capstone import Cs

from pfmon.engine.qemu.qemu_targets import QemuTarget
from pfmon.stream._stream import BlockTable


def listing(table: BlockTable, target: QemuTarget, first: int, beyond: int) -> list[tuple[int, str]]:
    """Address and text of the instructions of all blocks in a range; of changed code, the latest version."""
    capstone = Cs(target.architecture, target.mode)
    code: dict[int, bytes] = {}
    for number in table.numbers():
        block = table.block(number)
        for one in block.instructions:
            if first <= one.address < beyond:
                code[one.address] = one.payload[: one.length]
    return [(address, _text(capstone, code[address], address)) for address in sorted(code)]


def _text(capstone: Cs, code: bytes, address: int) -> str:
    for _, _, mnemonic, operands in capstone.disasm_lite(code, address):
        return f"{mnemonic} {operands}".rstrip()
    return f".byte {code.hex(' ')}"
