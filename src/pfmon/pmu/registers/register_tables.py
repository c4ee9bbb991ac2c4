"""Registers as data: `registers.csv` of each PMU, names, fields, bit positions, reset values.

A row with the field `*` describes a whole register: its reset value, and the access of bits outside its fields. The
other rows are its fields. Access: `rw`; `ro` read only; `wo` reads zero; `ig` reads zero and
ignores writes; `rsv` keeps its reset value on writes; `sxt` reads as copies of the bit below the
lowest `sxt` bit; `gp` must be written as zero (a one is a fault).
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from pfmon.csv_tables import rows
from pfmon.errors import BadValueError, PfmonError, UnknownNameError
from pfmon.pmu.target import table_path

COLUMNS = ("registers", "field", "bits", "access", "reset", "meaning", "source")
BRACKETS = {ord("["): None, ord("]"): None}
WORD = (1 << 64) - 1


class Field(NamedTuple):
    """Adjacent bits of a register, `low` to `low + width - 1`."""

    name: str
    low: int
    width: int
    access: str
    meaning: str

    @property
    def mask(self) -> int:
        """The field's bits within the register."""
        return ((1 << self.width) - 1) << self.low

    def get(self, value: int) -> int:
        """Return the field's value within a register value."""
        return (value >> self.low) & ((1 << self.width) - 1)

    def put(self, register: str, value: int) -> int:
        """Return a field value shifted to its position. BadValueError: it is too wide."""
        top = (1 << self.width) - 1
        if not 0 <= value <= top:
            raise BadValueError(
                f"{register}.{self.name} = {value:#x} is too wide: 0-{top:#x}", "values_fit_their_field"
            )
        return value << self.low

    @property
    def bits(self) -> str:
        """The position in the manuals' notation: `15:8`, or `4` for one bit."""
        return str(self.low) if self.width == 1 else f"{self.low + self.width - 1}:{self.low}"


class Register(NamedTuple):
    """One register: its fields, reset value and the access of its remaining bits (`rest`)."""

    name: str
    number: int
    meaning: str
    source: str
    reset: int
    rest: str
    fields: tuple[Field, ...]
    writable: int
    kept: int
    zero: int
    extended: int

    def field(self, name: str) -> Field:
        """The field of that name."""
        for field in self.fields:
            if field.name == name.lower():
                return field
        raise UnknownNameError(f"field of {self.name}", name, [f.name for f in self.fields])

    def accept(self, value: int) -> int:
        """Return the register's contents after a write of `value`. BadValueError: it cannot be written."""
        if not 0 <= value <= WORD:
            raise BadValueError(f"{self.name} = {value:#x} is not a 64-bit value", "registers_have_64_bits")
        if value & self.zero:
            raise BadValueError(
                f"{self.name}: reserved bits {value & self.zero:#x} must be zero (general protection fault)",
                "reserved_bits_must_be_zero",
            )
        return (value & self.writable) | (self.reset & self.kept)

    def shown(self, held: int) -> int:
        """Return the value that a read returns for the register's contents."""
        if self.extended:
            low = (self.extended & -self.extended).bit_length() - 1
            return held | self.extended if held >> (low - 1) & 1 else held
        return held

    def encode(self, **fields: int) -> int:
        """Return a register value from field values; fields that are not named have their reset value."""
        value = self.reset
        for name, content in fields.items():
            field = self.field(name)
            value = (value & ~field.mask) | field.put(self.name, content)
        return value

    def decode(self, value: int) -> dict[str, int]:
        """Return every field's value within a register value, lowest field first."""
        return {field.name: field.get(value) for field in self.fields}


class RegisterSet(Mapping[str, Register]):
    """The registers of one PMU by name: `pmc4`, `PMC[4]` and `pmc4` are the same."""

    def __init__(self, pmu: str, registers: Mapping[str, Register]) -> None:
        self.pmu = pmu
        self._registers = dict(registers)
        self.resets = {name: register.reset for name, register in registers.items()}
        """Each register's contents in the reset state."""

    def __getitem__(self, name: str) -> Register:
        register = self._registers.get(name)
        if register is None:
            register = self._registers.get("".join(name.split()).translate(BRACKETS).lower())
        if register is None:
            raise UnknownNameError(f"{self.pmu} register", name, self._registers)
        return register

    def __contains__(self, name: object) -> bool:
        return name in self._registers

    def __iter__(self) -> Iterator[str]:
        return iter(self._registers)

    def items(self) -> ItemsView[str, Register]:
        """Return the items without normalizing names."""
        return self._registers.items()

    def __len__(self) -> int:
        return len(self._registers)


def _positions(bits: str) -> tuple[int, int]:
    """Return lowest bit and width of `high:low` or of one bit."""
    high, _, low = bits.partition(":")
    return int(low or high), int(high) - int(low or high) + 1


def _numbered(name: str) -> tuple[str, int]:
    """Split a name into its stem and the number at its end, -1 without one."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or -1)


def _names(registers: str) -> list[str]:
    """Return register names from `pmc4-7,pmc9`."""
    names = []
    for part in registers.split(","):
        first, dash, last = part.partition("-")
        if dash:
            stem, low = _numbered(first)
            names += [f"{stem}{n}" for n in range(low, int(last) + 1)]
        else:
            names.append(part)
    return names


def _bits(fields: tuple[Field, ...], access: str) -> int:
    """Return all bits of the fields with an access."""
    bits = 0
    for field in fields:
        if field.access == access:
            bits |= field.mask
    return bits


def _register(name: str, head: list[str], fields: tuple[Field, ...]) -> Register:
    """Return a register from its `*` row and its fields."""
    rest, reset, meaning, source = head[3], int(head[4], 16), head[5], head[6]
    named = 0
    for field in fields:
        named |= field.mask
    kept = _bits(fields, "rsv") | _bits(fields, "ro") | (~named & WORD if rest == "rsv" else 0)
    zero = _bits(fields, "gp") | (~named & WORD if rest == "gp" else 0)
    writable = _bits(fields, "rw") | _bits(fields, "wo")
    return Register(
        name,
        _numbered(name)[1],
        meaning,
        source,
        reset & (writable | kept),
        rest,
        fields,
        writable,
        kept,
        zero,
        _bits(fields, "sxt"),
    )


@cache
def load_registers(pmu: str) -> RegisterSet:
    """Return the registers of a PMU, read once."""
    path = table_path(pmu, "registers")
    if not path:
        raise PfmonError(f"no register table for PMU {pmu!r}")
    heads: list[tuple[list[str], list[Field]]] = []
    for row in rows(path, COLUMNS):
        if row[1] == "*":
            heads.append((row, []))
        else:
            heads[-1][1].append(Field(row[1], *_positions(row[2]), row[3], row[5]))
    registers = {}
    for head, fields in heads:
        ordered = tuple(sorted(fields, key=lambda field: field.low))
        for name in _names(head[0]):
            registers[name] = _register(name, head, ordered)
    return RegisterSet(pmu, registers)


class RegisterValues:
    """The contents of a PMU's registers. A register that is not given is in the reset state."""

    def __init__(self, registers: RegisterSet, values: Mapping[str, int]) -> None:
        """``values``: by name, as written; bits that a register lacks are dropped."""
        self.registers = registers
        self._held = dict(registers.resets)
        for name, value in values.items():
            if self._held.get(name) == value:
                continue
            register = registers[name]
            self._held[register.name] = register.accept(value)

    def __getitem__(self, name: str) -> int:
        return self._held[name]

    def field(self, register: str, name: str) -> int:
        """Return one field of a register."""
        return self.registers[register].field(name).get(self._held[register])

    def fields(self, register: str) -> dict[str, int]:
        """Return all fields of a register."""
        return self.registers[register].decode(self._held[register])
