"""The models of processor that the x86_64 engine gives a program (runtime/processor_models.c)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from pfmon.errors import PfmonError

DEFAULT = "x86-64-v3"
PROCESSORS = ("x86-64-v4", "zen4", DEFAULT, "zen3", "Nehalem", "Conroe")
"""Their names, the one with most features first."""
V3 = ("avx2", "bmi1", "bmi2", "fma", "movbe", "f16c", "abm")
AVX512 = ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
FEATURES = {
    "x86-64-v4": (*V3, *AVX512),
    "zen4": (*V3, *AVX512),
    DEFAULT: V3,
    "zen3": V3,
    "Nehalem": ("sse4_2", "popcnt"),
    "Conroe": ("ssse3",),
}
"""Features in /proc/cpuinfo that the host needs, by model."""


@cache
def host_features() -> frozenset[str]:
    """The features in the host's /proc/cpuinfo."""
    from pathlib import Path

    with Path("/proc/cpuinfo").open(encoding="ascii", errors="replace") as file:
        return frozenset(next((line.split(":")[1].split() for line in file if line.startswith("flags")), []))


def on_host(cpu: str, mask: bool) -> tuple[str, Sequence[str]]:
    """The model that a program sees which is to see ``cpu`` ("": the default), and the features of that one which this
    host lacks. ``mask``: the best model that the host has takes its place. PfmonError: it does not, or there is no
    such model."""
    wanted = cpu or DEFAULT
    if wanted not in PROCESSORS:
        raise PfmonError(f"qemu.cpu = {wanted}: --engine=x86_64 has {', '.join(PROCESSORS)}; --engine=qemu has others")
    present = host_features()
    missing = [feature for feature in FEATURES[wanted] if feature not in present]
    if not missing:
        return wanted, ()
    lower = PROCESSORS[PROCESSORS.index(wanted) + 1 :]
    nearest = next((name for name in lower if present.issuperset(FEATURES[name])), "")
    if mask and nearest:
        return nearest, missing
    would = f"--mask-cpuid (it sees {nearest} then) or --engine=qemu" if nearest else "--engine=qemu"
    raise PfmonError(
        f"this host's processor lacks {', '.join(missing)} of {wanted}, which the program sees: give {would}"
    )
