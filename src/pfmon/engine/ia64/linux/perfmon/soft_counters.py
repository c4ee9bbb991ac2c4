"""What the kernel keeps of a PMD: counters of 64 bits, of which the hardware has the lower ones, and how they are
loaded anew (Linux up to 5.9, arch/ia64/kernel/perfmon.c)."""

from __future__ import annotations

from pfmon.engine.ia64.linux.perfmon.structures import OVERFLOW_NOTIFY, RANDOM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.engine.ia64.linux.perfmon.structures import RegisterArgument

MASK = (1 << 64) - 1
LOW = (1 << 31) - 1
MULTIPLIER = 16807


def next_random(seed: int) -> int:
    """The minimal standard generator on the lower 32 bits, as Carta folds it (CACM 33(1), page 87)."""
    product = MULTIPLIER * (seed & 0xFFFFFFFF)
    folded = (product & LOW) + (product >> 31)
    return (folded & LOW) + (folded >> 31)


class SoftCounter:
    """One PMD as a context has it. ``value``: while the context is loaded, the upper bits of a counter alone."""

    def __init__(self) -> None:
        self.value = 0
        self.last = 0
        self.long_reset = self.short_reset = 0
        self.seed = self.mask = 0
        self.flags = 0
        self.reset_pmds = self.smpl_pmds = 0

    @property
    def notifies(self) -> bool:
        """Whether the program wants to be told when it overflows."""
        return bool(self.flags & OVERFLOW_NOTIFY)

    def configure(self, wanted: RegisterArgument) -> None:
        """What PFM_WRITE_PMCS says of the counter."""
        self.flags = wanted.flags & (OVERFLOW_NOTIFY | RANDOM)
        self.reset_pmds, self.smpl_pmds = wanted.reset_pmds[0], wanted.smpl_pmds[0]

    def load(self, wanted: RegisterArgument, counts: bool) -> None:
        """What PFM_WRITE_PMDS says of the register."""
        if counts:
            self.last = wanted.value
        self.long_reset, self.short_reset = wanted.long_reset, wanted.short_reset
        self.seed, self.mask = wanted.random_seed, wanted.random_mask

    def reset_value(self, long: bool) -> int:
        """What it begins anew with: counters hold negative numbers, so that what is random makes periods longer."""
        value = self.long_reset if long else self.short_reset
        if self.flags & RANDOM:
            value = value - (self.seed & self.mask) & MASK
            seed = next_random(self.seed)
            if self.mask >> 32:
                seed |= next_random(self.seed >> 32) << 32
            self.seed = seed
        self.last = value
        return value
