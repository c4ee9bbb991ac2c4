"""Files of /proc that show an IA-64 processor."""

from __future__ import annotations

from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.linux.abi.ia64.ia64_registers import Ia64Registers

FAMILIES = {7: "Merced", 31: "Madison", 32: "Montecito"}
FEATURES = {0: "branchlong", 2: "16-byte atomic ops"}
COUNTERS = {32: 12}
"""By family: the processor's name and its counters, 4 by default (arch/ia64/kernel/setup.c); by bit of CPUID[4]."""


def cpuinfo(registers: Ia64Registers, settings: GuestSettings, _: str) -> bytes:
    """/proc/cpuinfo of Linux for IA-64 for the modelled processor, at the nominal frequency of the program's time."""
    version, features = registers.cpuid[3:5]
    family, model, revision = version >> 24 & 0xFF, version >> 16 & 0xFF, version >> 8 & 0xFF
    names = [name for bit, name in FEATURES.items() if features >> bit & 1] or ["standard"]
    frequency = 1000 / settings.nanoseconds_per_instruction
    lines = {
        "vendor": "GenuineIntel",
        "arch": "IA-64",
        "family": family,
        "model": model,
        "model name": FAMILIES.get(family, "Unknown"),
        "revision": revision,
        "archrev": version >> 32 & 0xFF,
        "features": ", ".join(names),
        "cpu number": 0,
        "cpu regs": COUNTERS.get(family, 4),
        "cpu MHz": f"{frequency:.6f}",
        "itc MHz": f"{frequency:.6f}",
        "BogoMIPS": f"{2 * frequency:.2f}",
        "siblings": 1,
    }
    rest = "".join(f"{name:<10} : {value}\n" for name, value in lines.items())
    return "".join(f"processor  : {number}\n{rest}\n" for number in range(settings.processors)).encode()


def perfmon(_registers: Ia64Registers, _settings: GuestSettings, processor: str) -> bytes:
    """/proc/perfmon, by which tools detect perfmon."""
    names = {"itanium": "Itanium", "itanium2": "Itanium 2", "montecito": "Montecito"}
    mask = (1 << (32 if processor == "itanium" else 47)) - 1
    format_id = "4d-72-be-c0-06-64-41-43-82-b4-d3-fd-27-24-3c-97"
    rows = {
        "perfmon version": "2.0",
        "model": names[processor],
        "fastctxsw": "Yes",
        "expert mode": "No",
        "ovfl_mask": f"{mask:#x}",
        "PMU flags": "0x0" if processor == "itanium" else "0x1",
        "format": f"{format_id} default_format",
    }
    return "".join(f"{name:<26}: {value}\n" for name, value in rows.items()).encode()


PROC_FILES = {b"/proc/cpuinfo": cpuinfo, b"/proc/perfmon": perfmon}
