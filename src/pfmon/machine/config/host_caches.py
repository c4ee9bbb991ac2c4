"""The machine that is nearest to the host's processor, with the host's caches, as Linux reports both (/proc/cpuinfo;
sysfs, cpu/cache).

host_processors.csv has the machine of a processor by vendor, family and model; of others their instructions decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pfmon.csv_tables import rows
from pfmon.errors import PfmonError

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
PROCESSOR = Path("/proc/cpuinfo")
COLUMNS = ("vendor", "family", "models", "machine", "source")

SOURCE = f"{CACHES} of this host"

TABLES = {("1", "Data"): "l1d", ("1", "Instruction"): "l1i", ("2", "Unified"): "l2", ("3", "Unified"): "l3"}
KEYS = ("level", "type", "size", "ways_of_associativity", "coherency_line_size", "number_of_sets")

BY_FEATURES = {
    "icelake": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
    "skylake": ("avx2", "bmi1", "bmi2", "fma", "movbe"),
    "nehalem": ("sse4_2", "popcnt"),
    "core2": (),
}
"""Machine -> features of its processor in /proc/cpuinfo, the one with most first."""


class HostProcessor(NamedTuple):
    """What Linux says of the host's processor."""

    vendor: str
    family: str
    model: str
    name: str
    features: frozenset[str]

    def nearest(self) -> str:
        """Return the machine that is nearest to it."""
        table = Path(__file__).parent / "host_processors.csv"
        for vendor, family, models, machine, _ in rows(str(table), COLUMNS):
            if (vendor, family) == (self.vendor, self.family) and self.model in models.split():
                return machine
        return next(machine for machine, wanted in BY_FEATURES.items() if self.features.issuperset(wanted))


def host_processor(path: Path = PROCESSOR) -> HostProcessor:
    """Return the host's processor; what Linux does not report is empty."""
    try:
        lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        lines = []
    facts: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        facts.setdefault(name.strip(), value.strip())
    vendor, family, model, name = (facts.get(key, "") for key in ("vendor_id", "cpu family", "model", "model name"))
    return HostProcessor(vendor, family, model, name, frozenset(facts.get("flags", "").split()))


def host_tree(caches: Path = CACHES, processor: Path = PROCESSOR) -> dict[str, Any]:
    """The machine in the format of a configuration file. PfmonError: Linux does not report the host's caches."""
    host = host_processor(processor)
    found: dict[str, Mapping[str, Any]] = {}
    for index in sorted(caches.glob("index*")):
        facts = {key: _read(index / key) for key in KEYS}
        table = TABLES.get((facts["level"], facts["type"]))
        if table is None or not all(facts.values()):
            continue
        found[table] = {
            "source": SOURCE,
            "size": facts["size"],
            "ways": int(facts["ways_of_associativity"]),
            "line": int(facts["coherency_line_size"]),
            "index": _index(int(facts["number_of_sets"])),
        }
    if not {"l1d", "l1i", "l2"} <= set(found):
        raise PfmonError(
            f"--machine host: {caches} does not say which caches this host has; --machine FILE takes figures"
        )
    base = host.nearest()
    sizes = ", ".join(f"{table} {content['size']}" for table, content in found.items())
    machine = {"source": SOURCE, "name": f"{host.name or 'this host'} as {base}, with {sizes}"}
    return {"base": base, "machine": machine, **found}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _index(sets: int) -> str:
    return "bits" if sets & (sets - 1) == 0 else "modulo"
