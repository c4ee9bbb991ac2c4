"""The report on a program that a signal killed: the instruction, and the contents of a core file, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pfmon.engine.guest_memory import GuestMemoryFault
from pfmon.engine.ia64._ia64 import AddressSpace, Processor
from pfmon.engine.linux.memory.mappings import rights_text
from pfmon.engine.linux.process.process import Process
from pfmon.isa.ia64.bundle import slots
from pfmon.isa.ia64.disassemble import disassemble
from pfmon.program.loaded_objects import LoadedObjects, place_of

APPLICATION_REGISTERS = ("rsc", "bsp", "bspstore", "rnat", "ccv", "unat", "fpsr", "pfs", "lc", "ec")
STATIC = 32
AROUND = 3
"""Bundles shown before and after the killing one."""
STACK_WORDS = 16
STACK_POINTER = 12


def report(process: Process, processor: Processor, objects: LoadedObjects, why: str) -> str:
    """Registers, code, top of the stack and memory map of a process whose running thread was killed."""
    lines = [
        f"process {process.process_id} ({process.paths.program.decode(errors='replace')}), thread "
        f"{process.thread.number}: {why}",
        "",
        *_registers(processor),
        "",
        *_code(processor, objects),
        "",
        *_stack(processor, objects),
        "",
        *_map(process),
    ]
    return "\n".join(lines) + "\n"


def _rows(cells: Sequence[str], columns: int) -> Iterator[str]:
    for first in range(0, len(cells), columns):
        yield "  ".join(cells[first : first + columns]).rstrip()


def _registers(processor: Processor) -> Iterator[str]:
    ip, cfm = processor.ip, processor.cfm
    yield f"ip {ip & ~15:#018x} slot {ip & 3}  um {processor.um:#x}"
    yield f"cfm {cfm:#x} (sof {cfm & 0x7F}, sol {cfm >> 7 & 0x7F})  pr {processor.pr:#018x}"
    general = range(1, STATIC + (cfm & 0x7F))
    yield from _rows([f"r{n:<3} {processor.gr(n):016x}{' NaT' if processor.nat(n) else '    '}" for n in general], 4)
    yield from _rows([f"b{n} {processor.br(n):016x}" for n in range(8)], 4)
    yield from _rows([f"ar.{name:<8} {processor.ar(name):016x}" for name in APPLICATION_REGISTERS], 3)
    floats = [(n, processor.fr_spill(n)) for n in range(2, 128)]
    yield from _rows([f"f{n:<3} {value[::-1].hex()[11:]}" for n, value in floats if any(value)], 4)


def _code(processor: Processor, objects: LoadedObjects) -> Iterator[str]:
    here, slot = processor.ip & ~15, processor.ip & 3
    yield f"code at {place_of(objects, here) or hex(here)}:"
    for address in range(here - 16 * AROUND, here + 16 * (AROUND + 1), 16):
        mark = ">" if address == here else " "
        yield f"{mark} {address:#018x}  {bundle_text(processor.memory, address, slot if address == here else None)}"


def _stack(processor: Processor, objects: LoadedObjects) -> Iterator[str]:
    pointer = processor.gr(STACK_POINTER)
    yield f"stack at r12 = {pointer:#x}:"
    for address in range(pointer, pointer + 8 * STACK_WORDS, 8):
        try:
            word = int.from_bytes(processor.memory.read(address, 8), "little")
        except (GuestMemoryFault, OverflowError):
            yield f"  {address:#018x}  not readable"
            return
        place = place_of(objects, word)
        yield f"  {address:#018x}  {word:016x}{f'  {place}' if place else ''}"


def _map(process: Process) -> Iterator[str]:
    yield "memory:"
    for start, end, protection in process.memory.regions_map():
        yield f"  {start:016x}-{end:016x} {rights_text(protection)} {process.region_name(start, end)}".rstrip()


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
