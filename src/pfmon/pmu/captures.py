"""Decoding of the captures of event address registers and branch buffers from their PMDs.

Each processor's `Programmer` names the registers; the tables below name the fields; `registers/` has their bits. The
meaning of a register depends on the mode in its PMC: `captures_of` reads it from the PMCs, so that decoding and
programming agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pfmon.pmu.branch_captures import BranchBuffer, IpEar
from pfmon.pmu.ia64_pmu import Ia64Decoder, Ia64Programmer
from pfmon.pmu.model import PmuModel
from pfmon.pmu.register_tables import Field
from pfmon.pmu.register_values import RegisterValues

CACHE, TLB, ALAT = "cache", "tlb", "alat"

DATA_EARS = {
    "itanium": {
        "address": "pmd2.daddr",
        "latency": "pmd3.latency",
        "level": "pmd3.level",
        "valid": "pmd17.v",
        "bundle": "pmd17.iaddr",
        "slot": "pmd17.slot",
        "has_instruction": "pmd17.v",
    },
    "itanium2": {
        "address": "pmd2.daddr",
        "latency": "pmd3.latency",
        "overflow": "pmd3.ov",
        "level": "pmd3.stat",
        "valid": "pmd3.stat",
        "bundle": "pmd17.iaddr",
        "slot": "pmd17.slot",
        "second_bundle": "pmd17.bn",
        "has_instruction": "pmd17.vl",
    },
    "montecito": {
        "address": "pmd32.daddr",
        "latency": "pmd33.latency",
        "overflow": "pmd33.ov",
        "level": "pmd33.stat",
        "valid": "pmd33.stat",
        "bundle": "pmd36.iaddr",
        "slot": "pmd36.slot",
        "second_bundle": "pmd36.bn",
        "has_instruction": "pmd36.vl",
    },
}
"""The fields of each data EAR (Montecito manual tables 3-22, 3-24, 3-25; the others have the same layout)."""

DATA_LEVELS = {
    "itanium": ("", "L2", "VHPT", "SW"),
    "itanium2": ("", "L2DTLB", "VHPT", "FAULT"),
    "montecito": ("", "L2DTLB", "VHPT", "FAULT"),
}
"""The level that served a data TLB miss, by the field `level`, named as in the PMU's events (Montecito manual table
3-24)."""

INSTRUCTION_EARS = {
    "itanium": {"line": "pmd0.iaddr", "valid": "pmd0.v", "level": "pmd0.tlb", "latency": "pmd1.latency"},
    "itanium2": {
        "line": "pmd0.iaddr",
        "valid": "pmd0.stat",
        "level": "pmd0.stat",
        "latency": "pmd1.latency",
        "overflow": "pmd1.ov",
    },
    "montecito": {
        "line": "pmd34.iaddr",
        "valid": "pmd34.stat",
        "level": "pmd34.stat",
        "latency": "pmd35.latency",
        "overflow": "pmd35.ov",
    },
}
"""The fields of each instruction EAR (Montecito manual tables 3-17 and 3-19)."""

INSTRUCTION_LEVELS = {
    "itanium": ("VHPT", "SW"),
    "itanium2": ("", "L2TLB", "VHPT", "FAULT"),
    "montecito": ("", "L2TLB", "VHPT", "FAULT"),
}


class _Places:
    """Fields of PMDs by role; a field that a PMU lacks reads as 0."""

    def __init__(self, model: PmuModel, table: Mapping[str, str]) -> None:
        self._fields: dict[str, tuple[int, Field]] = {}
        for role, place in table.items():
            register, _, field = place.partition(".")
            self._fields[role] = (model.registers[register].number, model.registers[register].field(field))

    def number(self, role: str) -> int:
        """Return the PMD of a role, -1 for none."""
        return self._fields[role][0] if role in self._fields else -1

    def get(self, pmds: Mapping[int, int], role: str) -> int:
        """Return the field's value."""
        if role not in self._fields:
            return 0
        number, field = self._fields[role]
        return field.get(pmds.get(number, 0))

    def address(self, pmds: Mapping[int, int], role: str) -> int:
        """Return a field with an address's upper bits, shifted to their position."""
        number, field = self._fields[role]
        return pmds.get(number, 0) & field.mask


class DataCapture(NamedTuple):
    """The capture in a data EAR. ``address``: of the data (None in ALAT mode); ``instruction``: bundle | slot (None for
    an access of the RSE); ``latency``: in cycles (None except for cache misses), a minimum if ``overflow``; ``level``:
    the level that served a TLB miss, else ""."""

    valid: bool
    address: int | None
    instruction: int | None
    latency: int | None
    overflow: bool
    level: str


class DataEar:
    """The data event address register in one mode, cache, tlb or alat; "" if unknown: then the fields of all modes are
    decoded."""

    def __init__(self, model: PmuModel, mode: str) -> None:
        self.mode = mode
        self.registers = data_ear_registers(model)
        self.levels = DATA_LEVELS[model.name]
        self._places = _Places(model, DATA_EARS[model.name])
        self.address_register, self.latency_register, self.instruction_register = (
            self._places.number(role) for role in ("address", "latency", "bundle")
        )
        self.has_overflow = self._places.number("overflow") >= 0
        self.says_valid = self._places.number("valid") == self.latency_register
        """Whether the latency register has a valid bit."""

    def capture(self, pmds: Mapping[int, int]) -> DataCapture:
        """Decode registers with these values."""
        places, latency = self._places, self.mode in (CACHE, "")
        return DataCapture(
            bool(places.get(pmds, "valid")),
            None if self.mode == ALAT else places.get(pmds, "address"),
            self.instruction(pmds) if places.get(pmds, "has_instruction") else None,
            places.get(pmds, "latency") if latency else None,
            latency and bool(places.get(pmds, "overflow")),
            self.levels[places.get(pmds, "level")] if self.mode in (TLB, "") else "",
        )

    def instruction(self, pmds: Mapping[int, int]) -> int:
        """Return bundle | slot, valid or not, plus 16 for the second bundle of the window."""
        places = self._places
        return places.address(pmds, "bundle") + 16 * places.get(pmds, "second_bundle") | places.get(pmds, "slot")


class InstructionCapture(NamedTuple):
    """The capture in an instruction EAR: the address of the cache line; other fields as in DataCapture."""

    valid: bool
    line: int
    latency: int | None
    overflow: bool
    level: str


class InstructionEar:
    """The instruction event address register in one mode, cache or tlb; "" if unknown."""

    def __init__(self, model: PmuModel, mode: str) -> None:
        self.mode = mode
        self.registers = instruction_ear_registers(model)
        self.levels = INSTRUCTION_LEVELS[model.name]
        self._places = _Places(model, INSTRUCTION_EARS[model.name])
        self.line_register, self.latency_register = (self._places.number(role) for role in ("line", "latency"))
        self.has_overflow = self._places.number("overflow") >= 0

    def capture(self, pmds: Mapping[int, int]) -> InstructionCapture:
        """Decode registers with these values. In cache mode bit 0 of the status marks them as valid."""
        places, latency = self._places, self.mode in (CACHE, "")
        status = places.get(pmds, "valid")
        valid = bool(status & 1 if self.mode == CACHE else status)
        return InstructionCapture(
            valid,
            places.address(pmds, "line"),
            places.get(pmds, "latency") if latency else None,
            latency and bool(places.get(pmds, "overflow")),
            self.levels[places.get(pmds, "level")] if valid and self.mode in (TLB, "") else "",
        )


class Captures(NamedTuple):
    """The capture units of a programmed PMU; None: switched off."""

    data: DataEar | None = None
    instruction: InstructionEar | None = None
    branches: BranchBuffer | None = None
    ips: IpEar | None = None


def captures_of(model: PmuModel, values: Mapping[str, int]) -> Captures:
    """Return the capture units under these register contents; registers that are not given are in the reset state."""
    programmer = model.programmer
    if not issubclass(programmer, Ia64Programmer):
        return Captures()
    held = RegisterValues(model.registers, values)
    decoder = programmer.decoder(model.events, model.bank.numbers, held)
    data, instruction = _mode(decoder, "dear"), _mode(decoder, "iear")
    buffer = held.fields(model.programmer.buffer_register)
    ips = "pmc42" in model.registers and bool(held.field("pmc42", "mode"))
    return Captures(
        DataEar(model, data) if data else None,
        InstructionEar(model, instruction) if instruction else None,
        BranchBuffer(model, targets=not buffer.get("ds")) if buffer["plm"] and not ips else None,
        IpEar(model) if ips else None,
    )


def _mode(decoder: Ia64Decoder, kind: str) -> str:
    setting = decoder.ear_setting(kind)
    return setting[0] if setting else ""


def data_ear_registers(model: PmuModel) -> tuple[int, ...]:
    """Return the PMDs of the data EAR."""
    return model.programmer.data_ear_pmds


def instruction_ear_registers(model: PmuModel) -> tuple[int, ...]:
    """Return the PMDs of the instruction EAR."""
    return model.programmer.instruction_ear_pmds


def branch_buffer_registers(model: PmuModel) -> tuple[int, ...]:
    """Return the PMDs of the branch buffer, including its index and extensions; on Montecito also those of the
    IP-EAR."""
    return model.programmer.branch_buffer_pmds
