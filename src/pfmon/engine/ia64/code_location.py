"""The place of an instruction: function, bundle address, slot, and the bundle's instructions."""

from __future__ import annotations

from pfmon.engine.guest_memory import GuestMemoryFault
from pfmon.engine.ia64._ia64 import AddressSpace
from pfmon.isa.ia64.bundle import slots
from pfmon.isa.ia64.disassemble import disassemble
from pfmon.program.loaded_objects import LoadedObjects, place_of


def describe(objects: LoadedObjects, memory: AddressSpace, ip: int) -> str:
    """``0x4000000000000bd1 (printf+0x310, slot 1): add r15=r20,r15 ;; *ld1 r15=[r15] nop.i 0x0``"""
    bundle, slot = ip & ~15, ip & 3
    parts = [f"slot {slot}"]
    if place := place_of(objects, bundle):
        parts.insert(0, place)
    return f"{bundle:#x} ({', '.join(parts)}): {bundle_text(memory, bundle, slot)}"


def bundle_text(memory: AddressSpace, address: int, slot: int | None) -> str:
    """The instructions of a bundle, one of them marked."""
    try:
        data = memory.read(address, 16)
    except GuestMemoryFault:
        return "no code there"
    instructions = slots(int.from_bytes(data, "little"))
    if instructions is None:
        return f"reserved template in bundle {data[::-1].hex()}"
    texts = []
    for instruction in instructions:
        text = disassemble(instruction.unit, instruction.encoding, instruction.extension, address)
        here = "*" if instruction.number == slot else ""
        stop = " ;;" if instruction.stop else ""
        texts.append(f"{here}{text or f'reserved encoding {instruction.encoding:#x}'}{stop}")
    return " | ".join(texts)
