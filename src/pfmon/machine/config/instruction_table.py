"""Instruction tables of out-of-order processors: what each x86 instruction is made of and how long it takes.

``NAME_instructions.csv`` has a row for each class of instructions, and the first row that holds for an instruction
counts. docs/dev/machines.md ("Instruction tables") has the columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntFlag, auto
from fnmatch import fnmatchcase
from os.path import dirname, join
from typing import NamedTuple

from pfmon.csv_tables import rows
from pfmon.errors import PfmonError
from pfmon.stream._stream import AccessKind, FormBit, OperandForm

COLUMNS = (
    "mnemonics",
    "operands",
    "condition",
    "uops",
    "ports",
    "latency",
    "latency2",
    "divider",
    "throughput",
    "kind",
    "source",
)
TABLES = ("core2", "nehalem", "skylake", "icelake", "zen3", "zen4")
"""The processors that have a table."""

OPERANDS, OPERAND_BITS = 6, 5
"""Operands in a form, and the bits of each."""


class InstructionKind(IntFlag):
    """Properties of an instruction besides its µops."""

    ZERO = auto()  # its result depends on no register, and it takes no port if the row has none
    ONES = auto()  # its result depends on no register
    MOVE = auto()  # an eliminated move: the result is there when its source is
    MERGE = auto()  # it also waits for the register that it writes
    TAKEN = auto()  # an unconditional branch
    STACK = auto()  # the stack pointer's new value costs no µop and no time
    STRING = auto()  # repeated: a start and bytes a cycle are figures of the machine
    MICROCODE = auto()  # from the microcode sequencer
    LOCKED = auto()  # later loads wait for it
    SERIALIZE = auto()  # nothing later begins before all earlier ones have retired, and this one
    LOAD_WAIT = auto()  # begins when all earlier ones have been executed: rdtscp
    LFENCE = auto()  # as SERIALIZE, for execution
    MFENCE = auto()
    SFENCE = auto()
    PAUSE = auto()
    PREFETCH = auto()
    FLUSH = auto()
    STREAM = auto()  # stores past the caches
    SEPARATE = auto()  # its load is a µop of its own in the fused domain
    UNLAMINATED = auto()  # its load is, if the address has an index
    JOINED = auto()  # its store is none: one macro-op loads, computes and stores


class Ports(NamedTuple):
    """The ports of a processor, as masks (bit n: port n): all of them, those of loads, of store addresses, of store
    addresses with an index, of store data (0: it takes none), of loads of vectors."""

    all: int
    load: int
    address: int
    indexed: int
    data: int
    vector: int


def port_mask(digits: str) -> int | None:
    """The mask of ports by their numbers, hexadecimal digits; None: others are among them."""
    if not digits or set(digits) - set("0123456789abcdef"):
        return None
    return sum({1 << int(digit, 16) for digit in digits})


class InstructionTiming(NamedTuple):
    """The µops, ports and latencies of an instruction.

    ``fused``: µops that are dispatched; ``ports``: the ports of each µop that computes, as a mask, in order; ``loads``
    and ``stores``: further µops, of a store two, with the ports ``address`` and those of store data. ``latency``:
    cycles from the sources, or the loaded value, to the first result, ``second`` to further ones; ``divider``: cycles
    in which the divider is occupied. ``top``: change of x87's top (-1: a push). ``line``: of the row in its table.
    """

    fused: int
    ports: tuple[int, ...]
    loads: int
    stores: int
    address: int
    latency: int
    second: int
    divider: int
    kind: InstructionKind
    top: int
    line: int


class Row(NamedTuple):
    """A row of a table, read. ``operands``: None: any; ``throughput``: cycles, None: unknown."""

    mnemonics: tuple[str, ...]
    operands: tuple[str, ...] | None
    condition: str
    uops: int
    ports: tuple[int, ...]
    latency: int
    second: int
    divider: int
    throughput: float | None
    kind: InstructionKind
    top: int
    source: str
    line: int

    @property
    def names_memory(self) -> bool:
        """Whether the row has a memory operand, so that it counts for its accesses, too."""
        return self.operands is not None and any(name.startswith("m") and name != "mm" for name in self.operands)


_F = OperandForm
MEMORY = {_F.FORM_M8: 8, _F.FORM_M16: 16, _F.FORM_M32: 32, _F.FORM_M64: 64, _F.FORM_M80: 80, _F.FORM_M128: 128,
          _F.FORM_M256: 256, _F.FORM_M512: 512, _F.FORM_M_OTHER: 0}  # fmt: skip
"""Forms in memory -> bits."""

NAMES: dict[str, frozenset[OperandForm]] = {
    "i": frozenset({_F.FORM_IMMEDIATE}),
    "r8": frozenset({_F.FORM_R8, _F.FORM_R8_HIGH}),
    "r8h": frozenset({_F.FORM_R8_HIGH}),
    "r16": frozenset({_F.FORM_R16}),
    "r32": frozenset({_F.FORM_R32}),
    "r64": frozenset({_F.FORM_R64}),
    "r": frozenset({_F.FORM_R8, _F.FORM_R8_HIGH, _F.FORM_R16, _F.FORM_R32, _F.FORM_R64}),
    "x": frozenset({_F.FORM_XMM}),
    "y": frozenset({_F.FORM_YMM}),
    "z": frozenset({_F.FORM_ZMM}),
    "v": frozenset({_F.FORM_XMM, _F.FORM_YMM, _F.FORM_ZMM}),
    "mm": frozenset({_F.FORM_MM}),
    "st": frozenset({_F.FORM_ST}),
    "k": frozenset({_F.FORM_OPMASK}),
    "sr": frozenset({_F.FORM_SYSTEM}),
    "m": frozenset(MEMORY),
    **{f"m{bits}": frozenset({form}) for form, bits in MEMORY.items() if bits},
}
"""Names of operands in a table -> the forms that they mean."""

IN_MEMORY: dict[str, frozenset[OperandForm]] = {
    **{f"r{bits}": frozenset({form}) for form, bits in MEMORY.items() if bits in (8, 16, 32, 64)},
    **dict.fromkeys(("r", "x", "y", "z", "v", "mm", "st"), NAMES["m"]),
}
"""Names of registers -> operands in memory that may be in their place."""

CONDITIONS = {
    "": 0,
    "same": 1 << FormBit.FORM_SAME,
    "own": 1 << FormBit.FORM_OWN_SOURCE,
    "rep": 3 << FormBit.FORM_REPEATED,
    "lock": 1 << FormBit.FORM_LOCKED,
    "cl": 1 << FormBit.FORM_BY_CL,
    "one": 1 << FormBit.FORM_BY_ONE,
    "indexed": 1 << FormBit.FORM_INDEX,
    "scaled": 1 << FormBit.FORM_SCALED,
    "rip": 1 << FormBit.FORM_RIP_RELATIVE,
    "pop": 1 << FormBit.FORM_POPS,
}
"""Conditions -> bits of the form of which one has to be set."""

MOVE = InstructionKind.MOVE.value
THREE = 1 << FormBit.FORM_BASE | 1 << FormBit.FORM_INDEX | 1 << FormBit.FORM_DISPLACED
OTHER_CONDITIONS = ("three", "high")
WILD = frozenset("*?[")
"""Characters of a pattern of mnemonics."""


def operands_of(form: int) -> list[OperandForm]:
    """The operands of a form (isa/x86/x86_operands.pxd), in Intel's order."""
    found = [form >> FormBit.FORM_OPERANDS + OPERAND_BITS * place & 31 for place in range(OPERANDS)]
    return [OperandForm(operand) for operand in found if operand]


class InstructionTable:
    """The table of a processor. ``name``: one of TABLES, or the path of a file; PfmonError: it is not a table."""

    def __init__(self, name: str, ports: Ports) -> None:
        self.path = join(dirname(__file__), f"{name}_instructions.csv") if name in TABLES else name
        self.ports = ports
        self.rows = list(self._read())
        self.unlisted: set[str] = set()
        self._numbers: dict[str, list[int]] = {}  # of rows, by each mnemonic that they name
        self._patterns: list[tuple[str, int]] = []  # of mnemonics, and the row's number
        for number, row in enumerate(self.rows):
            for name in row.mnemonics:
                if WILD.isdisjoint(name):
                    self._numbers.setdefault(name, []).append(number)
                else:
                    self._patterns.append((name, number))
        self._by_mnemonic: dict[str, list[Row]] = {}
        self._known: dict[tuple[str, int, int], InstructionTiming] = {}

    def _read(self) -> Iterator[Row]:
        """The rows, in order."""
        try:
            for line, fields in enumerate(rows(self.path, COLUMNS), 2):
                try:
                    yield self._row(line, fields)
                except ValueError as error:
                    raise PfmonError(f"{self.path}:{line}: {error}") from None
        except OSError as error:
            raise PfmonError(f"{self.path}: {error.strerror}") from None
        except ValueError as error:
            raise PfmonError(str(error)) from None

    def _row(self, line: int, fields: Sequence[str]) -> Row:
        if len(fields) != len(COLUMNS):
            raise ValueError(f"{len(COLUMNS)} fields are wanted: {','.join(COLUMNS)}")
        mnemonics, operands, condition, uops, ports, latency, second, divider, throughput, kind, source = fields
        if not mnemonics or not source:
            raise ValueError("a row has mnemonics and a source")
        if condition not in CONDITIONS and condition not in OTHER_CONDITIONS:
            raise ValueError(f"condition {condition}: one of {', '.join([*CONDITIONS, *OTHER_CONDITIONS])} is wanted")
        words, top = _kind(kind)
        return Row(
            tuple(mnemonics.split()),
            _operands(operands),
            condition,
            _number("uops", uops),
            tuple(self._masks(ports)),
            _number("latency", latency),
            _number("latency2", second or latency),
            _number("divider", divider or "0"),
            float(throughput) if throughput else None,
            words,
            top,
            source,
            line,
        )

    def _masks(self, ports: str) -> Iterator[int]:
        """The ports of each executed µop: ``2*p06+p1``."""
        for term in ports.split("+") if ports else ():
            times, star, name = term.rpartition("*")
            mask = port_mask(name.removeprefix("p"))
            if mask is None or not name.startswith("p") or (star and not times.isdigit()):
                raise ValueError(f"ports {term}: p and digits are wanted, such as 2*p015")
            if mask & ~self.ports.all:
                raise ValueError(f"ports {term}: this processor has none of that number")
            yield from [mask] * (int(times) if star else 1)

    def timing_of(self, mnemonic: str, form: int, access: int = AccessKind.READ) -> InstructionTiming:
        """The timing of an instruction, by capstone's name, its form, and the AccessKind of its operand in memory,
        which counts where the row has a register in its place."""
        key = mnemonic, form, access
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._timing(mnemonic, form, access)
        return found

    def row_of(self, mnemonic: str, form: int) -> Row:
        """The first row that holds for an instruction; each that has only the last one is in ``unlisted``."""
        named = self._by_mnemonic.get(mnemonic)
        if named is None:
            alike = {number for pattern, number in self._patterns if fnmatchcase(mnemonic, pattern)}
            numbers = sorted(alike.union(self._numbers.get(mnemonic, ())))
            named = self._by_mnemonic[mnemonic] = [self.rows[number] for number in numbers]
        operands = operands_of(form)
        row = next(row for row in named if _holds(row, operands, form))
        if row.mnemonics == ("*",):
            self.unlisted.add(mnemonic)
        return row

    def _timing(self, mnemonic: str, form: int, access: int) -> InstructionTiming:
        row = self.row_of(mnemonic, form)
        ports, loads, stores = self._divided(row)
        fused = row.uops
        indexed = bool(form >> FormBit.FORM_INDEX & 1)
        if not row.names_memory and any(operand in MEMORY for operand in operands_of(form)):
            loads, stores = access & AccessKind.READ, (access & AccessKind.WRITE) >> 1
            fused += (stores and not row.kind & InstructionKind.JOINED) + (
                loads and bool(row.kind & InstructionKind.SEPARATE)
            )
        if loads and indexed and row.kind & InstructionKind.UNLAMINATED:
            fused += 1
        address = self.ports.indexed if indexed else self.ports.address
        return InstructionTiming(
            fused, ports, loads, stores, address, row.latency, row.second, row.divider, row.kind, row.top, row.line
        )

    def _divided(self, row: Row) -> tuple[tuple[int, ...], int, int]:
        """Of a row's µops the ports of those that compute, and the numbers of loads and stores."""
        addresses = self.ports.load, self.ports.vector, self.ports.address
        stores = row.ports.count(self.ports.data or self.ports.address)
        made = sum(mask in addresses for mask in row.ports)
        memory = (*addresses, self.ports.data)
        return tuple(mask for mask in row.ports if mask not in memory), max(0, made - stores), stores


def _kind(text: str) -> tuple[InstructionKind, int]:
    """The words of a row's kind, and the change of x87's top."""
    found, top = InstructionKind(0), 0
    for word in text.split():
        if word.startswith("top"):
            top = int(word.removeprefix("top"))
        elif word.upper() in InstructionKind.__members__:
            found |= InstructionKind[word.upper()]
        else:
            raise ValueError(f"kind {word}: one of {', '.join(InstructionKind.__members__).lower()}, top+1 is wanted")
    return found, top


def _operands(text: str) -> tuple[str, ...] | None:
    if text == "*":
        return None
    found = tuple(text.split(",")) if text else ()
    for place, name in enumerate(found):
        if name not in NAMES and not (name == "*" and place == len(found) - 1):
            raise ValueError(f"operands {text}: {name}: one of {', '.join(NAMES)}, or * at the end, is wanted")
    return found


def _number(name: str, text: str) -> int:
    if not text.isdigit():
        raise ValueError(f"{name} {text}: a whole number is wanted")
    return int(text)


def _holds(row: Row, operands: Sequence[OperandForm], form: int) -> bool:
    """Whether a row is for these operands, and its condition holds."""
    if row.condition == "three":
        if form & THREE != THREE:
            return False
    elif row.condition == "high":
        if _F.FORM_R8_HIGH not in operands:
            return False
    elif row.condition and not form & CONDITIONS[row.condition]:
        return False
    names = row.operands
    if names is None:
        return True
    if names and names[-1] == "*":
        names = names[:-1]
        if len(operands) < len(names):
            return False
    elif len(operands) != len(names):
        return False
    registers_only = bool(row.kind.value & MOVE)
    return all(
        operand in NAMES[name] or (not registers_only and not row.names_memory and operand in IN_MEMORY.get(name, ()))
        for name, operand in zip(names, operands, strict=False)
    )
