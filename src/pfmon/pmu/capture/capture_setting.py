"""The capture settings of the event address registers and the trace buffer, read from registers.

Montecito manual sections 3.3.8 to 3.3.10; Itanium and Itanium 2 have the same in other registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pfmon.pmu.model.event_table import EventTable
from pfmon.pmu.model.ia64_pmu import Ia64Decoder
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.qualify.filters import ALL_PRIVILEGES
from pfmon.pmu.registers.register_file import RegisterFile
from pfmon.pmu.registers.register_tables import RegisterValues
from pfmon.pmu.target import BranchRegisters

NEVER = 1 << 62
"""A latency that no access has, for settings that capture nothing."""
ALL_LEVELS = 0b1110
"""A bit for each level that serves TLB misses: 1 second-level TLB, 2 page walker, 3 software."""
BRANCH_KINDS = {0: 0b111, 1: 0b001, 2: 0b010, 3: 0b100}
"""brt -> kinds of branches: bit 0 IP-relative, 1 returns, 2 other indirect ones (Montecito manual table 3-26)."""
ALL_STAGES = 0b111
GAP = 7
"""Cycles between two captured load misses (Montecito manual section 3.3.9.1)."""
IP_EAR = 4
"""PMC42.mode of the IP-EAR (Montecito manual table 3-30)."""


PRECISE = "precise"
"""The mode of Intel's precise loads: every load, whatever serves it."""
OPS = "ops"
"""The mode of AMD's op sampling: each load, for the op that is sampled."""


class EarSetting(NamedTuple):
    """``mode``: cache, tlb, alat, PRECISE or OPS; ``least``: the minimum captured latency in cycles; ``levels``: a bit
    for each level that serves TLB misses; ``under_way``: only fetches of lines with an outstanding request (RAB
    hits)."""

    mode: str
    least: int = NEVER
    levels: int = 0
    under_way: bool = False


class BranchSetting(NamedTuple):
    """``tm``, ``ptm``, ``ppm``: as in the register; ``kinds``: BRANCH_KINDS; ``stages``: of Itanium's predictor, bit 0
    target address registers, 1 target address cache, 2 branch address calculators; ``exceptions``: also capture
    exceptions and failed checks."""

    tm: int
    ptm: int
    ppm: int
    kinds: int
    stages: int
    exceptions: bool


class CaptureSetting(NamedTuple):
    """None: the unit captures nothing. ``entries``: of the trace buffer; ``gap``: cycles between two captured load
    misses; ``windows``: addresses are those of the first bundle of a dispersal window, with a bit for the second one
    (not Itanium); ``ip_ear``: the delay of the IP-EAR's freeze in cycles, None: the buffer traces."""

    data: EarSetting | None
    fetch: EarSetting | None
    branches: BranchSetting | None
    ip_ear: int | None
    entries: int
    gap: int
    windows: bool

    @property
    def captures(self) -> bool:
        """Whether anything is captured."""
        return self[:4] != (None, None, None, None)


NOTHING = CaptureSetting(data=None, fetch=None, branches=None, ip_ear=None, entries=0, gap=0, windows=False)
"""The setting of PMUs without capture units."""


def capture_setting(model: PmuModel, contents: Mapping[str, int], whole_system: bool = False) -> CaptureSetting:
    """Return the captures of a program at privilege level 3 that register contents select; ``whole_system``: those of a
    whole processor's code, at whatever privilege."""
    units = model.target.captures
    if units is None and samples_ops(model, contents):
        return NOTHING._replace(data=EarSetting(OPS, 0))
    if units is None:
        threshold = precise_threshold(model, contents)
        return NOTHING if threshold is None else NOTHING._replace(data=EarSetting(PRECISE, threshold + 1))
    values = RegisterValues(model.registers, contents)
    ears: dict[str, EarSetting | None] = {}
    for kind, ear in (("dear", units.data), ("iear", units.instruction)):
        ears[kind] = ear_setting(model, kind, contents) if _enabled(values, ear.configuration, whole_system) else None
    ip_ear = _ip_ear(values, units.ip_ear, whole_system) if units.ip_ear else None
    branches = None if ip_ear is not None else _branches(values, units.branches, whole_system)
    gap, entries = GAP if units.windows else 0, len(units.branches.entries)
    return CaptureSetting(ears["dear"], ears["iear"], branches, ip_ear, entries, gap, units.windows)


def captured_privileges(model: PmuModel, registers: RegisterFile) -> tuple[int, int, int]:
    """The privileges at which the data EAR, the instruction EAR and the trace buffer capture: the plm and pm of their
    configuration registers, of which the IP-EAR has its own (Montecito manual sections 3.3.8 to 3.3.10)."""
    units = model.target.captures
    if units is None or not registers.whole_system:
        return ALL_PRIVILEGES, ALL_PRIVILEGES, ALL_PRIVILEGES
    trace = units.branches.configuration
    if units.ip_ear and registers.field(units.ip_ear, "mode"):
        trace = units.ip_ear
    data, fetch, buffer = (
        registers.privileges(registers.field(one, "plm"), bool(registers.field(one, "pm")))
        for one in (units.data.configuration, units.instruction.configuration, trace)
    )
    return data, fetch, buffer


def samples_ops(model: PmuModel, contents: Mapping[str, int]) -> bool:
    """Return whether register contents let an AMD processor sample ops (PPR of Family 19h Model 21h, IBS_OP_CTL)."""
    register = model.target.op_sampling
    return bool(register) and bool(RegisterValues(model.registers, contents).field(register, "op_en"))


def precise_threshold(model: PmuModel, contents: Mapping[str, int]) -> int | None:
    """Return the latency above which register contents let an Intel processor take precise loads, in cycles; None: it
    takes none (Intel SDM volume 3 section 18.8.1.2)."""
    if model.target.load_latency is None or not contents.get("ia32_pebs_enable"):
        return None
    values = RegisterValues(model.registers, contents)
    for number in model.bank.numbers:
        if not values["ia32_pebs_enable"] >> number & 1 or f"ia32_perfevtsel{number}" not in model.registers:
            continue
        select = values.fields(f"ia32_perfevtsel{number}")
        if (select["event"], select["umask"]) == model.target.load_latency and select["usr"] and select["en"]:
            return values["msr_pebs_ld_lat_threshold"]
    return None


def ear_setting(model: PmuModel, kind: str, contents: Mapping[str, int]) -> EarSetting | None:
    """The capture that register contents set for an event address register of an Itanium, ``dear`` or ``iear``, at
    whatever level; None: none."""
    values = RegisterValues(model.registers, contents)
    decoder = model.programmer.decoder(model.events, model.bank.numbers, values)
    assert isinstance(decoder, Ia64Decoder)
    found = decoder.ear_setting(kind)
    return _ear(model, kind, *found) if found else None


def _enabled(values: RegisterValues, register: str, whole_system: bool) -> bool:
    """Return whether a configuration register enables capture in a program, or somewhere in a whole processor's code:
    plm, pm and ism (Montecito manual table 3-5)."""
    fields, psr = values.fields(register), values.fields("psr")
    running = psr["pp"] if fields.get("pm") else psr["up"]
    other_set = 2 if psr["is"] else 1  # ism: bit 0 leaves out IA-64 code, bit 1 IA-32 code
    levels = fields["plm"] if whole_system else running and fields["plm"] >> 3 & 1
    return bool(levels and not fields.get("ism", 0) & other_set)


def _ear(model: PmuModel, kind: str, mode: str, umask: int) -> EarSetting:
    """Return the setting of an event address register."""
    if mode == "cache":
        return EarSetting(mode, *_latency(model.events, kind, umask))
    if mode == "alat":
        return EarSetting(mode, 0)
    assert model.target.captures
    ear = model.target.captures.data if kind == "dear" else model.target.captures.instruction
    return EarSetting(mode, levels=umask << ear.level_bit & ALL_LEVELS)


def _latency(events: EventTable, kind: str, umask: int) -> tuple[int, int, bool]:
    """Return the minimum latency, no levels, and whether RAB hits are captured, from the name of the unit mask's event.
    Other unit masks are undefined and capture nothing (Montecito manual tables 3-16 and 3-21)."""
    if kind == "iear" and umask >> 6 == 1:
        umask = 0x40  # 01xxxxxx: all misses
    name = next((one.name for one in events if one.ear == f"{kind}_cache" and one.umask == umask), "")
    if name.endswith("RAB"):
        return 0, 0, True
    digits = name.rpartition("_LAT")[2]
    return max(1, int(digits)) if digits.isdecimal() else NEVER, 0, False


def _branches(values: RegisterValues, buffer: BranchRegisters, whole_system: bool) -> BranchSetting | None:
    """Return the setting of the trace buffer."""
    fields = values.fields(buffer.configuration)
    if not _enabled(values, buffer.configuration, whole_system) or not fields["tm"]:
        return None
    stages = (
        sum(fields[name] << bit for bit, name in enumerate(("tar", "tac", "bac"))) if "tar" in fields else ALL_STAGES
    )
    kinds = BRANCH_KINDS[fields.get("brt", 0)]
    return BranchSetting(fields["tm"], fields["ptm"], fields["ppm"], kinds, stages, buffer.exceptions)


def _ip_ear(values: RegisterValues, register: str, whole_system: bool) -> int | None:
    """Return the delay of Montecito's IP-EAR, whose configuration register is PMC42."""
    fields = values.fields(register)
    return fields["delay"] if fields["mode"] == IP_EAR and _enabled(values, register, whole_system) else None
