"""The machine with the caches of the host's processor, as reported by Linux (sysfs, cpu/cache)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pfmon.errors import PfmonError

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
BASE = "skylake"
"""The machine whose other figures are used (latencies, TLBs, prediction), which Linux does not report."""

SOURCE = f"{CACHES} of this host"
QEMU = {"source": "assumption: whatever qemu can execute, the host can", "cpu": "max"}

TABLES = {("1", "Data"): "l1d", ("1", "Instruction"): "l1i", ("2", "Unified"): "l2", ("3", "Unified"): "l3"}


def host_tree(caches: Path = CACHES) -> dict[str, Any]:
    """The machine in the format of a configuration file. PfmonError: Linux does not report the host's caches."""
    tree: dict[str, Any] = {"base": BASE, "machine": {"source": SOURCE, "name": "the host's caches"}, "qemu": QEMU}
    for index in sorted(caches.glob("index*")):
        facts = {key: _read(index / key) for key in KEYS}
        table = TABLES.get((facts["level"], facts["type"]))
        if table is None or not all(facts.values()):
            continue
        tree[table] = {
            "source": SOURCE,
            "size": facts["size"],
            "ways": int(facts["ways_of_associativity"]),
            "line": int(facts["coherency_line_size"]),
            "index": _index(int(facts["number_of_sets"])),
        }
    if not {"l1d", "l1i", "l2"} <= set(tree):
        raise PfmonError(
            f"--machine host: {caches} does not say which caches this host has; --machine FILE takes figures"
        )
    return tree


KEYS = ("level", "type", "size", "ways_of_associativity", "coherency_line_size", "number_of_sets")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _index(sets: int) -> str:
    return "bits" if sets & (sets - 1) == 0 else "modulo"
