"""The files of sysfs that describe an x86 PMU: a directory in place of /sys/bus/event_source/devices, as tools read it
(Linux 6.1, Documentation/ABI/testing/sysfs-bus-event_source-devices-*)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pfmon.engine.guest_pmu import PmuIdentity

TYPES = {"cpu": 4, "software": 1}
"""PMU -> type of its events in attributes."""
FIELDS = {"event": "event", "umask": "umask", "e": "edge", "pc": "pc", "any": "any", "inv": "inv", "cmask": "cmask"}
"""Field of an event select register -> its name in the directory ``format``."""
NAMES = {
    "cycles": "cpu-cycles",
    "instructions": "instructions",
    "branches": "branch-instructions",
    "branch-misses": "branch-misses",
    "cache-references": "cache-references",
    "cache-misses": "cache-misses",
    "bus-cycles": "bus-cycles",
    "ref-cycles": "ref-cycles",
}
"""Perf's generic name -> the name of the event's file."""


def pmu_files(pmu: PmuIdentity) -> dict[str, str]:
    """The files' contents by name below the directory."""
    files = {f"{name}/type": f"{number}\n" for name, number in TYPES.items()}
    files |= {"cpu/rdpmc": "1\n", "cpu/perf_event_mux_interval_ms": "1\n"}
    files |= {f"cpu/format/{FIELDS[name]}": f"config:{_bits(*place)}\n" for name, place in _fields(pmu).items()}
    files |= {f"cpu/events/{NAMES[name]}": _event(pmu, value) for name, value in pmu.events.items() if name in NAMES}
    files |= {"cpu/caps/max_precise": "0\n", "cpu/caps/pmu_name": f"{pmu.name}\n", "cpu/caps/branches": "0\n"}
    return files


def write_pmu_files(pmu: PmuIdentity, directory: str) -> None:
    """Write the files. OSError: there is no room."""
    for name, content in pmu_files(pmu).items():
        path = Path(directory, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def _fields(pmu: PmuIdentity) -> Mapping[str, tuple[int, int]]:
    return {name: place for name, place in pmu.selects.items() if name in FIELDS}


def _bits(first: int, last: int) -> str:
    return f"{first}-{last}" if last > first else f"{first}"


def _event(pmu: PmuIdentity, value: int) -> str:
    """As ``event=0x2e,umask=0x41``."""
    parts = []
    for name, (first, last) in _fields(pmu).items():
        field = value >> first & (1 << last - first + 1) - 1
        if field or name == "event":
            parts.append(f"{FIELDS[name]}={field:#04x}")
    return ",".join(parts) + "\n"
