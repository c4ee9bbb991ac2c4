"""What an out-of-order core needs to know of each form of instructions, from the processor's instruction table and figures."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntFlag
from typing import NamedTuple

import capstone

from pfmon.machine.config.instruction_table import (
    MEMORY,
    InstructionKind,
    InstructionTable,
    InstructionTiming,
    Ports,
    operands_of,
)
from pfmon.stream._stream import FormBit, OperandForm

ACCESS_SHIFT = 62
"""Bits of a key that have the AccessKind of the operand in memory; the others are the form."""


class CoreKind(IntFlag):
    """outoforder/core_block.pxd, CoreKind."""

    SERIALIZING = 1
    FENCES_STORES = 2
    MICROCODED = 4
    LOCKED = 8
    STREAMING = 16
    STRING = 32
    PREFETCH = 64


class CoreTiming(NamedTuple):
    """Of a form. ``uops``: the ports of each executed µop; ``fuses``: classes of conditional jumps that it fuses with, as bits;
    ``jump``: its own class, 0: it is none; ``ignores_sources``, ``merges``, ``keeps_stack``: which registers it waits for, and
    whether the stack pointer's value takes time."""

    slots: int
    uops: list[tuple[int, ...]]
    latency: int
    latency2: int
    divider: int
    kind: int
    load_latency: int
    top: int
    fuses: int
    jump: int
    busy: int
    string_cycles: int
    ignores_sources: bool
    merges: bool
    keeps_stack: bool


CARRY_JUMPS = {"ja", "jae", "jb", "jbe"}
SIGN_JUMPS = {"js", "jns", "jo", "jno", "jp", "jnp"}
ALL_JUMPS, COMPARE_JUMPS, EQUAL_JUMPS = 7, 3, 2
FUSIONS = {
    "core2": {},
    "nehalem": {"cmp": COMPARE_JUMPS, "test": ALL_JUMPS},
    "skylake": {
        **dict.fromkeys(("test", "and"), ALL_JUMPS),
        **dict.fromkeys(("cmp", "add", "sub"), COMPARE_JUMPS),
        **dict.fromkeys(("inc", "dec"), EQUAL_JUMPS),
    },
}

SKL = dict(
    width=4, lead=2, levels=(12, 42, 190), bus=8, walk=20, fill_busy=2, forward=4, blocked=11, alias=5, split=5,
    page_split=5, translation=7,
    mispredict=16, redirect=5, lock=18, string_start=35, string_bytes=32,
    load_ports=(2, 3), store_address_ports=(7, 2, 3), store_data_ports=(4,),
    buffers=((224, 112), (97, 97), (72, 72), (56, 112)), fill_buffers=10, page_walkers=2, loop_buffer=64,
    fetch=16, decoders=5, complex=4, prefix=3, line=6, uop_cache_sets=32, uop_cache_ways=8,
)  # fmt: skip
NHM = dict(SKL, forward=5, fill_busy=2, levels=(10, 38, 190), loop_buffer=28, line=0, decoders=4, prefix=6,
    load_ports=(2,), store_address_ports=(3,), store_data_ports=(4,),
    buffers=((128, 64), (36, 36), (48, 96), (32, 64)), page_walkers=1)


def jump_class(name: str) -> int:
    """The class of a conditional jump as a bit, by the flags that it reads: CF; ZF, SF and OF; others alone."""
    if not name.startswith("j") or name in ("jmp", "jcxz", "jecxz", "jrcxz"):
        return 0
    return 1 if name in CARRY_JUMPS else 4 if name in SIGN_JUMPS else 2


class CoreTimings:
    """Of a processor."""

    def __init__(self, name: str, figures: Mapping[str, object], mode: int) -> None:
        ports = (
            Ports(all=0xFF, load=0x0C, address=0x8C, indexed=0x0C, data=0x10)
            if name == "skylake"
            else Ports(all=0x3F, load=0x04, address=0x08, indexed=0x08, data=0x10)
        )
        self.table = InstructionTable(name, ports)
        self._name, self._disassembler = name, capstone.Cs(capstone.CS_ARCH_X86, mode)

    def core_figures(self):
        return SKL if self._name == "skylake" else NHM

    def core_timing(self, key: int) -> CoreTiming:
        """Of a form and the AccessKind of its operand in memory."""
        form, access = key & (1 << ACCESS_SHIFT) - 1, key >> ACCESS_SHIFT
        name = self._disassembler.insn_name(form & 0xFFF) or ""
        found = self.table.timing_of(name, form, access)
        operands = operands_of(form)
        fuses = FUSIONS[self._name].get(name, 0)
        if any(operand in MEMORY for operand in operands) and OperandForm.FORM_IMMEDIATE in operands:
            fuses = 0
        kind = found.kind
        return CoreTiming(
            found.fused,
            [tuple(reversed([port for port in range(16) if mask >> port & 1])) for mask in found.ports],
            found.latency,
            found.second,
            found.divider,
            core_kind(found),
            self._load_latency(form, operands, name),
            found.top,
            fuses,
            jump_class(name),
            self._busy(found),
            self._string_cycles(found, name),
            bool(kind & (InstructionKind.ZERO | InstructionKind.ONES)),
            bool(kind & InstructionKind.MERGE),
            bool(kind & InstructionKind.STACK),
        )

    def _busy(self, found: InstructionTiming) -> int:
        """Cycles in which nothing else dispatches: the throughput of microcode and fences."""
        alone = InstructionKind.MICROCODE | InstructionKind.LFENCE | InstructionKind.MFENCE | InstructionKind.SFENCE
        if not found.kind & (alone | InstructionKind.PAUSE | InstructionKind.SERIALIZE | InstructionKind.LOAD_WAIT):
            return 0
        if found.divider or found.kind & (InstructionKind.LOCKED | InstructionKind.STRING):
            return 0
        row = next(row for row in self.table.rows if row.line == found.line)
        return min(round(row.throughput or 0), 255)

    def _string_cycles(self, found: InstructionTiming, name: str) -> int:
        if not found.kind & InstructionKind.STRING:
            return 0
        if name.startswith("movs"):
            return 1
        if name.startswith("stos"):
            return 2
        return 2 * 64 // {"b": 1, "w": 2, "d": 4, "q": 8}[name[-1]]

    def _load_latency(self, form: int, operands, name: str) -> int:
        skl = self._name == "skylake"
        if OperandForm.FORM_YMM in operands or OperandForm.FORM_ZMM in operands:
            return 7
        if OperandForm.FORM_XMM in operands:
            return 6
        if OperandForm.FORM_ST in operands or name.startswith("f"):
            return 7 if skl else 6
        if skl and (form >> FormBit.FORM_INDEX & 1 or form >> FormBit.FORM_FAR & 1):
            return 5
        return 4


def core_kind(timing: InstructionTiming) -> int:
    """The bits of CoreKind."""
    kinds = {
        CoreKind.SERIALIZING: InstructionKind.SERIALIZE | InstructionKind.LFENCE | InstructionKind.LOAD_WAIT | InstructionKind.PAUSE,
        CoreKind.FENCES_STORES: InstructionKind.MFENCE | InstructionKind.SFENCE,
        CoreKind.MICROCODED: InstructionKind.MICROCODE,
        CoreKind.LOCKED: InstructionKind.LOCKED,
        CoreKind.STRING: InstructionKind.STRING,
        CoreKind.PREFETCH: InstructionKind.PREFETCH | InstructionKind.FLUSH,
    }
    return sum(int(kind) for kind, words in kinds.items() if timing.kind & words)
