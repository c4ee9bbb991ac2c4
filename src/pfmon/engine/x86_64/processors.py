"""The models of processor that the x86_64 engine gives a program (runtime/processor_models.c)."""

PROCESSORS = ("x86-64-v3", "Nehalem", "Conroe")
"""Their names, the default first."""
FEATURES = {
    "x86-64-v3": ("avx2", "bmi1", "bmi2", "fma", "movbe", "f16c", "abm"),
    "Nehalem": ("sse4_2", "popcnt"),
    "Conroe": (),
}
"""Features in /proc/cpuinfo that the host needs besides SSSE3, by model."""


def nearest(cpu: str, flags: frozenset[str]) -> str:
    """The next lower model that a host with these features can be; "": none."""
    lower = PROCESSORS[PROCESSORS.index(cpu) + 1 :]
    return next((name for name in lower if flags.issuperset(FEATURES[name])), "")
