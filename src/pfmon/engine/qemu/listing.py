"""Instructions as text, by capstone."""

from __future__ import annotations

from capstone import CS_ARCH_X86, CS_MODE_64, Cs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.stream.table import BlockTable


def listing(table: BlockTable, first: int, beyond: int) -> list[tuple[int, str]]:
    """Address and text of the instructions of all blocks in a range; where code changed, as it was last."""
    capstone = Cs(CS_ARCH_X86, CS_MODE_64)
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
