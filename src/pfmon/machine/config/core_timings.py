"""Timings of instruction forms on an out-of-order core, from the processor's instruction table and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import IntFlag
from typing import NamedTuple

from pfmon.errors import PfmonError
from pfmon.machine.config.instruction_table import (
    MEMORY,
    InstructionKind,
    InstructionTable,
    InstructionTiming,
    Ports,
    operands_of,
    port_mask,
)
from pfmon.machine.config.machine_figures import Value
from pfmon.stream._stream import FormBit, OperandForm

PAYLOAD_BYTES = 48
"""Bytes of an instruction's payload with its form (isa/x86/x86_operands.pxd), which older recordings lack."""

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
    """Of a form of instructions, in cycles where nothing else is said.

    ``slots``: µops that dispatch; ``uops``: the ports of each executed one, as numbers. ``latency``: from the sources
    to the first result, ``latency2``: to others; ``load_latency``: of its load in L1D; ``forward``: from a store's data
    to its load. ``divider``: in which the divider is occupied, ``busy``: in which nothing else dispatches;
    ``string_start``, ``string_cycles``: of a string instruction at its start and for each 64 bytes. ``kind``: CoreKind;
    ``indexed``: its address has an index; ``vector``: its loads are of vectors; ``top``: change of x87's top;
    ``prefixed``: a prefix delays its decoding.
    ``fuses``: classes of conditional jumps that it fuses with, as bits, ``jump``: its own class, 0: it is none.
    ``ignores_sources``: it waits for no register, ``merges``: also for those that it writes; ``kept``: those that it
    changes at once, as bits.
    """

    slots: int
    uops: list[tuple[int, ...]]
    latency: int
    latency2: int
    divider: int
    kind: int
    load_latency: int
    forward: int
    indexed: bool
    vector: bool
    top: int
    prefixed: bool
    fuses: int
    jump: int
    busy: int
    string_start: int
    string_cycles: int
    ignores_sources: bool
    merges: bool
    kept: int


CARRY_JUMPS = {"ja", "jae", "jb", "jbe"}
FLAG_JUMPS = {"js", "jns", "jo", "jno", "jp", "jnp"}
NOT_CONDITIONAL = {"jmp", "jcxz", "jecxz", "jrcxz"}
READS_CARRY, READS_ZERO_AND_SIGN, READS_OTHERS = 1, 2, 4
FUSIONS: dict[str, dict[str, int]] = {
    "none": {},
    "core2": {},
    "nehalem": {"cmp": READS_CARRY | READS_ZERO_AND_SIGN, "test": READS_CARRY | READS_ZERO_AND_SIGN | READS_OTHERS},
    "sandy_bridge": {
        **dict.fromkeys(("test", "and"), READS_CARRY | READS_ZERO_AND_SIGN | READS_OTHERS),
        **dict.fromkeys(("cmp", "add", "sub"), READS_CARRY | READS_ZERO_AND_SIGN),
        **dict.fromkeys(("inc", "dec"), READS_ZERO_AND_SIGN),
    },
    "zen3": dict.fromkeys(
        ("cmp", "test", "sub", "add", "inc", "dec", "or", "and", "xor"),
        READS_CARRY | READS_ZERO_AND_SIGN | READS_OTHERS,
    ),
}
"""``core.fusion`` -> mnemonic -> classes of conditional jumps with which it is one µop. Core 2 fuses in
32-bit mode alone. Source: Optimization Reference Manual, macro-fusion; Software Optimization Guide for AMD Family 19h,
2.9.3: branch fusion."""

NUMBER = 0xFFF
"""Bits of a form that have capstone's number of the instruction."""
STACK_POINTER = 1 << 4
STRING_REGISTERS = 1 << 1 | 1 << 6 | 1 << 7
POPS = {"pop", "ret"}
STRINGS = {"movs", "stos", "lods", "cmps", "scas"}
STRING_OPERATIONS = {"cmps": "compare", "scas": "scan", "lods": "load"}
STRING_UNITS = {"b": 1, "w": 2, "d": 4, "q": 8}
LINE = 64
NO_ROW = "of the instructions have no row in the table of instructions, and take the time of its last row"
STREAMING = "of the instructions store past the caches (movnt...), and wait for no write-combining buffer"
DIVISION = "of the instructions divide numbers of 64 bits, in the time of a dividend without a high half"
INTEGER = ""
FILL_CYCLES = 2
"""Cycles in which a line from L2 occupies the way to L1D, at least."""


def jump_class(name: str) -> int:
    """The class of a conditional jump as a bit, by the flags that it reads; 0: it is none."""
    if not name.startswith("j") or name in NOT_CONDITIONAL:
        return 0
    return READS_CARRY if name in CARRY_JUMPS else READS_OTHERS if name in FLAG_JUMPS else READS_ZERO_AND_SIGN


def ports_of(figures: Mapping[str, Value]) -> Ports:
    """The ports of a machine; PfmonError: what is not a list of their numbers."""
    keys = ("all", "load", "address", "indexed", "data", "vector")
    return Ports(*(_mask(figures, f"ports.{key}") for key in keys))


def _mask(figures: Mapping[str, Value], name: str) -> int:
    digits = str(figures[name])
    if name == "ports.data" and digits == "none":
        return 0
    mask = port_mask(digits)
    if mask is None:
        raise PfmonError(f"{name} = {digits}: numbers of ports are wanted, such as 015")
    return mask


def numbers_of(mask: int) -> tuple[int, ...]:
    """The ports of a mask, in the order in which equally loaded ones are taken: the last have the fewest users."""
    return tuple(number for number in range(mask.bit_length() - 1, -1, -1) if mask >> number & 1)


ALONE = (
    InstructionKind.MICROCODE
    | InstructionKind.SERIALIZE
    | InstructionKind.LFENCE
    | InstructionKind.MFENCE
    | InstructionKind.SFENCE
    | InstructionKind.PAUSE
    | InstructionKind.LOAD_WAIT
    | InstructionKind.FLUSH
)
"""Kinds beside which nothing dispatches for as long as their throughput."""
KINDS = {
    CoreKind.SERIALIZING: InstructionKind.SERIALIZE
    | InstructionKind.MFENCE
    | InstructionKind.LFENCE
    | InstructionKind.LOAD_WAIT
    | InstructionKind.PAUSE,
    CoreKind.FENCES_STORES: InstructionKind.MFENCE | InstructionKind.SFENCE,
    CoreKind.MICROCODED: InstructionKind.MICROCODE | InstructionKind.FLUSH,
    CoreKind.LOCKED: InstructionKind.LOCKED,
    CoreKind.STREAMING: InstructionKind.STREAM,
    CoreKind.STRING: InstructionKind.STRING,
    CoreKind.PREFETCH: InstructionKind.PREFETCH | InstructionKind.FLUSH,
}
"""Kinds for the core -> kinds of a table's rows."""
BITS = [(kind.value, words.value) for kind, words in KINDS.items()]
"""The same as plain numbers: an operation of IntFlag takes ten times as long."""


def core_kind(timing: InstructionTiming) -> int:
    """The bits of CoreKind."""
    kinds = timing.kind.value
    return sum(kind for kind, words in BITS if kinds & words)


class CoreTimings:
    """``figures``: of a machine with an instruction table; ``names``: capstone's names of instructions, by its numbers
    less one. PfmonError: the table or the ports are wrong."""

    def __init__(self, figures: Mapping[str, Value], names: Sequence[str]) -> None:
        self._figures, self._names = figures, names
        self._ports = ports_of(figures)
        self._fusions = FUSIONS[str(figures["core.fusion"])]
        self.table = InstructionTable(str(figures["core.instructions"]), self._ports)

    def core_figures(self) -> dict[str, object]:
        """The figures of the core, by the names of outoforder/scheduler.pxd and core_block.pxd."""
        of = self._figures
        levels = [of["l2.latency"], of.get("l3.latency", of["memory.latency"]), of["memory.latency"]]
        buffers = [int(of[f"core.{name}"]) for name in ("window", "scheduler", "loads", "stores")]
        return {
            "width": of["core.width"],
            "commits": of["core.commits"],
            "lead": int(of["loop.queue"]) // int(of["core.width"]),
            "levels": levels,
            "bus": of["memory.occupancy"],
            "ring": of.get("l3.occupancy", 0),
            "split_busy": of["split.busy"],
            "partial_flags": of["core.partial_flags"],
            "prefix_line": of["fetch.prefix_line"],
            "walk": of["memory.walk"],
            "fill_busy": FILL_CYCLES,
            "fill_buffers": of["core.fills"],
            "page_walkers": of["core.walkers"],
            "blocked": of["forward.failed"],
            "alias": of["alias.penalty"],
            "forward_excess": max(
                int(of[f"forward.{one}"]) - int(of[load])
                for one, load in (("latency", "l1d.latency"), ("vector", "load.vector"), ("wide", "load.wide"))
            ),
            "split": of["split.line"],
            "page_split": of["split.page"],
            "store_split": of["split.store_line"],
            "store_page_split": of["split.store_page"],
            "translation": of["tlb2.penalty"],
            "mispredict": of["predictor.mispredict"],
            "redirect": of["predictor.redirect"],
            "lock": of["core.lock"],
            "load_ports": numbers_of(self._ports.load),
            "vector_load_ports": numbers_of(self._ports.vector),
            "store_address_ports": numbers_of(self._ports.address),
            "indexed_ports": numbers_of(self._ports.indexed),
            "store_data_ports": numbers_of(self._ports.data),
            "buffers": buffers,
            "loop_buffer": of["loop.uops"],
            "fetch": of["fetch.bytes"],
            "decoders": of["fetch.decoders"],
            "complex": of["fetch.first"],
            "prefix": of["fetch.prefix"],
            "taken": of["fetch.taken"],
            "line": of["uop_cache.line"] if of["uop_cache.entries"] else 0,
            "lines": of.get("uop_cache.lines", 0),
            "uop_cache_ways": of.get("uop_cache.ways", 1),
            "uop_cache_index": of.get("uop_cache.index", "lines"),
            "uop_cache_sets": int(of["uop_cache.entries"]) // (int(of["uop_cache.ways"]) * int(of["uop_cache.line"]))
            if of["uop_cache.entries"]
            else 0,
        }

    def omissions(self, executed: Mapping[int, int]) -> list[tuple[str, float]]:
        """Return what the model leaves out of a program, and its share of the executed instructions; ``executed``: how
        often, by form."""
        found: Counter[str] = Counter()
        for form, times in executed.items():
            found[self._left_out(form)] += times
        return [(text, times / found.total()) for text, times in found.items() if text]

    def _left_out(self, form: int) -> str:
        """Return the omission in the time of an instruction; "": none."""
        name = self._name(form)
        row = self.table.row_of(name, form)
        if row.mnemonics == ("*",):
            return NO_ROW
        if row.kind & InstructionKind.STREAM:
            return STREAMING
        wide = {OperandForm.FORM_R64, OperandForm.FORM_M64} & set(operands_of(form))
        return DIVISION if wide and name in ("div", "idiv") else ""

    def _name(self, form: int) -> str:
        """capstone's name of an instruction; "": unknown."""
        number = form & NUMBER
        return self._names[number - 1] if number else ""

    def core_timing(self, key: int) -> CoreTiming:
        """Of a form and the AccessKind of its operand in memory."""
        form, access = key & (1 << ACCESS_SHIFT) - 1, key >> ACCESS_SHIFT
        name = self._name(form)
        found = self.table.timing_of(name, form, access)
        operands = operands_of(form)
        in_memory = any(operand in MEMORY for operand in operands)
        fuses = 0 if in_memory and OperandForm.FORM_IMMEDIATE in operands else self._fusions.get(name, 0)
        latency, forward = self._load_latencies(form, operands, name)
        if found.kind & InstructionKind.STACK and name in POPS:
            forward = int(self._figures["forward.stack"])
        start, cycles = self._string(found, name)
        return CoreTiming(
            slots=found.fused,
            uops=[numbers_of(mask) for mask in self._executed(found)],
            latency=found.latency,
            latency2=found.second,
            divider=found.divider,
            kind=core_kind(found),
            load_latency=latency,
            forward=forward,
            indexed=bool(form >> FormBit.FORM_INDEX & 1),
            vector=self._loads_as(operands, name) != INTEGER,
            top=found.top,
            prefixed=self._prefixed(form, name),
            fuses=fuses,
            jump=jump_class(name),
            busy=self._busy(found),
            string_start=start,
            string_cycles=cycles,
            ignores_sources=bool(found.kind & (InstructionKind.ZERO | InstructionKind.ONES)),
            merges=bool(found.kind & InstructionKind.MERGE),
            kept=self._kept(found, name),
        )

    def _executed(self, found: InstructionTiming) -> tuple[int, ...]:
        """The ports of executed µops. Those of a prefetch's address are among them, as no value is loaded."""
        if found.kind & InstructionKind.PREFETCH:
            return (*found.ports, *[self._ports.load] * found.loads)
        return found.ports

    def _load_latencies(self, form: int, operands: Sequence[OperandForm], name: str) -> tuple[int, int]:
        """Load-to-use latency of L1D, and latency of store forwarding."""
        of = self._figures
        kind = self._loads_as(operands, name)
        if kind == INTEGER:
            simple = not form >> FormBit.FORM_INDEX & 1 and not form >> FormBit.FORM_FAR & 1
            return int(of["l1d.latency"] if simple else of["load.other"]), int(of["forward.latency"])
        return int(of[f"load.{kind}"]), int(of[f"forward.{kind}"])

    @staticmethod
    def _loads_as(operands: Sequence[OperandForm], name: str) -> str:
        """The key of ``load`` and ``forward`` that has the latencies of an instruction's loads; INTEGER: they are those
        of general registers."""
        if OperandForm.FORM_YMM in operands or OperandForm.FORM_ZMM in operands:
            return "wide"
        if OperandForm.FORM_XMM in operands or OperandForm.FORM_ST in operands or name.startswith("f"):
            return "vector"
        return INTEGER

    def _prefixed(self, form: int, name: str) -> bool:
        """Whether a prefix that changes its length delays the decoding of an instruction."""
        return bool(form >> FormBit.FORM_LENGTH_CHANGED & 1) and (
            name != "mov" or bool(self._figures["fetch.prefix_mov"])
        )

    @staticmethod
    def _kept(found: InstructionTiming, name: str) -> int:
        """Registers whose new values wait for nothing: the stack pointer, those of a string instruction."""
        if found.kind & InstructionKind.STACK:
            return STACK_POINTER
        return STRING_REGISTERS if name[:-1] in STRINGS and name[-1] in STRING_UNITS else 0

    def _busy(self, found: InstructionTiming) -> int:
        """Cycles in which nothing else dispatches: the throughput of microcode and fences."""
        if not found.kind & ALONE or found.divider or found.kind & (InstructionKind.LOCKED | InstructionKind.STRING):
            return 0
        row = next(row for row in self.table.rows if row.line == found.line)
        return min(round(row.throughput or 0), 255)

    def _string(self, found: InstructionTiming, name: str) -> tuple[int, int]:
        """Cycles in which a string instruction starts, and of each 64 bytes."""
        of = self._figures
        if not found.kind & InstructionKind.STRING:
            return 0, 0
        if name.startswith("movs"):
            return int(of["string.move_start"]), LINE // int(of["string.move_bytes"])
        if name.startswith("stos"):
            return int(of["string.store_start"]), LINE // int(of["string.store_bytes"])
        element = int(of[f"string.{STRING_OPERATIONS[name[:-1]]}"])
        return int(of["string.scan_start"]), LINE // STRING_UNITS[name[-1]] * element
