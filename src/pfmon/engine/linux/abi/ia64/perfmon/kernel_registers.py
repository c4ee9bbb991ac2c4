"""The PMU registers of each processor, as in the tables of Linux for IA-64.

``registers.csv``: registers, equal ones in one row; type: control (status and freeze, the kernel's own), configuration,
monitor (has a pm bit), counting (a monitor with overflow), buffer (captures); position of pm; the kernel's value; the
bits that a program may set, the others keeping this value; and the dependent PMDs, which a program may then read (Linux
up to 5.9, arch/ia64/kernel/perfmon_*.h).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from os.path import dirname, join
from typing import NamedTuple

from pfmon.csv_tables import rows
from pfmon.engine.guest_pmu import ProgramPmu

TABLE = join(dirname(__file__), "registers.csv")
COLUMNS = ("pmu", "register", "kind", "pm", "default", "kept", "pmds", "source")
CONTROL, CONFIGURATION, MONITOR, COUNTING, BUFFER = "control", "configuration", "monitor", "counting", "buffer"
DEBUG_REGISTERS = 8
OVERFLOW_INTERRUPT = 1 << 5
LEVELS = 0xF
"""PMC.plm, the privilege levels at which a counter counts."""


class KernelRegister(NamedTuple):
    """One PMC or PMD. ``pm``: the bit that makes it a privileged monitor, None without one; ``mask``: bits that a
    program may set; ``pmds``: dependent PMDs, a bit each."""

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
        """Whether it has a pm bit."""
        return self.pm is not None


class KernelRegisters(NamedTuple):
    """The registers of one processor, by number."""

    pmcs: dict[int, KernelRegister]
    pmds: dict[int, KernelRegister]

    @property
    def all_pmds(self) -> int:
        """A bit for each existing PMD."""
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
    """The bits of a list of numbers and ranges."""
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


def perf_registers(processor: str, values: Mapping[str, int]) -> dict[str, int]:
    """All configuration registers for perf events: ``values``, with overflow interrupts; unwritten ones have the
    kernel's values, and breakpoint registers 0."""
    pmcs = registers_of(processor).pmcs
    kernels = {f"pmc{number}": one.default for number, one in pmcs.items() if one.mask}
    kernels |= {f"{file}{number}": 0 for file in ("ibr", "dbr") for number in range(DEBUG_REGISTERS)}
    counting = {f"pmc{number}" for number, one in pmcs.items() if one.counts}
    return kernels | {name: value | (OVERFLOW_INTERRUPT if name in counting else 0) for name, value in values.items()}


def stop_counter(pmu: ProgramPmu, counter: int) -> None:
    """Let a counter count at no privilege level."""
    pmu.write(f"pmc{counter}", pmu.read(f"pmc{counter}") & ~LEVELS)
