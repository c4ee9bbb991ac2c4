"""The kernel's state of a PMD: 64-bit counters, whose lower bits are in hardware, and their reset values (Linux up to
5.9, arch/ia64/kernel/perfmon.c)."""

from __future__ import annotations

from pfmon.engine.linux.abi.ia64.perfmon.perfmon_structures import OVERFLOW_NOTIFY, RANDOM, RegisterArgument

MASK = (1 << 64) - 1
LOW = (1 << 31) - 1
MULTIPLIER = 16807


def next_random(seed: int) -> int:
    """The Park-Miller generator on the lower 32 bits, in Carta's form (CACM 33(1), page 87)."""
    product = MULTIPLIER * (seed & 0xFFFFFFFF)
    folded = (product & LOW) + (product >> 31)
    return (folded & LOW) + (folded >> 31)


class SoftCounter:
    """One PMD of a context. ``value``: of a counter in a loaded context, the upper bits alone."""

    def __init__(self) -> None:
        self.value = 0
        self.last = 0
        self.long_reset = self.short_reset = 0
        self.seed = self.mask = 0
        self.flags = 0
        self.reset_pmds = self.smpl_pmds = 0

    @property
    def notifies(self) -> bool:
        """Whether an overflow notifies the program."""
        return bool(self.flags & OVERFLOW_NOTIFY)

    def configure(self, wanted: RegisterArgument) -> None:
        """Set the fields that PFM_WRITE_PMCS gives for the counter."""
        self.flags = wanted.flags & (OVERFLOW_NOTIFY | RANDOM)
        self.reset_pmds, self.smpl_pmds = wanted.reset_pmds[0], wanted.smpl_pmds[0]

    def load(self, wanted: RegisterArgument, counts: bool) -> None:
        """Set the fields that PFM_WRITE_PMDS gives for the register."""
        if counts:
            self.last = wanted.value
        self.long_reset, self.short_reset = wanted.long_reset, wanted.short_reset
        self.seed, self.mask = wanted.random_seed, wanted.random_mask

    def reset_value(self, long: bool) -> int:
        """The value loaded at a reset: counters hold negative numbers, so randomization makes periods longer."""
        value = self.long_reset if long else self.short_reset
        if self.flags & RANDOM:
            value = value - (self.seed & self.mask) & MASK
            seed = next_random(self.seed)
            if self.mask >> 32:
                seed |= next_random(self.seed >> 32) << 32
            self.seed = seed
        self.last = value
        return value
