"""The models of processor that the x86_64 engine gives a program (runtime/processor_models.c)."""

DEFAULT = "x86-64-v3"
PROCESSORS = ("x86-64-v4", DEFAULT, "Nehalem", "Conroe")
"""Their names, the one with most features first."""
V3 = ("avx2", "bmi1", "bmi2", "fma", "movbe", "f16c", "abm")
AVX512 = ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
FEATURES = {"x86-64-v4": (*V3, *AVX512), DEFAULT: V3, "Nehalem": ("sse4_2", "popcnt"), "Conroe": ()}
"""Features in /proc/cpuinfo that the host needs besides SSSE3, by model."""


def nearest(cpu: str, flags: frozenset[str]) -> str:
    """The model with most features, of those below ``cpu``, that a host with these can be; "": none."""
    lower = PROCESSORS[PROCESSORS.index(cpu) + 1 :]
    return next((name for name in lower if flags.issuperset(FEATURES[name])), "")
