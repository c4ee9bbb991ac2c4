"""Values of the processor identification registers (SDM volume 1, 3.1.11)."""

from __future__ import annotations

VENDOR = b"GenuineIntel\0\0\0\0"
MAX_INDEX = 4
LONG_BRANCH, ATOMIC_16_BYTES = 1 << 0, 1 << 2

# Processor -> family, model, revision, feature bits of CPUID[4].
MODELS = {
    "itanium": (0x07, 0, 8, 0),
    "itanium2": (0x1F, 1, 5, LONG_BRANCH),
    "montecito": (0x20, 0, 7, LONG_BRANCH | ATOMIC_16_BYTES),
}


def cpuid(processor: str) -> tuple[int, int, int, int, int]:
    """CPUID[0] to CPUID[4]: vendor (two registers), no serial number, version, features."""
    family, model, revision, features = MODELS[processor]
    version = MAX_INDEX | revision << 8 | model << 16 | family << 24
    return (
        int.from_bytes(VENDOR[:8], "little"),
        int.from_bytes(VENDOR[8:], "little"),
        0,
        version,
        features,
    )
