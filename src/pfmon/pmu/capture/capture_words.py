"""Description of the captures in a register dump: one line for an event, one for each entry of a branch buffer."""

from __future__ import annotations

from collections.abc import Mapping

from pfmon.pmu.capture.branch_captures import BranchBuffer, BranchEntry, IpEar, IpEntry
from pfmon.pmu.capture.capture_setting import NEVER, EarSetting, ear_setting
from pfmon.pmu.capture.captures import (
    ALAT,
    CACHE,
    DataEar,
    InstructionEar,
    branch_buffer_registers,
    captures_of,
    data_ear_registers,
    instruction_ear_registers,
)
from pfmon.pmu.capture.sampled_ops import SampledOps
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.target import IBS_OP_RIP, IBS_RECORD

EVERY_LEVEL = 0xF
"""A configuration register's plm: what it captures is said also of one that is switched off."""


def capture_words(model: PmuModel, values: Mapping[str, int]) -> list[str]:
    """Return the lines for a dump, registers by name. The mode of an event address register is that of its PMC, if the
    dump has that; else the fields of either mode are described."""
    if model.target.captures is None:
        return sampled_op_words(model, values) if model.target.op_sampling else []
    pmds = {model.registers[name].number: value for name, value in values.items() if name.startswith("pmd")}
    made = captures_of(model, {name: value for name, value in values.items() if name.startswith("pmc")})
    lines = []
    if pmds.keys() >= set(data_ear_registers(model)):
        ear = made.data if isinstance(made.data, DataEar) else DataEar(model, "")
        lines.append(data_words(ear, pmds))
    if pmds.keys() >= set(instruction_ear_registers(model)):
        lines.append(instruction_words(made.instruction or InstructionEar(model, ""), pmds))
    if pmds.keys() & set(branch_buffer_registers(model)):
        buffer = made.branches if isinstance(made.branches, BranchBuffer) else BranchBuffer(model)
        lines += ip_words(made.ips, pmds) if made.ips else branch_words(buffer, pmds)
    return lines


def sampled_op_words(model: PmuModel, values: Mapping[str, int]) -> list[str]:
    """Return the line for the registers of a sampled op (AMD), if a dump has all of them."""
    held = {number: values.get(model.data_name(number).lower()) for number in IBS_RECORD}
    known = {number: value for number, value in held.items() if value is not None}
    if len(known) < len(held):
        return []
    found = SampledOps.capture(known)
    if not found.valid:
        return [f"sampled op at {known[IBS_OP_RIP]:#x}, which is no load"]
    more = ", whose page is in no TLB" * SampledOps.walked(known) + ", locked" * SampledOps.locked(known)
    load = f"load of {found.address:#x} from {found.level}, latency {found.latency} cycles{more}"
    return [f"sampled op at {found.instruction:#x}: {load}"]


def setting_words(model: PmuModel, name: str, value: int) -> str:
    """The captures that a configuration register selects, "" for other registers."""
    units = model.target.captures
    ears = {"dear": units.data, "iear": units.instruction} if units else {}
    kind = next((kind for kind, ear in ears.items() if ear.configuration == name), "")
    if not kind:
        return ""
    levels = ears[kind].levels
    setting = ear_setting(model, kind, {name: value | EVERY_LEVEL})
    if setting is None:
        return "nothing is captured"
    if setting.mode == CACHE:
        return _least_words(setting)
    if setting.mode == ALAT:
        return "ALAT misses are captured"
    served = [level for number, level in enumerate(levels, 4 - len(levels)) if level and setting.levels >> number & 1]
    return f"TLB misses served by {', '.join(served)} are captured" if served else "no TLB miss is captured"


def _least_words(setting: EarSetting) -> str:
    """Which cache misses are captured."""
    if setting.under_way:
        return "fetches of lines on their way (RAB hits) are captured"
    if setting.least == NEVER:
        return "undefined: no cache miss is captured"
    if setting.least == 1:
        return "every cache miss is captured"
    return f"cache misses of {setting.least} cycles or more are captured"


def data_words(ear: DataEar, pmds: Mapping[int, int]) -> str:
    """Describe a data EAR's capture."""
    found = ear.capture(pmds)
    if not found.valid:
        return "data event: nothing was captured"
    words = [] if found.address is None else [f"address 0x{found.address:016x}"]
    words.append("no instruction" if found.instruction is None else f"instruction {_instruction(found.instruction)}")
    return ", ".join(["data event: " + words[0], *words[1:], *_cause(found.latency, found.overflow, found.level)])


def instruction_words(ear: InstructionEar, pmds: Mapping[int, int]) -> str:
    """Describe an instruction EAR's capture."""
    found = ear.capture(pmds)
    if not found.valid:
        return "instruction event: nothing was captured"
    words = [f"instruction event: cache line 0x{found.line:016x}"]
    return ", ".join([*words, *_cause(found.latency, found.overflow, found.level)])


def _cause(latency: int | None, overflow: bool, level: str) -> list[str]:
    """Return the latency of a cache miss, or the level of a TLB miss; both if the mode is unknown."""
    words = [] if latency is None else [f"latency {latency} cycles{' or more' if overflow else ''}"]
    if level:
        words.append(f"TLB miss served by {level}" if latency is None else f"or a TLB miss served by {level}")
    return words


def _instruction(address: int) -> str:
    return f"0x{address & ~15:016x} slot {address & 15}"


def branch_words(buffer: BranchBuffer, pmds: Mapping[int, int]) -> list[str]:
    """Describe the entries of a branch buffer, in order."""
    lines = [_heading(buffer, "branch buffer", pmds)]
    for entry in buffer.entries(pmds):
        lines.append(f"  PMD{entry.pmd}: {_entry_words(entry, buffer.targets)}")
    return lines


def _entry_words(entry: BranchEntry, targets: bool) -> str:
    if not entry.valid:
        return "nothing"
    if not entry.source:
        return f"to 0x{entry.address:016x}" if targets else "how the branch was predicted"
    end = "mispredicted" if entry.mispredicted else "predicted correctly"
    if entry.back_end:
        end += ", which the back end found"
    where = f"{_instruction(entry.address)}, taken" if entry.taken else f"0x{entry.address:016x}, not taken"
    return f"branch at {where}, {end}"


def ip_words(buffer: IpEar, pmds: Mapping[int, int]) -> list[str]:
    """Describe the entries of an IP-EAR, in order."""
    lines = [_heading(buffer, "IP-EAR", pmds)]
    return [*lines, *(f"  PMD{entry.pmd}: {_ip_words(entry)}" for entry in buffer.entries(pmds))]


def _ip_words(entry: IpEntry) -> str:
    words = [f"0x{entry.ip:016x}", f"{entry.cycles} cycles after the one before"]
    if entry.flush:
        words.append("pipeline flushed")
    if entry.early_freeze:
        words.append(f"early freeze, {entry.delay} of the delay left")
    return ", ".join(words)


def _heading(buffer: BranchBuffer | IpEar, what: str, pmds: Mapping[int, int]) -> str:
    if buffer.index_register not in pmds:
        return f"{what}, in the order of its registers (PMD{buffer.index_register} is not there, which says the order):"
    return f"{what}, oldest first:" if buffer.written(pmds) else f"{what}: nothing was captured"
