"""The PMU's registers as Linux for IA-64 describes them to itself, for each processor.

``registers.csv``: registers, several alike in one row; what each is: control (status and freeze, the kernel's own),
configuration, monitor (has a bit pm), counting (a monitor with overflow), buffer (captures); where pm is; the value
that the kernel sets; the bits that a program's value decides, the others staying as in that value; and the PMDs that
come with it, which a program may read then (Linux up to 5.9, arch/ia64/kernel/perfmon_*.h).
"""

from __future__ import annotations

from functools import cache
from os.path import dirname, join

from pfmon.light_typing import NamedTuple
from pfmon.tables import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TABLE = join(dirname(__file__), "registers.csv")
COLUMNS = ("pmu", "register", "kind", "pm", "default", "kept", "pmds", "source")
CONTROL, CONFIGURATION, MONITOR, COUNTING, BUFFER = "control", "configuration", "monitor", "counting", "buffer"


class KernelRegister(NamedTuple):
    """One PMC or PMD. ``pm``: the bit that makes it a privileged monitor, None where there is none; ``mask``: what a
    program decides; ``pmds``: PMDs in use with it, a bit each."""

    kind: str
    pm: int | None
    default: int
    mask: int
    pmds: int

    @property
    def counts(self) -> bool:
        """Whether it is an event counter, or configures one."""
        return self.kind == COUNTING

    @property
    def monitors(self) -> bool:
        """Whether it has a bit pm."""
        return self.pm is not None


class KernelRegisters(NamedTuple):
    """Those of one processor, by number."""

    pmcs: dict[int, KernelRegister]
    pmds: dict[int, KernelRegister]

    @property
    def all_pmds(self) -> int:
        """A bit for each PMD that there is."""
        return bits(self.pmds)


def bits(numbers: Iterable[int]) -> int:
    """A bit for each of some numbers."""
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask


def numbers(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _span(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def _mask(text: str) -> int:
    """The bits of some numbers and spans of them."""
    return 0 if text == "-" else bits(number for part in text.split() for number in _span(part))


@cache
def registers_of(pmu: str) -> KernelRegisters:
    """The registers of a processor's PMU."""
    made = KernelRegisters({}, {})
    for name, register, kind, pm, default, kept, pmds, _ in rows(TABLE, COLUMNS):
        if name != pmu:
            continue
        files = made.pmcs if register.startswith("pmc") else made.pmds
        for number in _span(register[3:]):
            files[number] = KernelRegister(
                kind,
                None if pm == "-" else int(pm),
                int(default, 16),
                0 if kept == "-" else int(kept, 16),
                1 << number if pmds == "own" else _mask(pmds),
            )
    return made
