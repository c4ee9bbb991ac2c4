"""The result of programming a PMU: register values, and the event of each counter."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pfmon.pmu.model.event_table import Event


class Monitor(NamedTuple):
    """One programmed counter. `pmd` and `pmc` are register numbers; the rest are the fields of the PMC, and `edge` and
    `invert` (E and INV) those of Intel's and AMD's event select registers, whose CMASK is the `threshold` (`cmask` says
    so)."""

    event: Event
    pmd: int
    pmc: int
    plm: int
    pm: bool
    ism: int
    threshold: int
    overflow_interrupt: bool
    all_threads: bool = False
    mesi: int = 0
    external_notification: bool = False
    edge: bool = False
    invert: bool = False
    cmask: bool = False

    @property
    def signal(self) -> str:
        """The name of the signal whose increments the counter adds up."""
        return self.event.signal

    @property
    def conditional(self) -> bool:
        """Whether the counter counts cycles in which a condition on its event holds (Intel's CMASK, INV, E)."""
        return self.cmask and bool(self.threshold or self.edge)


class RangeProgramming(NamedTuple):
    """The breakpoint registers' values for ranges.

    `registers` are (index, value) of IBRs or DBRs, range after range; `pairs` says how many pairs each range
    has, `off` how far the programmed one reaches below its start and beyond its end, in bytes; `fine` whether
    fine mode is used; `inverse` whether what is outside counts.
    """

    limits: tuple[tuple[int, int], ...]
    registers: tuple[tuple[int, int], ...]
    off: tuple[tuple[int, int], ...]
    pairs: tuple[int, ...]
    fine: bool = False
    inverse: bool = False


class Programming(NamedTuple):
    """The result of `program`: all register writes, and their meaning.

    `writes` maps register names to values in the order to write them, breakpoint registers first; `counters`
    has the PMD number of each requested event, in the order of the request; `pmds` all PMDs in use, event
    address registers and branch buffers included.
    """

    pmu: str
    writes: dict[str, int]
    monitors: tuple[Monitor, ...]
    pmds: tuple[int, ...]
    irange: RangeProgramming | None = None
    drange: RangeProgramming | None = None

    @property
    def counters(self) -> tuple[int, ...]:
        """The PMD number of each requested event."""
        return tuple(monitor.pmd for monitor in self.monitors)

    @property
    def pmcs(self) -> dict[int, int]:
        """The values of the PMCs, by number."""
        return {int(name[3:]): value for name, value in self.writes.items() if name.startswith("pmc")}
