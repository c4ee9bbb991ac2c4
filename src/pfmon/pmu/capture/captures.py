"""Decoding of the captures of event address registers and branch buffers from their PMDs.

Each PMU's `Target.captures` names the registers and fields, its `registers.csv` has their bits. The meaning of a
register depends on the mode in its PMC: `captures_of` reads it from the PMCs, so that decoding and programming agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pfmon.pmu.capture.branch_captures import BranchBuffer, IpEar
from pfmon.pmu.capture.capture_setting import precise_threshold, samples_ops
from pfmon.pmu.capture.data_capture import DataCapture
from pfmon.pmu.capture.last_branches import LastBranchStack, last_branch_setting
from pfmon.pmu.capture.precise_loads import PreciseLoads
from pfmon.pmu.capture.sampled_ops import SampledOps
from pfmon.pmu.model.ia64_pmu import Ia64Decoder
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.registers.register_tables import Field, RegisterValues
from pfmon.pmu.target import CaptureUnits

CACHE, TLB, ALAT = "cache", "tlb", "alat"


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


class DataEar:
    """The data event address register in one mode, cache, tlb or alat; "" if unknown: then the fields of all modes are
    decoded."""

    def __init__(self, model: PmuModel, mode: str) -> None:
        self.mode = mode
        described = capture_units(model).data
        self.registers = described.data
        self.levels = described.levels
        self._places = _Places(model, described.fields)
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
        described = capture_units(model).instruction
        self.registers = described.data
        self.levels = described.levels
        self._places = _Places(model, described.fields)
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

    data: DataEar | PreciseLoads | None = None
    instruction: InstructionEar | None = None
    branches: BranchBuffer | LastBranchStack | None = None
    ips: IpEar | None = None


def captures_of(model: PmuModel, values: Mapping[str, int]) -> Captures:
    """Return the capture units under these register contents; registers that are not given are in the reset state."""
    programmer, units = model.programmer, model.target.captures
    if units is None and samples_ops(model, values):
        return Captures(SampledOps())
    if units is None:
        recording = last_branch_setting(model, values)
        loads = PreciseLoads() if precise_threshold(model, values) is not None else None
        return Captures(loads, branches=LastBranchStack(recording) if recording else None)
    held = RegisterValues(model.registers, values)
    decoder = programmer.decoder(model.events, model.bank.numbers, held)
    assert isinstance(decoder, Ia64Decoder)
    data, instruction = _mode(decoder, "dear"), _mode(decoder, "iear")
    buffer = held.fields(units.branches.configuration)
    ips = bool(units.ip_ear) and bool(held.field(units.ip_ear, "mode"))
    return Captures(
        DataEar(model, data) if data else None,
        InstructionEar(model, instruction) if instruction else None,
        BranchBuffer(model, targets=not buffer.get("ds")) if buffer["plm"] and not ips else None,
        IpEar(model) if ips else None,
    )


def _mode(decoder: Ia64Decoder, kind: str) -> str:
    setting = decoder.ear_setting(kind)
    return setting[0] if setting else ""


def capture_units(model: PmuModel) -> CaptureUnits:
    """Return the capture units of a PMU that has some."""
    assert model.target.captures
    return model.target.captures


def data_ear_registers(model: PmuModel) -> tuple[int, ...]:
    """Return the PMDs of the data EAR, none for a PMU without one."""
    return model.target.captures.data.data if model.target.captures else ()


def instruction_ear_registers(model: PmuModel) -> tuple[int, ...]:
    """Return the PMDs of the instruction EAR, none for a PMU without one."""
    return model.target.captures.instruction.data if model.target.captures else ()


def branch_buffer_registers(model: PmuModel) -> tuple[int, ...]:
    """Return the PMDs of the branch buffer, including its index and extensions; on Montecito also those of the
    IP-EAR. None for a PMU without one."""
    return model.target.captures.branches.data if model.target.captures else ()
